//! A real PostgreSQL for tests: a new cluster in a folder of its own, on a socket that nobody else sees, gone with the
//! process that started it, however that ends.

use std::ffi::OsString;
use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

/// How long the server may take until it takes connections.
const START_MAX: Duration = Duration::from_secs(60);
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
/// holds its other end does, even by a kill. A line of
/// input starts the server anew once the one before has ended; the first server starts without one.
const KEEPER: &str = r#"folder=$1; shift
exec 3>&1 >/dev/null 2>&1
"$@" >&3 2>&3 </dev/null & server=$!
while read -r _; do
    wait "$server"
    "$@" >&3 2>&3 </dev/null & server=$!
done
kill -CONT "$server"; kill -QUIT "$server"; wait "$server"
rm -rf "$folder"
"#;

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
    keeper: Child,
    /// Open for as long as the server is wanted.
    input: Option<ChildStdin>,
    log: Mutex<mpsc::Receiver<String>>,
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
        keeper.args(["-c", KEEPER, "keeper"]).arg(&folder).arg(programs.join("postgres")).args(options);
        let mut keeper = as_owner(keeper, owner);
        let mut keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(step("sh"))?;
        let (input, log) = (keeper.stdin.take(), keeper.stdout.take());
        let (sender, lines) = mpsc::channel();
        // From here on, leaving early stops the server and removes the folder.
        let log_lines = Mutex::new(lines);
        let server = Self { programs, folder, port, databases: AtomicU32::new(0), keeper, input, log: log_lines };
        if let Some(log) = log {
            // The thread reads to the end, so that the server never blocks on a full pipe.
            std::thread::spawn(move || {
                for line in BufReader::new(log).lines().map_while(Result::ok) {
                    // Nobody listens any more once the server is ready.
                    let _ = sender.send(line);
                }
            });
        }
        server.wait_until_ready()?;
        Ok(Some(server))
    }

    fn wait_until_ready(&self) -> Result<(), PostgresError> {
        wait_until_ready(&self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the server at once, as a crash of it would, and waits until it has ended.
    ///
    /// # Errors
    /// [`PostgresError`] when it does not end.
    pub fn crash(&self) -> Result<(), PostgresError> {
        self.control(&["stop", "--mode", "immediate"])
    }

    /// Ends the server as an administrator does, connections with it, and waits until it has ended.
    ///
    /// # Errors
    /// [`PostgresError`] when it does not end.
    pub fn stop(&self) -> Result<(), PostgresError> {
        self.control(&["stop", "--mode", "fast"])
    }

    fn control(&self, arguments: &[&str]) -> Result<(), PostgresError> {
        let mut command = Command::new(self.programs.join("pg_ctl"));
        command.args(arguments).arg("--pgdata").arg(self.folder.join("data"));
        run("pg_ctl", &mut as_owner(command, owner()?)).map(drop)
    }

    /// Starts the server again that has ended, and waits until it takes connections.
    ///
    /// # Errors
    /// [`PostgresError`] when it does not start.
    pub fn start_again(&self) -> Result<(), PostgresError> {
        // What it said of its end is not what is waited for.
        while self.log.lock().unwrap_or_else(PoisonError::into_inner).try_recv().is_ok() {}
        let mut input = self.input.as_ref().ok_or(PostgresError::Missing)?;
        input.write_all(b"start\n").map_err(step("the keeper"))?;
        self.wait_until_ready()
    }

    /// Freezes the server and all its processes: connections stay open and nobody answers.
    ///
    /// # Errors
    /// [`PostgresError`] when they cannot be frozen.
    pub fn freeze(&self) -> Result<(), PostgresError> {
        self.signal("STOP")
    }

    /// Lets it go on.
    ///
    /// # Errors
    /// [`PostgresError`] when it cannot go on.
    pub fn thaw(&self) -> Result<(), PostgresError> {
        self.signal("CONT")
    }

    fn signal(&self, signal: &str) -> Result<(), PostgresError> {
        let pid = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).map_err(step("its pid"))?;
        let pid = pid.lines().next().unwrap_or_default().to_owned();
        // The postmaster first, so that it starts no other.
        let children =
            std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).map_err(step("its children"))?;
        let mut kill = Command::new("kill");
        kill.arg(format!("-{signal}")).arg(&pid).args(children.split_whitespace());
        // One that ended meanwhile is not a failure.
        let _ = run("kill", &mut kill);
        Ok(())
    }

    /// The path of the socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!(".s.PGSQL.{}", self.port))
    }

    /// Runs a statement as the owner of the cluster.
    ///
    /// # Errors
    /// [`PostgresError`] when it fails.
    pub fn run_statement(&self, sql: &str) -> Result<(), PostgresError> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.arg("--host").arg(&self.folder).args(["--port", &self.port.to_string(), "--username", USER]);
        run("psql", psql.args(["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--command", sql, "postgres"]))
            .map(drop)
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

    /// All that is in a database of this server, as SQL that [`Self::load`] reads.
    ///
    /// # Errors
    /// [`PostgresError`] when it cannot be read.
    pub fn dump(&self, url: &str) -> Result<Vec<u8>, PostgresError> {
        let mut pg_dump = Command::new(self.programs.join("pg_dump"));
        run("pg_dump", pg_dump.args(["--no-owner", "--no-privileges", url]))
    }

    /// Puts what was dumped into an empty database of this server.
    ///
    /// # Errors
    /// [`PostgresError`] when it is not taken.
    pub fn load(&self, url: &str, dumped: &Path) -> Result<(), PostgresError> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--file"]).arg(dumped).arg(url);
        run("psql", &mut psql).map(drop)
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

fn wait_until_ready(lines: &mpsc::Receiver<String>) -> Result<(), PostgresError> {
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
    fn a_server_crashes_starts_again_and_freezes() {
        let Some(server) = Postgres::start().unwrap() else { return };
        server.run_statement("CREATE TABLE t (n bigint)").unwrap();
        server.crash().unwrap();
        assert!(server.run_statement("SELECT 1").is_err());
        server.start_again().unwrap();
        server.run_statement("INSERT INTO t VALUES (1)").unwrap();
        server.freeze().unwrap();
        server.thaw().unwrap();
        server.run_statement("SELECT * FROM t").unwrap();
        server.stop().unwrap();
        server.start_again().unwrap();
        let folder = server.folder().to_owned();
        server.freeze().unwrap();
        drop(server);
        assert!(!folder.exists(), "a frozen one is ended, too");
    }
}
