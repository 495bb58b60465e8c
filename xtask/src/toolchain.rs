//! Finds, or installs, a compiler that can build for `wasm32-unknown-unknown`.
//!
//! Tried in this order: the target as the active toolchain has it; `rustup target add`; Debian's own compiler
//! with its library sources, for machines where rustup cannot download.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::command::{cargo, exists, output, root, run, step};

/// The target of every contract in Rust.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// A way to build guests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuestToolchain {
    /// The active toolchain has the target.
    Active,
    /// Debian's compiler builds the standard library along.
    Debian,
}

const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

impl GuestToolchain {
    /// Finds a way, installing what is missing.
    pub(crate) fn find() -> anyhow::Result<Self> {
        if active_has_target()? {
            return Ok(Self::Active);
        }
        if debian_has_sources() {
            return Ok(Self::Debian);
        }
        step("Installing a compiler for WebAssembly");
        if add_rustup_target() && active_has_target()? {
            return Ok(Self::Active);
        }
        install_debian()?;
        Ok(Self::Debian)
    }

    /// A cargo command that builds for the target, without arguments for what to build.
    pub(crate) fn build(self) -> anyhow::Result<Command> {
        let mut command = match self {
            Self::Active => {
                let mut command = cargo();
                command.arg("build");
                command
            }
            Self::Debian => {
                let linker = format!("{}/lib/rustlib/{}/bin/rust-lld", sysroot()?, host_triple()?);
                let mut command = Command::new(DEBIAN_CARGO);
                command
                    .current_dir(root())
                    // The variables that rustup and cargo set for their children would point back at them.
                    .env_remove("RUSTUP_TOOLCHAIN")
                    .env_remove("CARGO")
                    .env("RUSTC", DEBIAN_RUSTC)
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
                    .args(["build", "-Zbuild-std=std,panic_abort"]);
                command
            }
        };
        command
            .env(
                "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
                "-Ctarget-feature=+simd128 -Clink-arg=--initial-memory=2097152",
            )
            .env_remove("RUSTFLAGS")
            .args(["--profile", "guest", "--target", TARGET]);
        Ok(command)
    }
}

fn active_has_target() -> anyhow::Result<bool> {
    let folder =
        output(Command::new("rustc").current_dir(root()).args(["--print", "target-libdir", "--target", TARGET]))?;
    Ok(Path::new(&folder).is_dir())
}

fn add_rustup_target() -> bool {
    exists("rustup")
        && Command::new("rustup")
            .current_dir(root())
            .args(["target", "add", TARGET])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
}

fn debian_has_sources() -> bool {
    let Ok(root) = output(Command::new(DEBIAN_RUSTC).args(["--print", "sysroot"])) else { return false };
    let sources = Path::new(&root).join("lib/rustlib/src/rust/library/Cargo.lock");
    Path::new(DEBIAN_CARGO).exists() && sources.exists()
}

fn install_debian() -> anyhow::Result<()> {
    if !exists("apt-get") {
        bail!(
            "no compiler for {TARGET} could be had: `rustup target add {TARGET}` failed and this is no Debian; \
             install the target for {} and try again",
            output(Command::new("rustc").current_dir(root()).arg("--version"))?
        );
    }
    let privileged = |program: &str| {
        let mut command = if is_root() { Command::new(program) } else { Command::new("sudo") };
        if !is_root() {
            command.arg(program);
        }
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    run(privileged("apt-get").args(["update", "--quiet"]))?;
    run(privileged("apt-get").args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(DEBIAN_PACKAGES))?;
    if !debian_has_sources() {
        bail!("Debian's packages {} brought no library sources", DEBIAN_PACKAGES.join(", "));
    }
    Ok(())
}

fn is_root() -> bool {
    output(Command::new("id").arg("-u")).is_ok_and(|id| id == "0")
}

fn sysroot() -> anyhow::Result<String> {
    output(Command::new("rustc").current_dir(root()).args(["--print", "sysroot"]))
}

fn host_triple() -> anyhow::Result<String> {
    let version = output(Command::new("rustc").current_dir(root()).arg("-vV"))?;
    let triple = version.lines().find_map(|line| line.strip_prefix("host: "));
    triple.map(str::to_owned).context("rustc does not tell its host")
}
