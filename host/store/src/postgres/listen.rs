//! Hears what other gateways announce, over a connection of its own. It is a help, not a promise: announcements are lost
//! while the connection is down, so whoever listens looks for himself from time to time as well.

use std::future::poll_fn;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls, Socket};

use super::CHANNEL;
use super::tls::Tls;

/// Keeps one connection, which is made anew when it broke.
pub(crate) struct Listener {
    config: Arc<tokio_postgres::Config>,
    tls: Tls,
    heard: Option<ListeningConnection>,
}

/// A connection that listens. Both halves live as long as it does.
struct ListeningConnection {
    announcements: tokio::sync::mpsc::Receiver<()>,
    _client: Client,
    _driver: tokio_util::task::AbortOnDropHandle<()>,
}

impl Listener {
    pub(super) fn new(config: Arc<tokio_postgres::Config>, tls: Tls) -> Self {
        Self { config, tls, heard: None }
    }

    /// Connects if need be and waits for one announcement, or for several that came at once.
    ///
    /// # Errors
    /// When there is no connection, or it broke. The next call makes a new one.
    pub(crate) async fn announcement(&mut self) -> Result<(), tokio_postgres::Error> {
        let heard = match self.heard.take() {
            Some(heard) => self.heard.insert(heard),
            None => {
                let heard = match self.tls.clone() {
                    Tls::Off => listen(&self.config, NoTls).await?,
                    Tls::Unverified(tls) | Tls::Verified(tls) => listen(&self.config, tls).await?,
                };
                // Whatever was announced before is found by looking once.
                self.heard = Some(heard);
                return Ok(());
            }
        };
        if heard.announcements.recv().await.is_none() {
            self.heard = None;
        }
        Ok(())
    }
}

async fn listen<T>(config: &tokio_postgres::Config, tls: T) -> Result<ListeningConnection, tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await?;
    // One place is enough: an announcement says only that there is something to look at.
    let (sender, announcements) = tokio::sync::mpsc::channel(1);
    let driver = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(drive(connection, sender)));
    client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
    Ok(ListeningConnection { announcements, _client: client, _driver: driver })
}

/// Moves the connection on until it ends.
async fn drive<S>(mut connection: Connection<Socket, S>, sender: tokio::sync::mpsc::Sender<()>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(_) = message {
            // A full channel holds an announcement that nobody took yet.
            let _ = sender.try_send(());
        }
    }
}
