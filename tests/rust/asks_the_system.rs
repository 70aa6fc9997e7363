// Files, standard input, processors, and numbers that are printed by way of 256 bits.
use std::io::Read;
fn main() {
    let n = std::thread::available_parallelism().map(|n| n.get());
    assert!(n.is_ok());
    assert!(std::fs::File::open("/etc/passwd").is_err());
    assert!(std::fs::metadata("/etc/passwd").is_err());
    assert!(!std::path::Path::new("/etc").exists());
    let mut s = String::new();
    assert_eq!(std::io::stdin().read_line(&mut s).unwrap(), 0);
    assert_eq!(std::io::stdin().read_to_string(&mut s).unwrap(), 0);
    let big = u128::MAX / 3;
    assert_eq!(format!("{big}").len(), 39);
    let i = i128::MIN + 5;
    assert_eq!(format!("{i:?}"), "-170141183460469231731687303715884105723");
    let f = format!("{:.3} {:e}", 1.5e10_f64, 2.5e-300);
    assert_eq!(f, "15000000000.000 2.5e-300");
}
