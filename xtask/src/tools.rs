//! Installs what only the tests need and Cargo does not bring: a Python environment with an SMTP server and a fuzzer,
//! MCP's conformance suite and the servers of its SDKs, an authorization server, what drives a browser, PostgreSQL, HAProxy, an OCI
//! registry, Chromium, libfaketime, valgrind, promtool, and programs in Rust.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use test_servers::clock::find_library;
use test_servers::tools::{
    BROWSER_NODE_PROJECT, ENVIRONMENT, LINKING_NODE_PROJECT, MCP_ENVIRONMENT, MCP_NODE_PROJECT, MCP_REQUIREMENTS,
    REQUIREMENTS, WEBHOOK_NODE_PROJECT, browser_script, linking_provider, mcp_node, webhook_receiver,
};

use crate::command::{cargo, exists, output, root, run, step};

/// `required` makes tests that need PostgreSQL fail where there is none, as CI wants it; otherwise they say so and go on.
const POSTGRES_WISH: &str = "INTENT_GATEWAY_TEST_POSTGRES";
/// Where Debian's packages put the programs of PostgreSQL's server, one folder a version.
const POSTGRES_FOLDER: &str = "/usr/lib/postgresql";
/// Debian's package.
const POSTGRES_PACKAGE: &str = "postgresql";

/// As [`POSTGRES_WISH`], for tests that need HAProxy.
const HAPROXY_WISH: &str = "INTENT_GATEWAY_TEST_HAPROXY";
/// The proxy; also its package.
const HAPROXY: &str = "haproxy";
/// Where Debian's package puts it.
const HAPROXY_PROGRAM: &str = "/usr/sbin/haproxy";

/// As [`POSTGRES_WISH`], for tests that need an OCI registry.
const REGISTRY_WISH: &str = "INTENT_GATEWAY_TEST_REGISTRY";
/// The registry; also its package.
const REGISTRY: &str = "docker-registry";
/// What copies artifacts; also its package.
const SKOPEO: &str = "skopeo";

/// As [`POSTGRES_WISH`], for tests that need a browser.
const BROWSER_WISH: &str = "INTENT_GATEWAY_TEST_BROWSER";
/// The browser; also its package.
const CHROMIUM: &str = "chromium";

/// As [`POSTGRES_WISH`], for the counting of instructions.
const VALGRIND_WISH: &str = "INTENT_GATEWAY_TEST_VALGRIND";
/// Counts instructions; also its package.
const VALGRIND: &str = "valgrind";

/// As [`POSTGRES_WISH`], for the check of rules and dashboards.
const PROMTOOL_WISH: &str = "INTENT_GATEWAY_TEST_PROMTOOL";
/// Checks rules for Prometheus and tries them.
const PROMTOOL: &str = "promtool";
/// The package that has it.
const PROMTOOL_PACKAGE: &str = "prometheus";

/// As [`POSTGRES_WISH`], for the installing of packages.
const DEBIAN_WISH: &str = "INTENT_GATEWAY_TEST_DEBIAN";
/// Makes a bare Debian; also its package.
const MMDEBSTRAP: &str = "mmdebstrap";
/// Runs containers; also its package.
const RUNC: &str = "runc";

/// As [`POSTGRES_WISH`], for tests that set a gateway's clock.
const CLOCK_WISH: &str = "INTENT_GATEWAY_TEST_CLOCK";
/// Sets the clock of a process; Debian's package.
const FAKETIME_PACKAGE: &str = "libfaketime";

/// Where programs in Rust are installed, a folder a version, so that a run after the first finds them.
const PROGRAMS: &str = "target/tools";

/// Where Debian's package puts nginx.
const NGINX_PROGRAM: &str = "/usr/sbin/nginx";
/// The package, without modules that no bench needs.
const NGINX_PACKAGE: &str = "nginx-light";

/// Takes JSON apart on a command line; also its package.
const JQ: &str = "jq";

/// Installs everything.
pub(crate) fn install() -> anyhow::Result<()> {
    step("Tools of the tests");
    install_python()?;
    install_environment(MCP_ENVIRONMENT, MCP_REQUIREMENTS)?;
    install_mcp_node()?;
    install_node_project(LINKING_NODE_PROJECT, || linking_provider().is_ok())?;
    install_node_project(BROWSER_NODE_PROJECT, || browser_script("walk.mjs").is_ok())?;
    install_node_project(WEBHOOK_NODE_PROJECT, || webhook_receiver("receiver.mjs").is_ok())?;
    install_optional(&POSTGRES)?;
    install_optional(&PROXY)?;
    install_optional(&OCI_REGISTRY)?;
    install_optional(&BROWSER)?;
    install_optional(&CLOCK)?;
    install_optional(&COPIER)
}

/// Makes the Python environment of the tests' own tools.
pub(crate) fn install_python() -> anyhow::Result<()> {
    install_environment(ENVIRONMENT, REQUIREMENTS)
}

/// Makes a Python environment, unless it was made from the same list.
fn install_environment(folder: &str, list: &str) -> anyhow::Result<()> {
    if !exists("python3") {
        bail!("Python 3.11 or later runs servers of the tests and the fuzzer of the API; install it");
    }
    let requirements = root().join(list);
    let wanted = std::fs::read(&requirements).with_context(|| format!("cannot read {list}"))?;
    let environment = root().join(folder);
    // Written last: what was installed in part is made anew.
    let installed = environment.join("installed.txt");
    if std::fs::read(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    eprintln!("   installing {list} into {folder}");
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
    install_list(&environment.join("bin/python"), &requirements)?;
    std::fs::write(&installed, wanted).with_context(|| format!("cannot write {}", installed.display()))
}

/// Installs the packages of a list, by their digests, into the environment of an interpreter.
///
/// A list names whatever its packages need, so nothing is resolved: pip would take the newest release for a package that
/// is wanted with an extra, and then refuse it because the list names an older one.
pub(crate) fn install_list(python: &Path, list: &Path) -> anyhow::Result<()> {
    let quietly = ["--quiet", "--disable-pip-version-check"];
    let install = ["--require-hashes", "--no-deps", "--requirement"];
    run(Command::new(python).args(["-m", "pip", "install"]).args(quietly).args(install).arg(list))?;
    run(Command::new(python).args(["-m", "pip", "check"]).args(quietly))
}

/// Installs MCP's conformance suite, the Node SDKs and their Node, unless that was done from the same list.
pub(crate) fn install_mcp_node() -> anyhow::Result<()> {
    install_node_project(MCP_NODE_PROJECT, || mcp_node().is_ok())
}

/// Installs what a folder's lock file lists, unless that was done from the same list and is there.
fn install_node_project(project: &str, is_there: fn() -> bool) -> anyhow::Result<()> {
    if !exists("npm") {
        bail!(
            "npm installs MCP's conformance suite, the servers of its Node SDKs, an authorization server and what drives a browser; \
             install it"
        );
    }
    let home = root().join(project);
    let lock = home.join("package-lock.json");
    let wanted = std::fs::read(&lock).with_context(|| format!("cannot read {}", lock.display()))?;
    let installed = home.join("node_modules/installed-lock.json");
    if std::fs::read(&installed).is_ok_and(|installed| installed == wanted) && is_there() {
        return Ok(());
    }
    eprintln!("   installing {project}/package-lock.json");
    run(Command::new("npm").current_dir(&home).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    std::fs::write(&installed, wanted).with_context(|| format!("cannot write {}", installed.display()))
}

/// A program of a Debian package that some tests go without.
struct Optional {
    what: &'static str,
    package: &'static str,
    /// The variable that is `required` where tests must not go without.
    wish: &'static str,
    is_there: fn() -> bool,
}

const POSTGRES: Optional =
    Optional { what: "PostgreSQL's server", package: POSTGRES_PACKAGE, wish: POSTGRES_WISH, is_there: has_postgres };
const PROXY: Optional = Optional { what: "HAProxy", package: HAPROXY, wish: HAPROXY_WISH, is_there: has_haproxy };
const OCI_REGISTRY: Optional =
    Optional { what: "an OCI registry", package: REGISTRY, wish: REGISTRY_WISH, is_there: has_registry };
const BROWSER: Optional = Optional { what: "Chromium", package: CHROMIUM, wish: BROWSER_WISH, is_there: has_chromium };
const CLOCK: Optional =
    Optional { what: "libfaketime", package: FAKETIME_PACKAGE, wish: CLOCK_WISH, is_there: has_clock_library };
const COUNTER: Optional = Optional { what: "valgrind", package: VALGRIND, wish: VALGRIND_WISH, is_there: has_valgrind };
const RULE_CHECKER: Optional =
    Optional { what: "promtool", package: PROMTOOL_PACKAGE, wish: PROMTOOL_WISH, is_there: has_promtool };
const DEBIAN_MAKER: Optional =
    Optional { what: "mmdebstrap", package: MMDEBSTRAP, wish: DEBIAN_WISH, is_there: has_mmdebstrap };
const RUNTIME: Optional = Optional { what: "runc", package: RUNC, wish: DEBIAN_WISH, is_there: has_runc };
const COPIER: Optional = Optional { what: "skopeo", package: SKOPEO, wish: REGISTRY_WISH, is_there: has_skopeo };

/// Installs PostgreSQL's server where tests must not go without.
pub(crate) fn install_postgres() -> anyhow::Result<()> {
    install_optional(&POSTGRES)
}

/// Installs valgrind where counts must not go without.
pub(crate) fn install_wished_valgrind() -> anyhow::Result<()> {
    install_optional(&COUNTER)
}

/// Installs promtool where rules and dashboards must not go unchecked.
pub(crate) fn install_wished_promtool() -> anyhow::Result<()> {
    install_optional(&RULE_CHECKER)
}

/// Installs mmdebstrap where packages must not go untried; whether it is there.
pub(crate) fn install_wished_mmdebstrap() -> anyhow::Result<bool> {
    install_optional(&DEBIAN_MAKER)?;
    install_optional(&RUNTIME)?;
    Ok(has_mmdebstrap())
}

/// Installs it where it is missing and required; where it is only missing, says what to do.
fn install_optional(wanted: &Optional) -> anyhow::Result<()> {
    let Optional { what, package, wish, is_there } = wanted;
    if is_there() {
        return Ok(());
    }
    let advice = format!("{what} is missing (Debian: apt-get install {package})");
    if std::env::var_os(wish).is_none_or(|wish| wish != "required") {
        eprintln!("   {advice}: the tests that need it will say so and pass by");
        return Ok(());
    }
    if !can_install_packages() {
        bail!("{advice}, and {wish} is `required`");
    }
    install_package(package)?;
    if !is_there() {
        bail!("{package} is installed, and {what} is still not found");
    }
    Ok(())
}

/// Installs jq, by which documents take answers apart, where it is missing.
pub(crate) fn install_jq() -> anyhow::Result<()> {
    install_needed(JQ, JQ, "by which the documents take answers apart")
}

/// Installs valgrind, which counts instructions, where it is missing.
pub(crate) fn install_valgrind() -> anyhow::Result<()> {
    install_needed(VALGRIND, VALGRIND, "which counts instructions")
}

/// Installs BOLT, which lays a program's code out anew, where it is missing.
pub(crate) fn install_bolt() -> anyhow::Result<()> {
    install_needed("llvm-bolt-19", "bolt-19", "which lays a program's code out anew")?;
    // What it puts into a copy that counts.
    let runtime = Path::new("/usr/lib/llvm-19/lib/libbolt_rt_instr.a");
    if runtime.exists() { Ok(()) } else { install_package("libbolt-19-dev") }
}

/// Installs perf, which samples stacks, where it is missing.
pub(crate) fn install_perf() -> anyhow::Result<()> {
    install_needed("perf", "linux-perf", "which samples what a program does")
}

/// Installs nginx, which a search is measured beside, where it is missing.
pub(crate) fn install_nginx() -> anyhow::Result<()> {
    // It has no `--version`, and its folder is not on every path.
    if Path::new(NGINX_PROGRAM).exists() {
        return Ok(());
    }
    install_needed("nginx", NGINX_PACKAGE, "which a search is measured beside")
}

/// Installs a program where it is missing.
fn install_needed(program: &str, package: &str, purpose: &str) -> anyhow::Result<()> {
    if exists(program) {
        return Ok(());
    }
    if !can_install_packages() {
        bail!("{program} is missing, {purpose} (Debian: apt-get install {package})");
    }
    install_package(package)
}

/// A program in Rust that is compiled where it is needed.
pub(crate) struct RustProgram<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    /// The features that it is built with, and no other; where none is named, its defaults.
    pub(crate) features: &'a [&'a str],
    /// Compiled for speed: only for what would run longer than that takes.
    pub(crate) is_optimised: bool,
}

impl<'a> RustProgram<'a> {
    /// One that works as it is.
    pub(crate) const fn new(name: &'a str, version: &'a str) -> Self {
        Self { name, version, features: &[], is_optimised: false }
    }

    /// Compiles it, unless that was done before; where it is then.
    pub(crate) fn install(&self) -> anyhow::Result<PathBuf> {
        let Self { name, version, features, is_optimised } = self;
        let home = root().join(PROGRAMS).join(format!("{name}-{version}"));
        let program = home.join("bin").join(name);
        if program.is_file() {
            return Ok(program);
        }
        eprintln!("   installing {name} {version} into {PROGRAMS}");
        let build = home.join("build");
        let mut install = cargo();
        // Unoptimised most are compiled in a minute or two instead of ten, and work as well.
        install.args(["install", name, "--version", version, "--locked", "--debug", "--quiet", "--root"]).arg(&home);
        install.arg("--target-dir").arg(&build).env("CARGO_PROFILE_DEV_DEBUG", "none");
        if *is_optimised {
            install.env("CARGO_PROFILE_DEV_OPT_LEVEL", "2");
        }
        if !features.is_empty() {
            install.args(["--no-default-features", "--features"]).arg(features.join(","));
        }
        run(&mut install)?;
        // Cargo passes over a program whose features are not there, and calls that done.
        if !program.is_file() {
            bail!("{name} {version} was installed without the program `{name}`; it may want a feature");
        }
        std::fs::remove_dir_all(&build).with_context(|| format!("cannot remove {}", build.display()))?;
        Ok(program)
    }
}

/// Whether this is Debian or one like it, and ours to change.
fn can_install_packages() -> bool {
    let is_root = output(Command::new("id").arg("-u")).is_ok_and(|user| user == "0");
    is_root && exists("apt-get")
}

fn install_package(package: &str) -> anyhow::Result<()> {
    let apt =
        |arguments: &[&str]| run(Command::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive").args(arguments));
    apt(&["update", "--quiet"])?;
    apt(&["install", "--yes", "--quiet", "--no-install-recommends", package])
}

/// Whether `initdb` is found, on the path or where Debian puts it.
pub(crate) fn has_postgres() -> bool {
    let versions = std::fs::read_dir(POSTGRES_FOLDER).into_iter().flatten().filter_map(Result::ok);
    exists("initdb") || versions.map(|version| version.path().join("bin/initdb")).any(|initdb| initdb.exists())
}

fn has_clock_library() -> bool {
    find_library().is_some()
}

/// Whether HAProxy is found, on the path or where Debian puts it.
fn has_haproxy() -> bool {
    exists(HAPROXY) || Path::new(HAPROXY_PROGRAM).exists()
}

/// Whether the registry is found on the path.
fn has_registry() -> bool {
    exists(REGISTRY)
}

/// Whether Chromium is found on the path.
fn has_chromium() -> bool {
    exists(CHROMIUM)
}

/// Whether valgrind is found on the path.
pub(crate) fn has_valgrind() -> bool {
    exists(VALGRIND)
}

/// Whether promtool is found on the path.
fn has_promtool() -> bool {
    exists(PROMTOOL)
}

/// Whether mmdebstrap is found on the path.
fn has_mmdebstrap() -> bool {
    exists(MMDEBSTRAP)
}

/// Whether runc is found on the path.
fn has_runc() -> bool {
    exists(RUNC)
}

/// Whether skopeo is found on the path.
fn has_skopeo() -> bool {
    exists(SKOPEO)
}

/// A program of the Python environment.
pub(crate) fn program(name: &str) -> PathBuf {
    root().join(ENVIRONMENT).join("bin").join(name)
}
