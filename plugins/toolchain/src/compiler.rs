//! Finds, or installs, a compiler that can build for `wasm32-unknown-unknown`, and builds with it.
//!
//! Tried in this order: the target as the active toolchain has it; `rustup target add`; Debian's own compiler
//! with its library sources, for machines where rustup cannot download.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ToolchainError;
use crate::command::{output, run, run_cargo, succeeds};
use crate::package::Package;

/// The target of every contract in Rust.
pub const TARGET: &str = "wasm32-unknown-unknown";
/// Name of the profile that contracts are built with.
const PROFILE: &str = "guest";
/// The profile, so that a crate need not repeat it: an instance lives one call, and size and speed of the code are
/// all that counts.
const PROFILE_SETTINGS: [&str; 7] = [
    "inherits=\"release\"",
    "opt-level=3",
    "lto=\"off\"",
    "codegen-units=1",
    "panic=\"abort\"",
    "strip=true",
    "debug=false",
];
/// Vector instructions are used; the memory starts at 2 MiB, so that a small call never grows it.
const RUST_FLAGS: &str = "-Ctarget-feature=+simd128 -Clink-arg=--initial-memory=2097152";
/// Bytes that an instance starts with, as the flags have it.
pub(crate) const INITIAL_MEMORY_BYTES: u64 = 2_097_152;
/// What the linker says before the number of bytes, where data and stack together do not fit.
const MEMORY_TOO_SMALL: &str = "initial memory too small, ";

const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

/// A compiler for contracts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// The active toolchain has the target.
    Active,
    /// Debian's compiler builds the standard library along.
    Debian,
}

/// What to build, and how.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    pub package: &'a Package,
    /// Where cargo keeps what it builds.
    pub target_dir: &'a Path,
    /// The lock file must be there and complete.
    pub locked: bool,
}

impl Compiler {
    /// Finds a compiler for the crate in this folder, whose `rust-toolchain.toml` decides which is the active one;
    /// installs what is missing. `progress` is told what takes a while.
    ///
    /// # Errors
    /// [`ToolchainError`] when there is none and none could be installed.
    pub fn find(folder: &Path, progress: &dyn Fn(&str)) -> Result<Self, ToolchainError> {
        if active_has_target(folder)? {
            return Ok(Self::Active);
        }
        if debian_has_sources() {
            return Ok(Self::Debian);
        }
        progress("Installing a compiler for WebAssembly");
        if add_rustup_target(folder) && active_has_target(folder)? {
            return Ok(Self::Active);
        }
        install_debian(folder)?;
        Ok(Self::Debian)
    }

    /// What the compiler says of itself, for the crate in this folder: `rustc 1.95.0 (59807616e 2026-04-14)`.
    ///
    /// # Errors
    /// [`ToolchainError`] when it does not run.
    pub fn version(self, folder: &Path) -> Result<String, ToolchainError> {
        let mut rustc = match self {
            Self::Active => active_rustc(folder),
            Self::Debian => Command::new(DEBIAN_RUSTC),
        };
        output(rustc.arg("--version"))
    }

    /// Builds the crate; returns where its module is.
    ///
    /// # Errors
    /// [`ToolchainError`] when cargo fails; it has said why on standard error.
    pub fn build(self, build: Build<'_>) -> Result<PathBuf, ToolchainError> {
        let Build { package, target_dir, locked } = build;
        let mut command = self.cargo(&package.folder)?;
        if locked {
            command.arg("--locked");
        }
        // The manifest, not the package's name: the name could be that of a dependency too.
        command.arg("--manifest-path").arg(package.folder.join("Cargo.toml"));
        // Said here and not in the manifest: a contract that another one depends on would be made as a module there, too, and
        // each would overwrite the other's.
        command.args(["--lib", "--crate-type", "cdylib"]);
        run_cargo(command.arg("--target-dir").arg(target_dir), explain)?;
        Ok(target_dir.join(TARGET).join(PROFILE).join(&package.module).with_extension("wasm"))
    }

    /// A cargo command that builds for the target, without arguments for what to build.
    fn cargo(self, folder: &Path) -> Result<Command, ToolchainError> {
        let mut command = match self {
            Self::Active => {
                let mut command = active_cargo();
                command.arg("rustc");
                command
            }
            Self::Debian => {
                let linker = format!("{}/lib/rustlib/{}/bin/rust-lld", sysroot(folder)?, host_triple(folder)?);
                let mut command = Command::new(DEBIAN_CARGO);
                command
                    // The variables that rustup and cargo set for their children would point back at them.
                    .env_remove("RUSTUP_TOOLCHAIN")
                    .env_remove("CARGO")
                    .env("RUSTC", DEBIAN_RUSTC)
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
                    .args(["rustc", "-Zbuild-std=std,panic_abort"]);
                command
            }
        };
        command
            .current_dir(folder)
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", RUST_FLAGS)
            .env_remove("RUSTFLAGS")
            .args(["--profile", PROFILE, "--target", TARGET]);
        for setting in PROFILE_SETTINGS {
            command.arg("--config").arg(format!("profile.{PROFILE}.{setting}"));
        }
        Ok(command)
    }
}

/// The reason of a failed build, where the compiler or the linker says it in words that help no author.
fn explain(printed: &str) -> Option<ToolchainError> {
    let (_, behind) = printed.rsplit_once(MEMORY_TOO_SMALL)?;
    let digits = behind.split(|letter: char| !letter.is_ascii_digit()).next()?;
    digits.parse().ok().map(ToolchainError::TooMuchData)
}

/// The cargo that called, or the one on the path.
pub(crate) fn active_cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn active_rustc(folder: &Path) -> Command {
    let mut command = Command::new("rustc");
    command.current_dir(folder);
    command
}

fn active_has_target(folder: &Path) -> Result<bool, ToolchainError> {
    let libraries = output(active_rustc(folder).args(["--print", "target-libdir", "--target", TARGET]))?;
    Ok(Path::new(&libraries).is_dir())
}

fn add_rustup_target(folder: &Path) -> bool {
    succeeds(Command::new("rustup").current_dir(folder).args(["target", "add", TARGET]))
}

fn debian_has_sources() -> bool {
    let Ok(root) = output(Command::new(DEBIAN_RUSTC).args(["--print", "sysroot"])) else { return false };
    let sources = Path::new(&root).join("lib/rustlib/src/rust/library/Cargo.lock");
    Path::new(DEBIAN_CARGO).exists() && sources.exists()
}

fn install_debian(folder: &Path) -> Result<(), ToolchainError> {
    if !succeeds(Command::new("apt-get").arg("--version")) {
        return Err(ToolchainError::NoCompiler { rustc: output(active_rustc(folder).arg("--version"))? });
    }
    let root = is_root();
    let privileged = |program: &str| {
        let mut command = if root { Command::new(program) } else { Command::new("sudo") };
        if !root {
            command.arg(program);
        }
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    run(privileged("apt-get").args(["update", "--quiet"]))?;
    run(privileged("apt-get").args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(DEBIAN_PACKAGES))?;
    if debian_has_sources() { Ok(()) } else { Err(ToolchainError::NoSources(DEBIAN_PACKAGES.join(", "))) }
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|id| id == "0")
}

fn sysroot(folder: &Path) -> Result<String, ToolchainError> {
    output(active_rustc(folder).args(["--print", "sysroot"]))
}

fn host_triple(folder: &Path) -> Result<String, ToolchainError> {
    let version = output(active_rustc(folder).arg("-vV"))?;
    let triple = version.lines().find_map(|line| line.strip_prefix("host: "));
    triple.map(str::to_owned).ok_or(ToolchainError::NoHost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_does_not_fit_is_told_in_words_for_authors() {
        assert!(RUST_FLAGS.ends_with(&format!("--initial-memory={INITIAL_MEMORY_BYTES}")));
        let printed = "error: linking with `rust-lld` failed\n  = note: rust-lld: error: initial memory too small, \
                       9437232 bytes needed\n\nerror: could not compile";
        let told = explain(printed).expect("the reason is known").to_string();
        assert!(told.starts_with("the contract needs 9437232 bytes of memory before it runs"), "{told}");
        assert!(told.contains("it has 2097152") && told.contains("make its `static`s"), "{told}");
        for other in ["error[E0308]: mismatched types", "initial memory too small, ", ""] {
            assert!(explain(other).is_none(), "{other}");
        }
    }
}
