//! A real PostgreSQL for tests: a new cluster in a folder of its own, on a socket that nobody else sees, gone with the
//! process that started it, however that ends.

use std::ffi::OsString;
use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// How long the server may take until it takes connections.
const START_MAX: Duration = Duration::from_secs(60);
/// How long it may take until it has stopped.
const STOP_MAX: Duration = Duration::from_secs(60);
/// How often is looked whether it has.
const STOP_POLL: Duration = Duration::from_millis(5);
/// Lines of the server's log that an error shows.
const LOG_LINES_SHOWN: usize = 20;
/// What the server says when it is ready.
const READY: &str = "database system is ready to accept connections";
/// Where Debian keeps the servers, one folder for each version.
const DEBIAN_HOME: &str = "/usr/lib/postgresql";
/// The user that runs the server where the tests run as root, which PostgreSQL refuses.
const USER: &str = "postgres";
/// Set to `required` where tests must not go without PostgreSQL.
const DEMAND: &str = "INTENT_GATEWAY_TEST_POSTGRES";

/// Without TCP, the port only names the socket.
const SOCKET_PORT: u16 = 5432;

/// Waits until its input ends, then stops the server and removes the folder: the input ends when the process that
/// holds its other end does, even by a kill. The server alone keeps the log open, so that the log ends with it. It may be
/// another one than at first, and stand still; its file of this name goes when it does.
const KEEPER: &str = r#"folder=$1; shift
"$@" 2>&1 </dev/null &
exec >/dev/null 2>&1
cat
if read -r server < "$folder/data/postmaster.pid"; then
    kill -QUIT "$server"
    kill -CONT "$server"
    tries=0
    while [ -e "$folder/data/postmaster.pid" ] && [ "$tries" -lt 600 ]; do sleep 0.05; tries=$((tries + 1)); done
fi
wait
rm -rf "$folder"
"#;

/// How a server is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Connections are cut, and what is committed is written.
    Fast,
    /// As in a crash: the next start recovers.
    Immediate,
}

/// The server cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// A step of the way failed.
    #[error("PostgreSQL: {what} failed")]
    Step {
        /// Which.
        what: &'static str,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// A program ended with a failure.
    #[error("PostgreSQL: {what} failed: {output}")]
    Program {
        /// Which.
        what: &'static str,
        /// What it wrote.
        output: String,
    },
    /// It is not installed, and it must be.
    #[error("PostgreSQL is not installed and {DEMAND}=required; on Debian: apt-get install postgresql")]
    Missing,
}

/// A running server. It stops when this is dropped, or when the process ends.
#[derive(Debug)]
pub struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    databases: AtomicU32,
    owner: Option<(u32, u32)>,
    options: Vec<OsString>,
    /// The server that was started after the first one had been stopped.
    again: Mutex<Option<Child>>,
    keeper: Child,
    /// Open for as long as the server is wanted.
    input: Option<ChildStdin>,
}

impl Postgres {
    /// Starts a server on a socket; `None` where PostgreSQL is not installed.
    ///
    /// # Errors
    /// [`PostgresError`] when it is installed and does not start.
    pub fn start() -> Result<Option<Self>, PostgresError> {
        Self::launch(None)
    }

    /// Starts a server that listens on 127.0.0.1 as well and offers TLS there, with this certificate and key (PEM).
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_with_tls(certificate: &str, key: &str) -> Result<Option<Self>, PostgresError> {
        Self::launch(Some((certificate, key)))
    }

    fn launch(tls: Option<(&str, &str)>) -> Result<Option<Self>, PostgresError> {
        let Some(programs) = find_programs() else { return Ok(None) };
        let owner = owner()?;
        let folder = make_folder(owner)?;
        let (port, options) = match prepare(&programs, &folder, owner, tls) {
            Ok(prepared) => prepared,
            Err(error) => {
                // What went wrong is what the caller has to know.
                let _ = std::fs::remove_dir_all(&folder);
                return Err(error);
            }
        };
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "keeper"]).arg(&folder).arg(programs.join("postgres")).args(&options);
        let mut keeper = as_owner(keeper, owner);
        let mut keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(step("sh"))?;
        let (input, log) = (keeper.stdin.take(), keeper.stdout.take());
        // From here on, leaving early stops the server and removes the folder.
        let (databases, again) = (AtomicU32::new(0), Mutex::new(None));
        let server = Self { programs, folder, port, databases, owner, options, again, keeper, input };
        wait_until_ready(log)?;
        Ok(Some(server))
    }

    /// Stops the server and waits until it has stopped.
    ///
    /// # Errors
    /// [`PostgresError`] when it does not run, or does not stop in time.
    pub fn stop(&self, how: Stop) -> Result<(), PostgresError> {
        let signal = match how {
            Stop::Fast => "-INT",
            Stop::Immediate => "-QUIT",
        };
        let file = self.pid_file();
        run("kill", Command::new("kill").args([signal, &self.postmaster()?]))?;
        let deadline = Instant::now() + STOP_MAX;
        while file.exists() {
            if Instant::now() > deadline {
                return Err(PostgresError::Program { what: "postgres", output: "it does not stop".to_owned() });
            }
            std::thread::park_timeout(STOP_POLL);
        }
        if let Some(mut stopped) = self.again().take() {
            stopped.wait().map_err(step("postgres"))?;
        }
        Ok(())
    }

    /// Starts a server that was stopped, on the same data and socket, and waits until it takes connections.
    ///
    /// # Errors
    /// [`PostgresError`] when it does not start.
    pub fn start_again(&self) -> Result<(), PostgresError> {
        let mut server = as_owner(Command::new(self.programs.join("postgres")), self.owner);
        server.args(&self.options).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut server = server.spawn().map_err(step("postgres"))?;
        let log = server.stderr.take();
        *self.again() = Some(server);
        wait_until_ready(log)
    }

    /// Lets all processes of the server stand still.
    ///
    /// # Errors
    /// [`PostgresError`] when it does not run.
    pub fn freeze(&self) -> Result<(), PostgresError> {
        self.signal_all("-STOP")
    }

    /// Lets all of them go on.
    ///
    /// # Errors
    /// As [`freeze`](Self::freeze).
    pub fn wake(&self) -> Result<(), PostgresError> {
        self.signal_all("-CONT")
    }

    fn signal_all(&self, signal: &str) -> Result<(), PostgresError> {
        let postmaster = self.postmaster()?;
        let mut kill = Command::new("kill");
        kill.args([signal, &postmaster]);
        let processes = std::fs::read_dir("/proc").map_err(step("/proc"))?.flatten();
        for process in processes.filter_map(|entry| entry.file_name().into_string().ok()) {
            // The name, which stands in parentheses, may hold anything; state and parent follow it.
            let told = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            let parent = told.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
            if parent == Some(&postmaster) {
                kill.arg(process);
            }
        }
        // One of them may have ended meanwhile, which `kill` calls a failure.
        kill.stdin(Stdio::null()).stderr(Stdio::null()).status().map(drop).map_err(step("kill"))
    }

    /// The path of the socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!(".s.PGSQL.{}", self.port))
    }

    fn pid_file(&self) -> PathBuf {
        self.folder.join("data/postmaster.pid")
    }

    /// The identifier of the server's first process.
    fn postmaster(&self) -> Result<String, PostgresError> {
        let file = std::fs::read_to_string(self.pid_file()).map_err(step("postmaster.pid"))?;
        let first = file.lines().next().unwrap_or_default().trim();
        // A signal to anything else would meet somebody else's processes.
        let number: u32 = first.parse().map_err(|error| step("postmaster.pid")(std::io::Error::other(error)))?;
        Ok(number.to_string())
    }

    fn again(&self) -> MutexGuard<'_, Option<Child>> {
        self.again.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server that all tests of a process share, each with a database of its own. `None` where PostgreSQL is not
    /// installed: the caller says so and goes on without.
    ///
    /// # Errors
    /// [`PostgresError`] when it does not start, or is not installed where the environment demands it.
    pub fn shared() -> Result<Option<&'static Self>, &'static PostgresError> {
        static SHARED: OnceLock<Result<Option<Postgres>, PostgresError>> = OnceLock::new();
        let start = || match Self::start() {
            Ok(None) if std::env::var_os(DEMAND).is_some_and(|demand| demand == "required") => {
                Err(PostgresError::Missing)
            }
            started => started,
        };
        SHARED.get_or_init(start).as_ref().map(Option::as_ref)
    }

    /// Makes an empty database; its URL, by way of the socket.
    ///
    /// # Errors
    /// [`PostgresError`] when the server does not make one.
    pub fn database(&self) -> Result<String, PostgresError> {
        let name = self.make_database()?;
        Ok(format!("postgres://{USER}@/{name}?host={}&port={}", self.folder.display(), self.port))
    }

    /// Makes an empty database; its URL, by way of 127.0.0.1, where a server started with TLS listens.
    ///
    /// # Errors
    /// [`PostgresError`] when the server does not make one.
    pub fn database_over_tcp(&self) -> Result<String, PostgresError> {
        let name = self.make_database()?;
        Ok(format!("postgres://{USER}@127.0.0.1:{}/{name}", self.port))
    }

    fn make_database(&self) -> Result<String, PostgresError> {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let mut createdb = Command::new(self.programs.join("createdb"));
        createdb.arg("--host").arg(&self.folder).args(["--port", &self.port.to_string()]);
        run("createdb", createdb.args(["--username", USER, "--template", "template0", &name]))?;
        Ok(name)
    }

    /// The folder of the cluster and its socket.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.input.take());
        // An error here means that it has ended already.
        let _ = self.keeper.wait();
        if let Some(mut server) = self.again().take() {
            let _ = server.wait();
        }
    }
}

fn step(what: &'static str) -> impl Fn(std::io::Error) -> PostgresError {
    move |cause| PostgresError::Step { what, cause }
}

fn run(what: &'static str, command: &mut Command) -> Result<Vec<u8>, PostgresError> {
    let output = command.stdin(Stdio::null()).output().map_err(step(what))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = [&output.stdout[..], &output.stderr].concat();
    Err(PostgresError::Program { what, output: String::from_utf8_lossy(&said).into_owned() })
}

/// The folder with `initdb` and `postgres`: the newest of Debian's, else one of the path.
fn find_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir(DEBIAN_HOME).into_iter().flatten().flatten().map(|entry| entry.path());
    let version = |path: &Path| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let mut debian: Vec<PathBuf> = versions.filter(|path| version(path).is_some()).collect();
    debian.sort_by_key(|path| std::cmp::Reverse(version(path)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let whole = |folder: &PathBuf| ["initdb", "postgres", "createdb"].iter().all(|name| folder.join(name).is_file());
    debian.into_iter().map(|version| version.join("bin")).chain(std::env::split_paths(&path)).find(whole)
}

/// Makes the cluster; the server's port and its options.
fn prepare(
    programs: &Path,
    folder: &Path,
    owner: Option<(u32, u32)>,
    tls: Option<(&str, &str)>,
) -> Result<(u16, Vec<OsString>), PostgresError> {
    let data = folder.join("data");
    let mut initdb = Command::new(programs.join("initdb"));
    initdb.args(["--username", USER, "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"]);
    initdb.arg("--pgdata").arg(&data);
    run("initdb", &mut as_owner(initdb, owner))?;
    let mut options: Vec<OsString> = vec!["-D".into(), data.into(), "-k".into(), folder.into(), "-h".into()];
    let Some((certificate, key)) = tls else {
        options.push("".into());
        return Ok((SOCKET_PORT, options));
    };
    options.extend(["127.0.0.1", "-c", "ssl=on"].map(Into::into));
    for (setting, name, text) in [("ssl_cert_file", "server.crt", certificate), ("ssl_key_file", "server.key", key)] {
        let path = folder.join(name);
        let written = std::fs::write(&path, text)
            .and_then(|()| std::fs::set_permissions(&path, Permissions::from_mode(0o600)))
            .and_then(|()| owner.map_or(Ok(()), |(user, group)| chown(&path, Some(user), Some(group))));
        written.map_err(step("a certificate"))?;
        options.extend(["-c".into(), format!("{setting}={}", path.display()).into()]);
    }
    // PostgreSQL takes no port 0. This one was free a moment ago, and the system does not hand it out again at once.
    let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    let port = port.map_err(step("a port"))?.port();
    options.extend(["-p".into(), port.to_string().into()]);
    Ok((port, options))
}

/// User and group to run the server as, where the tests run as root.
fn owner() -> Result<Option<(u32, u32)>, PostgresError> {
    // Whoever the process is owns what it makes in /proc.
    let root = std::fs::metadata("/proc/self").map_err(step("/proc"))?.uid() == 0;
    if !root {
        return Ok(None);
    }
    let id = |flag| {
        let said = run("id postgres", Command::new("id").args([flag, USER]))?;
        let number = String::from_utf8_lossy(&said).trim().parse();
        let unread = |_| PostgresError::Program { what: "id postgres", output: String::from_utf8_lossy(&said).into() };
        number.map_err(unread)
    };
    Ok(Some((id("-u")?, id("-g")?)))
}

fn as_owner(mut command: Command, owner: Option<(u32, u32)>) -> Command {
    if let Some((user, group)) = owner {
        // The present folder may be one that this user cannot enter.
        command.uid(user).gid(group).current_dir("/");
    }
    command
}

/// A new folder under /tmp: the path of a socket must be short.
fn make_folder(owner: Option<(u32, u32)>) -> Result<PathBuf, PostgresError> {
    let folder = tempfile::Builder::new().prefix("gateway-postgres-").tempdir_in("/tmp").map_err(step("a folder"))?;
    if let Some((user, group)) = owner {
        chown(folder.path(), Some(user), Some(group)).map_err(step("a folder"))?;
    }
    // The keeper removes it.
    Ok(folder.keep())
}

/// Waits until the log of a server says that it takes connections.
fn wait_until_ready(log: Option<impl Read + Send + 'static>) -> Result<(), PostgresError> {
    let (sender, lines) = mpsc::channel();
    if let Some(log) = log {
        // The thread reads to the end, so that the server never blocks on a full pipe.
        std::thread::spawn(move || {
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                // Nobody listens any more once the server is ready.
                let _ = sender.send(line);
            }
        });
    }
    let mut log: Vec<String> = Vec::new();
    loop {
        match lines.recv_timeout(START_MAX) {
            Ok(line) if line.contains(READY) => return Ok(()),
            Ok(line) => log.push(line),
            Err(_) => {
                let shown = log.len().saturating_sub(LOG_LINES_SHOWN);
                return Err(PostgresError::Program { what: "postgres", output: log[shown..].join("\n") });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_started_and_leaves_nothing() {
        let Some(server) = Postgres::start().unwrap() else { return };
        let url = server.database().unwrap();
        assert!(url.starts_with("postgres://postgres@/test_0?host=/tmp/gateway-postgres-"), "{url}");
        let folder = server.folder().to_owned();
        let pid = std::fs::read_to_string(folder.join("data/postmaster.pid")).unwrap();
        let process = Path::new("/proc").join(pid.lines().next().unwrap());
        assert!(process.exists());
        drop(server);
        assert!(!process.exists() && !folder.exists());
    }
    #[test]
    fn a_server_is_stopped_started_and_frozen() {
        let Some(server) = Postgres::start().unwrap() else { return };
        let folder = server.folder().to_owned();
        let state = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.postmaster().unwrap())).unwrap();
            stat.rsplit_once(") ").unwrap().1.chars().next().unwrap()
        };
        for how in [Stop::Fast, Stop::Immediate] {
            let before = server.postmaster().unwrap();
            server.stop(how).unwrap();
            assert!(server.stop(how).is_err(), "it does not run");
            server.start_again().unwrap();
            assert_ne!(server.postmaster().unwrap(), before);
            server.database().unwrap();
        }
        server.freeze().unwrap();
        assert_eq!(state(), 'T');
        server.wake().unwrap();
        assert_ne!(state(), 'T');
        server.database().unwrap();
        // One that stands still ends as well.
        server.freeze().unwrap();
        let process = Path::new("/proc").join(server.postmaster().unwrap());
        drop(server);
        assert!(!process.exists() && !folder.exists());
    }
}
