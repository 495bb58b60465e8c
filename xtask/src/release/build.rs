//! The programs that are handed out: built without the author's commands and, apart, with them; symbols in files of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use super::source::Source;
use crate::command::{cargo, output, root, run, step};
use crate::{gateway, layout};

/// The gateway.
pub(crate) const GATEWAY: &str = "intent-gateway";
/// The same with the commands of contracts' authors.
pub(crate) const AUTHOR: &str = "intent-gateway-author";
/// The partner of a first look, and the package that it comes from.
pub(crate) const PARTNER: &str = "intent-gateway-example-partner";
const PARTNER_PACKAGE: &str = "partner-rust";

/// The file that the code of the programs is laid out by: with it, the same programs come out again.
pub(crate) const COUNTS: &str = "layout-counts.fdata";

/// What the folder with the sources is called in all that is handed out, in place of its name on this machine.
pub(super) const SOURCES: &str = "/source";

/// Separates flags in `CARGO_ENCODED_RUSTFLAGS`.
const FLAG_END: &str = "\u{1f}";

/// Folders with the programs, and with their symbols.
pub(crate) struct Programs {
    pub(crate) stripped: PathBuf,
    pub(crate) symbols: PathBuf,
}

impl Programs {
    /// `counts` is what the code is laid out by, where it was counted before.
    pub(crate) fn build(source: &Source, trial: bool, work: &Path, counts: Option<&Path>) -> anyhow::Result<Self> {
        let programs = Self { stripped: work.join("programs"), symbols: work.join("symbols") };
        for folder in [&programs.stripped, &programs.symbols] {
            if folder.exists() {
                std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
            }
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        // The same file comes out of both builds, so each is set apart before the next begins.
        step("Building the gateway without the author's commands");
        let built = compile(source, trial, work, &["--no-default-features"])?;
        let counts = if trial { None } else { Some(counts_of(&built.join(GATEWAY), work, counts)?) };
        let gateway = lay_out(&built.join(GATEWAY), counts.as_deref(), work)?;
        programs.set_apart(&gateway, GATEWAY)?;
        programs.set_apart(&built.join(PARTNER_PACKAGE), PARTNER)?;
        step("Building it with them");
        let built = compile(source, trial, work, &[])?;
        let author = lay_out(&built.join(GATEWAY), counts.as_deref(), work)?;
        programs.set_apart(&author, AUTHOR)?;
        programs.require_no_compiler()?;
        Ok(programs)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.stripped.join(name)
    }

    /// Copies a program without its symbols, and the symbols, which debuggers find by the note in the program.
    fn set_apart(&self, built: &Path, name: &str) -> anyhow::Result<()> {
        let (program, symbols) = (self.path(name), self.symbols.join(format!("{name}.debug")));
        let objcopy = |arguments: &[&str]| {
            let mut command = Command::new("objcopy");
            command.current_dir(&self.symbols).args(arguments);
            command
        };
        // BOLT notes how it was called, with the paths of this machine.
        let without_note = "--remove-section=.note.bolt_info";
        let keep = ["--only-keep-debug", "--compress-debug-sections=zlib", without_note];
        run(objcopy(&keep).arg(built).arg(&symbols))?;
        let link = format!("--add-gnu-debuglink={name}.debug");
        run(objcopy(&["--strip-all", without_note, &link]).arg(built).arg(&program))?;
        let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |of| of.len()) / 1_000_000;
        eprintln!("   {name}: {} MB, symbols {} MB, {}", bytes(&program), bytes(&symbols), needed_libc(&program)?);
        Ok(())
    }

    /// What serves must not start compilers: it has no commands that do.
    fn require_no_compiler(&self) -> anyhow::Result<()> {
        let version = output(Command::new(self.path(GATEWAY)).arg("--version"))?;
        let features = version.lines().find(|line| line.starts_with("features")).unwrap_or_default();
        ensure!(!features.contains("author"), "the program that serves has the author's commands: {features}");
        // This fails where the commands are not there.
        output(Command::new(self.path(AUTHOR)).args(["plugin", "inspect", "--help"]))?;
        Ok(())
    }
}

/// Compiles, and says where the programs are then.
fn compile(source: &Source, trial: bool, work: &Path, features: &[&str]) -> anyhow::Result<PathBuf> {
    if trial {
        // As the tests build it, for then next to nothing is compiled.
        run(gateway::build_command("debug").args(features))?;
        return Ok(root().join("target/debug"));
    }
    let mut build = cargo();
    build.args(["build", "--locked", "--package", GATEWAY, "--package", PARTNER_PACKAGE]).args(features);
    build.env("INTENT_GATEWAY_COMMIT", &source.commit);
    // Nothing of this machine is in what comes out: two machines build the same.
    let sources = root().display().to_string();
    let registry = cargo_home()?.display().to_string();
    let built = work.display().to_string();
    // The folder of what is built lies among the sources: the last prefix that fits counts.
    let prefixes = [(sources, SOURCES), (registry, "/cargo"), (built, "/build")];
    let mut flags = vec!["-Cforce-frame-pointers=yes".to_owned(), layout::LINK_FLAG.to_owned()];
    flags.extend(prefixes.iter().map(|(from, to)| format!("--remap-path-prefix={from}={to}")));
    let c_flags = prefixes.map(|(from, to)| format!("-ffile-prefix-map={from}={to}")).join(" ");
    build.args(["--profile", "shipped", "--features", "intent-gateway/jemalloc", "--target-dir"]).arg(work);
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join(FLAG_END)).env("CFLAGS", c_flags);
    build.env("SOURCE_DATE_EPOCH", source.time.to_string());
    run(&mut build)?;
    Ok(work.join("shipped"))
}

/// The counts that are given, or those of a gateway that serves for a while.
fn counts_of(program: &Path, work: &Path, given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let counts = work.join(COUNTS);
    let found = match given {
        Some(given) => given.to_owned(),
        None => {
            let plain = work.join("without-lines");
            layout::drop_lines(program, &plain)?;
            layout::count(&plain, work)?
        }
    };
    // Copied onto itself, a file would be emptied.
    if found != counts {
        std::fs::copy(&found, &counts).with_context(|| format!("cannot copy {}", found.display()))?;
    }
    Ok(counts)
}

/// Lays a program's code out; as it is where there are no counts.
fn lay_out(program: &Path, counts: Option<&Path>, work: &Path) -> anyhow::Result<PathBuf> {
    let Some(counts) = counts else { return Ok(program.to_owned()) };
    let (plain, laid) = (work.join("without-lines"), work.join("laid-out"));
    layout::drop_lines(program, &plain)?;
    layout::lay_out(&plain, counts, &laid)?;
    Ok(laid)
}

/// Where cargo keeps the sources of crates.
fn cargo_home() -> anyhow::Result<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let usual = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo"));
    named.or_else(usual).context("neither CARGO_HOME nor HOME is set")
}

/// The oldest C library that a program runs with.
fn needed_libc(program: &Path) -> anyhow::Result<String> {
    let symbols = output(Command::new("objdump").arg("--dynamic-syms").arg(program))?;
    let versions = symbols.split(['(', ')', ' ']).filter_map(|word| word.strip_prefix("GLIBC_"));
    let numbers = versions.filter_map(|version| {
        let parts: Option<Vec<u32>> = version.split('.').map(|part| part.parse().ok()).collect();
        parts
    });
    let newest = numbers.max().context("the program names no version of glibc")?;
    let written: Vec<String> = newest.iter().map(u32::to_string).collect();
    Ok(format!("glibc {} or later", written.join(".")))
}
