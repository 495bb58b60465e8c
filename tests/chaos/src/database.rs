//! A proxy before PostgreSQL, by which its connections are cut and made slow.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// Bytes that are passed on at once.
const PIECE_BYTES: usize = 16 * 1024;

/// A proxy on a port of its own, stopped when dropped.
pub struct DatabaseProxy {
    /// On 127.0.0.1.
    pub port: u16,
    state: Arc<State>,
    task: JoinHandle<()>,
}

struct State {
    socket: PathBuf,
    delay_ms: AtomicU64,
    /// Counts the cuts.
    cuts: watch::Sender<u64>,
}

impl DatabaseProxy {
    /// A proxy to the server behind a socket.
    ///
    /// # Errors
    /// Where there is no free port.
    pub async fn start(socket: &Path) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let socket = socket.to_owned();
        let state = Arc::new(State { socket, delay_ms: AtomicU64::new(0), cuts: watch::Sender::new(0) });
        let task = tokio::spawn(accept(listener, Arc::clone(&state)));
        Ok(Self { port, state, task })
    }

    /// Ends every connection that is open now with a reset.
    pub fn cut(&self) {
        self.state.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// From now on, each piece in each direction comes so much later.
    pub fn delay(&self, delay: Duration) {
        let ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        self.state.delay_ms.store(ms, Ordering::Relaxed);
    }
}

impl Drop for DatabaseProxy {
    fn drop(&mut self) {
        // With it goes the set of its connections.
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    // A listener that fails ends the proxy, and with it the run: nothing reaches the store any more.
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(serve(stream, Arc::clone(&state)));
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(client: TcpStream, state: Arc<State>) {
    let mut cuts = state.cuts.subscribe();
    // Whenever this side closes first, the other sees a reset.
    let is_set = client.set_nodelay(true).and_then(|()| client.set_zero_linger());
    let Ok(server) = UnixStream::connect(&state.socket).await else { return };
    if is_set.is_err() {
        return;
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // A direction that ends, for whatever reason, ends the connection.
    tokio::select! {
        _ = pass(from_client, to_server, &state) => {}
        _ = pass(from_server, to_client, &state) => {}
        _ = cuts.changed() => {}
    }
}

async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, state: &State) -> std::io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = from.read(&mut piece).await?;
        if read == 0 {
            return Ok(());
        }
        let delay_ms = state.delay_ms.load(Ordering::Relaxed);
        if delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        }
        to.write_all(&piece[..read]).await?;
    }
}
