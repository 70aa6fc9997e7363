//! What there is of memory: on the machine, and in other processes.

use std::fs;
use std::path::Path;

/// Where the system shows the limits of groups of processes.
const CGROUPS: &str = "/sys/fs/cgroup";

/// The most that a check takes unless it is told otherwise, in bytes: 80 % of the machine's memory, or of what the process's control group
/// may have. None where the system does not say.
pub(crate) fn most_memory() -> Option<u64> {
    let total = fs::read_to_string("/proc/meminfo").ok();
    let total = total.and_then(|text| kibibytes(&text, "MemTotal:"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let least = limits_of_groups(Path::new(CGROUPS), &groups)
        .into_iter()
        .chain(total)
        .min()?;
    Some(least / 5 * 4)
}

/// The limits of all groups that the process is in: of version 2, where a group is bound by those above it, too, and of
/// version 1.
fn limits_of_groups(root: &Path, groups: &str) -> Vec<u64> {
    let mut limits = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let (top, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            list if list.split(',').any(|it| it == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let group = top.join(path.trim_start_matches('/'));
        let above = group.ancestors().take_while(|it| it.starts_with(&top));
        // `max` is no number.
        limits.extend(above.filter_map(|group| {
            let text = fs::read_to_string(group.join(file)).ok()?;
            text.trim().parse::<u64>().ok()
        }));
    }
    limits
}

/// Memory of a process and of all that it started, in bytes; 0 for what is not there any more.
pub(crate) fn resident_bytes_of_tree(process: u32) -> u64 {
    let directory = Path::new("/proc").join(process.to_string());
    let status = fs::read_to_string(directory.join("status")).unwrap_or_default();
    let own = kibibytes(&status, "VmRSS:").unwrap_or(0);
    let children = directory.join(format!("task/{process}/children"));
    let children = fs::read_to_string(children).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|id| id.parse().ok());
    own + children.map(resident_bytes_of_tree).sum::<u64>()
}

/// A line such as `VmRSS:   1234 kB`, in bytes.
fn kibibytes(text: &str, field: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(field))?;
    let number = rest.trim().trim_end_matches("kB").trim();
    Some(number.parse::<u64>().ok()?.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_counts_also_of_groups_above() {
        let root = std::env::temp_dir().join(format!("raddle-groups-{}", std::process::id()));
        let inner = root.join("user/session");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("memory.max"), "max\n").unwrap();
        fs::write(root.join("user/memory.max"), "4096000\n").unwrap();
        assert_eq!(limits_of_groups(&root, "0::/user/session\n"), [4_096_000]);
        let old = root.join("memory/box");
        fs::create_dir_all(&old).unwrap();
        fs::write(old.join("memory.limit_in_bytes"), "1000\n").unwrap();
        let groups = "5:cpu,cpuacct:/box\n4:memory:/box\n";
        assert_eq!(limits_of_groups(&root, groups), [1000]);
        assert!(limits_of_groups(&root, "nonsense\n").is_empty());
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn memory_is_measured() {
        assert!(most_memory().is_none_or(|bytes| bytes > 1 << 20));
        assert_eq!(
            kibibytes("A: 1 kB\nVmRSS:\t  12 kB\n", "VmRSS:"),
            Some(12 * 1024)
        );
        assert_eq!(kibibytes("A: 1 kB\n", "VmRSS:"), None);
        let own = resident_bytes_of_tree(std::process::id());
        assert!(own > 1 << 20 || !Path::new("/proc/self/status").exists());
        assert_eq!(resident_bytes_of_tree(u32::MAX), 0);
    }
}
