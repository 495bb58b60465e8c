//! One gateway: its folder, its configuration, its process, and what can be done to that.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use test_servers::Server;
use test_servers::clock::OwnClock;

use crate::partners::{INTENT, Partner};

/// Signs tokens and references and seals secrets; the gateways of one store share it.
const KEY: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";
/// How long the tokens of a run hold.
const TOKEN_LIFE: &str = "30d";
/// The deadline of a search, milliseconds. A partner that never answers costs each search so much.
const SEARCH_MS: u64 = 5_000;
/// How long a gateway keeps an unused connection to a partner, seconds.
const PARTNER_IDLE_S: u64 = 5;
/// Lets a write beyond the limit of a file's size fail as on a full disk; otherwise the signal ends the process.
const IGNORE_SIZE_SIGNAL: &str = r#"trap "" XFSZ; exec "$@""#;

/// One gateway.
pub struct Gateway {
    /// Its number, from 0.
    pub number: usize,
    /// Where everything of it is.
    pub folder: PathBuf,
    /// Its store's address.
    pub store: String,
    program: Mutex<PathBuf>,
    /// What takes the program's place when it is rolled.
    next: Option<PathBuf>,
    /// Its own, where clocks will be wrong.
    clock: Option<OwnClock>,
    process: Mutex<Option<Process>>,
    /// The latest address.
    url: Mutex<String>,
}

struct Process {
    server: Server,
    started: Instant,
}

/// What all gateways of a run have in common.
pub struct Common<'a> {
    /// What gateways start with.
    pub program: &'a Path,
    /// What they go on with once they were rolled, where that is another program.
    pub next: Option<&'a Path>,
    pub contract: &'a Path,
    pub partners: &'a [Partner],
    /// The library by which clocks can be set, where they will be wrong.
    pub clock: Option<&'a Path>,
}

/// The key that a partner signs its reports with.
#[must_use]
pub fn signing_key(partner: &str) -> String {
    format!("whsec_{partner}_of_a_fault_bench_and_long_enough_for_it")
}

impl Gateway {
    /// Writes its folder. `store` is its store's address; none is SQLite in its folder.
    ///
    /// # Errors
    /// Where the folder cannot be written.
    pub fn prepare(number: usize, folder: PathBuf, store: Option<String>, common: &Common<'_>) -> anyhow::Result<Self> {
        use std::fmt::Write as _;
        let (state, contracts) = (folder.join("state"), folder.join("contracts"));
        std::fs::create_dir_all(&contracts)?;
        std::fs::copy(common.contract, contracts.join("contract.wasm"))
            .with_context(|| format!("cannot copy {}", common.contract.display()))?;
        let store = store.unwrap_or_else(|| format!("sqlite://{}", state.join("gateway.db").display()));
        let mut text = format!(
            "state_dir = {state:?}\n[server]\nlisten = \"127.0.0.1:0\"\nopen_requests_per_minute = 1000000\ndrain_announce_ms = 500\n\
             [store]\nurl = {store:?}\n[contracts]\ndir = {contracts:?}\n[search]\ntimeout_ms = {SEARCH_MS}\n\
             [partner_client]\nallow_loopback_http = true\npool_idle_secs = {PARTNER_IDLE_S}\n[outbound]\nrate_limits = false\nsearch_cache = false\n\
             [auth]\nsigning_key = {KEY:?}\nreference_key = {KEY:?}\nmaster_key = {KEY:?}\n\
             [log]\nlevel = \"info,rmcp=warn\"\n"
        );
        for partner in common.partners {
            let (id, url, key) = (partner.id, partner.proxy.url(), signing_key(partner.id));
            write!(
                text,
                "[[partners]]\nid = {id:?}\nname = {id:?}\nurl = {url:?}\nwebhook_signing_key = {key:?}\n\
                 [[partners.listings]]\nintent = {INTENT:?}\nservice_area = [\"IN_ALL\"]\n"
            )?;
        }
        let program = Mutex::new(common.program.to_owned());
        let next = common.next.map(Path::to_owned);
        let clock = common.clock.map(|library| OwnClock::make(library.to_owned(), &folder)).transpose()?;
        let (process, url) = (Mutex::new(None), Mutex::new(String::new()));
        let gateway = Self { number, folder, store, program, next, clock, process, url };
        std::fs::write(gateway.config(), text)?;
        Ok(gateway)
    }

    fn config(&self) -> PathBuf {
        self.folder.join("gateway.toml")
    }

    /// Where its log goes.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.folder.join("gateway.log")
    }

    /// Starts its process, and waits until it serves the intent. Blocks.
    ///
    /// # Errors
    /// Where it does not start.
    pub fn start(&self) -> anyhow::Result<()> {
        let mut command = Command::new("sh");
        command.args(["-c", IGNORE_SIZE_SIGNAL, "sh"]).arg(self.program()).arg("serve");
        command.arg("--config").arg(self.config());
        if let Some(clock) = &self.clock {
            clock.give_to(&mut command);
        }
        let name = format!("gateway {}", self.number + 1);
        let server = Server::start(&name, &mut command, self.open_log()?)?;
        *lock(&self.url) = server.url.clone();
        server.wait_for_intents(1)?;
        *self.process() = Some(Process { server, started: Instant::now() });
        Ok(())
    }

    /// The end of a pipe whose other end is copied into its log: a limit on the size of its files is none on its log.
    fn open_log(&self) -> anyhow::Result<std::io::PipeWriter> {
        let (mut reader, writer) = std::io::pipe()?;
        let mut file: File = OpenOptions::new().create(true).append(true).open(self.log())?;
        std::thread::spawn(move || std::io::copy(&mut reader, &mut file));
        Ok(writer)
    }

    /// The latest address.
    #[must_use]
    pub fn url(&self) -> String {
        lock(&self.url).clone()
    }

    /// The process, with how long it has run; none while it is down.
    #[must_use]
    pub fn running(&self) -> Option<(u32, Duration)> {
        self.process().as_ref().map(|process| (process.server.id(), process.started.elapsed()))
    }

    /// Kills the process (SIGKILL), wherever it stands.
    pub fn kill(&self) {
        drop(self.process().take());
    }

    /// Tells the process to stop (SIGTERM), and waits until it has. Blocks.
    ///
    /// # Errors
    /// Where it does not stop in time, or not with success.
    pub fn stop(&self) -> anyhow::Result<()> {
        let process = self.process().take();
        let Some(process) = process else { bail!("gateway {} does not run", self.number + 1) };
        Ok(process.server.stop()?)
    }

    /// Starts it after it was stopped, with the next program where there is one. Blocks.
    ///
    /// # Errors
    /// Where it does not start.
    pub fn start_next(&self) -> anyhow::Result<()> {
        if let Some(next) = &self.next {
            lock(&self.program).clone_from(next);
        }
        self.start()
    }

    /// Whether it still has a program that another was to take the place of.
    #[must_use]
    pub fn is_left_behind(&self) -> bool {
        self.next.as_ref().is_some_and(|next| self.program() != *next)
    }

    fn program(&self) -> PathBuf {
        lock(&self.program).clone()
    }

    /// Lets the process stand still, or go on.
    ///
    /// # Errors
    /// Where it does not run.
    pub fn freeze(&self, is_still: bool) -> anyhow::Result<()> {
        Ok(kill_process(self.pid()?, if is_still { Signal::STOP } else { Signal::CONT })?)
    }

    /// Lets the process write nothing more to any file, or anything.
    ///
    /// # Errors
    /// Where it does not run, or may not be limited.
    pub fn fill_disk(&self, is_full: bool) -> anyhow::Result<()> {
        let most = rustix::process::getrlimit(Resource::Fsize).maximum;
        let current = if is_full { Some(0) } else { most };
        prlimit(Some(self.pid()?), Resource::Fsize, Rlimit { current, maximum: most })?;
        Ok(())
    }

    /// Sets its clock off by so many seconds.
    ///
    /// # Errors
    /// Where it has no clock of its own, or that cannot be set.
    pub fn set_clock(&self, off_seconds: i64) -> anyhow::Result<()> {
        Ok(self.clock.as_ref().context("the gateway has no clock of its own")?.set(off_seconds)?)
    }

    fn pid(&self) -> anyhow::Result<Pid> {
        let running = self.running().and_then(|(id, _)| Pid::from_raw(i32::try_from(id).ok()?));
        running.with_context(|| format!("gateway {} does not run", self.number + 1))
    }

    /// A token for the orchestrator.
    ///
    /// # Errors
    /// Where the gateway's command does not make one.
    pub fn token(&self) -> anyhow::Result<String> {
        self.command(["token", "--role", "orchestrator", "--ttl", TOKEN_LIFE])
    }

    /// Runs a command of the gateway's program under its configuration; what it printed. Blocks.
    ///
    /// # Errors
    /// Where it ends with a failure.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> anyhow::Result<String> {
        let mut command = Command::new(self.program());
        let output = command.args(arguments).arg("--config").arg(self.config()).output()?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if !output.status.success() {
            bail!("{} {}", said(&output.stdout), said(&output.stderr));
        }
        Ok(said(&output.stdout))
    }

    /// Files in its folder.
    #[must_use]
    pub fn files(&self) -> usize {
        count_files(&self.folder)
    }

    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        lock(&self.process)
    }
}

fn count_files(folder: &Path) -> usize {
    // What goes meanwhile is not counted.
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => count_files(&entry.path()),
            _ => 1,
        })
        .sum()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
