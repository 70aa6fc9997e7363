//! What cargo runs in place of rustc.
//!
//! Libraries become bitcode and no machine code; programs and tests become one module of LLVM IR with everything they use in it, cut down
//! to what they reach. What is built for the machine that builds (build scripts, procedural macros) is left alone: cargo is always told
//! the target, and those are built without one.

use super::irtext::IrText;
use super::shims;
use rustc_hash::FxHashMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Set for cargo: what is wanted of it. Its value is [`Wanted::name`].
pub(crate) const WANTED: &str = "RADDLE_CARGO_WANTED";
/// Set for cargo: the directory with what we bring along.
pub(crate) const SHIMS: &str = "RADDLE_CARGO_SHIMS";
/// Set for cargo if dependencies are to believe that they run under Miri.
pub(crate) const CFG_MIRI: &str = "RADDLE_CARGO_CFG_MIRI";

/// What takes the place of the program that cargo expects begins with this; the module's path is on the next line. cargo gives
/// programs a second name in another directory.
const STUB: &str = "This is no program: `cargo raddle` checks LLVM IR instead.\n";

/// What is built into a module to check. The rest is only as complete as others need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Tests,
    Programs,
}

impl Wanted {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tests => "tests",
            Self::Programs => "programs",
        }
    }
}

/// The module of what cargo takes for an executable. None if that is a real one, for the machine that builds.
pub(crate) fn module_of(executable: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(executable).ok()?;
    Some(text.strip_prefix(STUB)?.trim_end().into())
}

fn write_stub(executable: &Path) -> io::Result<()> {
    let module = module_beside(executable);
    fs::write(executable, format!("{STUB}{}\n", module.display()))
}

/// Removes what takes the place of the program with this module.
pub(crate) fn remove_stub(module: &Path) -> io::Result<()> {
    fs::remove_file(module.with_extension(""))
}

fn module_beside(executable: &Path) -> PathBuf {
    let mut name = executable.file_name().unwrap_or_default().to_owned();
    name.push(".ll");
    executable.with_file_name(name)
}

/// Are we called by cargo in place of rustc?
pub(crate) fn is_called() -> bool {
    env::var_os(WANTED).is_some()
}

/// Does what rustc is asked for, in our way.
pub(crate) fn run(args: Vec<OsString>) -> ExitCode {
    let Some((rustc, args)) = args.split_first() else {
        crate::tell(format_args!(
            "error: called in place of rustc without its path"
        ));
        return ExitCode::FAILURE;
    };
    let call = Call::new(args);
    let result = match call.role() {
        Role::Host => status(Command::new(rustc).args(args)),
        Role::Probe => status(Command::new(rustc).args(args).args(["--cfg", "raddle"])),
        Role::Library => library(rustc, &call),
        Role::Unwanted => unwanted(rustc, &call),
        Role::Program => program(rustc, &call),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            crate::tell(format_args!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn status(command: &mut Command) -> io::Result<ExitCode> {
    let status = command.status()?;
    // A compiler that was killed has not succeeded.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// What a call of rustc is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Runs while building, or is no compilation at all.
    Host,
    /// cargo asks what the target is like.
    Probe,
    Library,
    /// A program that nobody wants to check now.
    Unwanted,
    Program,
}

/// The arguments of rustc, as far as they matter.
struct Call<'a> {
    args: &'a [OsString],
}

impl<'a> Call<'a> {
    fn new(args: &'a [OsString]) -> Self {
        Self { args }
    }

    /// The values of an option, which follows it or is part of the same argument.
    fn values(&self, option: &'a str) -> impl Iterator<Item = &'a str> + '_ {
        let texts = || self.args.iter().map(|arg| arg.to_str().unwrap_or_default());
        texts()
            .zip(texts().skip(1).chain([""]))
            .filter_map(move |(arg, next)| {
                if arg == option {
                    Some(next)
                } else {
                    arg.strip_prefix(option)?.strip_prefix('=')
                }
            })
    }

    fn value(&self, option: &'a str) -> Option<&'a str> {
        self.values(option).next()
    }

    fn is_test(&self) -> bool {
        self.args.iter().any(|arg| arg == "--test")
    }

    fn role(&self) -> Role {
        if self.value("--target").is_none() {
            return Role::Host;
        }
        if self.values("--print").next().is_some() {
            return Role::Probe;
        }
        if self.value("--crate-name").is_none() || self.value("--out-dir").is_none() {
            return Role::Host;
        }
        let wants_tests = env::var_os(WANTED).is_some_and(|wanted| wanted == Wanted::Tests.name());
        if self.is_test() {
            return Role::Program;
        }
        if self.values("--crate-type").all(|kind| kind != "bin") {
            return Role::Library;
        }
        match wants_tests {
            true => Role::Unwanted,
            false => Role::Program,
        }
    }

    /// `out-dir/name-hash`, which is what cargo expects of a program.
    fn executable(&self) -> PathBuf {
        let suffix = self
            .values("-C")
            .find_map(|option| option.strip_prefix("extra-filename="));
        let name = self.value("--crate-name").unwrap_or_default();
        let file = format!("{name}{}", suffix.unwrap_or_default());
        Path::new(self.value("--out-dir").unwrap_or_default()).join(file)
    }
}

/// Without optimisation, so that no access to shared memory is removed or merged, whatever the profile says.
fn common(rustc: &OsStr, call: &Call<'_>) -> io::Result<Command> {
    let mut command = Command::new(rustc);
    let substitute = shims::substitute(call.is_test());
    for (index, arg) in call.args.iter().enumerate() {
        let is_value = index > 0 && call.args[index - 1] == "--crate-type";
        let is_source = Path::new(arg)
            .extension()
            .is_some_and(|extension| extension == "rs");
        match &substitute {
            Some(source) if is_source => command.arg(source),
            // The crate that it takes the place of may be older.
            Some(_) if is_edition(arg) => command.arg("--edition=2021"),
            // Only Rust is linked with Rust here, and nothing else is linked at all.
            _ if is_value
                && ["cdylib", "staticlib", "dylib"]
                    .iter()
                    .any(|kind| arg == kind) =>
            {
                command.arg("rlib")
            }
            _ => command.arg(arg),
        };
    }
    if let Some(source) = &substitute {
        command.args(source.parent().map(shims::remapped));
    }
    command
        .args(["--cfg", "raddle", "--check-cfg", "cfg(raddle)"])
        .args(["-Copt-level=0", "-Cdebuginfo=2", "-Ccodegen-units=1"])
        .args(["-Cembed-bitcode=yes", "-Cstrip=none"])
        // Names then tell generic arguments, by which functions of the standard library are known.
        .arg("-Csymbol-mangling-version=v0");
    // What a project forbids itself is for others to see to: `deny(warnings)` is no reason not to check it.
    if call.value("--cap-lints").is_none() {
        command.args(["--cap-lints", "warn"]);
    }
    let is_dependency = env::var_os("CARGO_PRIMARY_PACKAGE").is_none();
    if is_dependency && env::var_os(CFG_MIRI).is_some() {
        command.args(["--cfg", "miri"]);
    }
    // What the project itself can ask, unless it has a crate of that name.
    let is_taken = |it: &str| it == "raddle" || it.starts_with("raddle=");
    if !is_dependency && !call.values("--extern").any(is_taken) {
        let mut asking = OsString::from("raddle=");
        asking.push(shims::asking(rustc)?);
        command.arg("--extern").arg(asking);
    }
    Ok(command)
}

fn is_edition(arg: &OsStr) -> bool {
    arg.to_str()
        .is_some_and(|arg| arg.starts_with("--edition="))
}

/// Bitcode only: nobody runs the machine code.
fn library(rustc: &OsStr, call: &Call<'_>) -> io::Result<ExitCode> {
    let mut command = common(rustc, call)?;
    command.args(["-Clinker-plugin-lto=yes", "-Clto=no"]);
    let code = status(&mut command)?;
    if code == ExitCode::SUCCESS {
        // cargo looks for them, and builds again what it does not find.
        for kind in call.values("--crate-type") {
            let extension = match kind {
                "cdylib" | "dylib" => "so",
                "staticlib" => "a",
                _ => continue,
            };
            let program = call.executable();
            let name = program.file_name().unwrap_or_default().display();
            let library = format!("lib{name}.{extension}");
            fs::write(program.with_file_name(library), STUB)?;
        }
    }
    Ok(code)
}

/// Says what is wrong with it, and makes cargo believe that it is there.
fn unwanted(rustc: &OsStr, call: &Call<'_>) -> io::Result<ExitCode> {
    let args = with_emit(call.args, "dep-info,metadata");
    let code = status(&mut common(rustc, &Call::new(&args))?)?;
    if code == ExitCode::SUCCESS {
        write_stub(&call.executable())?;
    }
    Ok(code)
}

fn program(rustc: &OsStr, call: &Call<'_>) -> io::Result<ExitCode> {
    let args = with_emit(call.args, "dep-info,llvm-ir,link");
    let mut command = common(rustc, &Call::new(&args))?;
    command
        // rustc merges all crates into one module when it optimises at link time. The module is complete before anything is linked.
        .args(["-Clinker-plugin-lto=no", "-Clto=fat", "-Clinker=true"]);
    command.args(shims::faster(rustc)?);
    if call.is_test() {
        let mut harness = OsString::from("test=");
        harness.push(shims::harness(rustc)?);
        command.arg("--extern").arg(harness);
    }
    let code = status(&mut command)?;
    if code == ExitCode::SUCCESS {
        let executable = call.executable();
        let module = module_beside(&executable);
        cut_down(&executable.with_extension("ll"), &module)?;
        write_stub(&executable)?;
    }
    Ok(code)
}

/// The same arguments with another `--emit`.
fn with_emit(args: &[OsString], emit: &str) -> Vec<OsString> {
    let is_emit = |arg: &OsString| arg.to_str().is_some_and(|arg| arg.starts_with("--emit="));
    let others = args.iter().filter(|arg| !is_emit(arg)).cloned();
    others.chain([format!("--emit={emit}").into()]).collect()
}

/// Leaves of a module what `main` reaches.
fn cut_down(written: &Path, module: &Path) -> io::Result<()> {
    let text = fs::read_to_string(written)?;
    let whole = IrText::new(&text);
    let text = match whole.definition("main") {
        Some(_) => whole.reached_from(&["main"], &FxHashMap::default()),
        // Whoever wants to check it is told then.
        None => String::new(),
    };
    // Nobody may take half of it for the whole.
    let unfinished = module.with_extension("ll.part");
    fs::write(&unfinished, text)?;
    fs::rename(unfinished, module)?;
    if written != module {
        fs::remove_file(written)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn only_what_is_built_for_the_target_is_ours() {
        let script = args("--crate-name build_script_build build.rs --crate-type bin --out-dir d");
        assert_eq!(Call::new(&script).role(), Role::Host);
        let probe = args("- --crate-name ___ --print=file-names --target t");
        assert_eq!(Call::new(&probe).role(), Role::Probe);
        let library = args("--crate-name a src/lib.rs --crate-type lib --out-dir d --target t");
        assert_eq!(Call::new(&library).role(), Role::Library);
        let test = args("--crate-name a src/lib.rs --test --out-dir d --target=t");
        assert_eq!(Call::new(&test).role(), Role::Program);
    }

    #[test]
    fn the_executable_is_where_cargo_looks_for_it() {
        let args = args("--crate-name a --out-dir d/deps -C metadata=1 -C extra-filename=-2.3");
        let executable = Call::new(&args).executable();
        assert_eq!(executable, Path::new("d/deps/a-2.3"));
        assert_eq!(module_beside(&executable), Path::new("d/deps/a-2.3.ll"));
    }

    #[test]
    fn what_rustc_writes_is_chosen_by_us() {
        let args = args("--emit=dep-info,link -C lto");
        assert_eq!(with_emit(&args, "llvm-ir"), ["-C", "lto", "--emit=llvm-ir"]);
    }
}
