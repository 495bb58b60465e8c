//! Mail by SMTP, with lettre's connection under a small pool of our own.
//!
//! lettre's pool takes a connection back whatever state it is in, so a mail that was given up half-way would leave its
//! answers to the next one, and its connections wait for an answer without end. Here a connection belongs to the one mail
//! that uses it, under one deadline, and is parked only after that mail was taken whole.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::mail::{Mail, MailError};
use intent_gateway_domain::ports::Mailer;
use intent_gateway_domain::secret::Secret;
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;

use crate::config::{MailConfig, MailTls};
use crate::{MailSetupError, message};

/// Connections open at once; further mails wait for their turn, inside their own deadline.
const CONNECTIONS_MAX: usize = 4;
/// How long an unused connection may still be used. Servers wait five minutes (RFC 5321, 4.5.3.2.7), some less.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// How long an unused connection may take to show that it is alive, so that a dead one does not cost the whole deadline.
const ALIVE_MAX: Duration = Duration::from_secs(5);
/// Codes by which a server asks for TLS or a login (RFC 4954, 6; RFC 3207, 4): about us, not about the mail.
const LOGIN_CODES: [u16; 4] = [530, 534, 535, 538];
/// Characters of a server's answer that are told.
const REASON_MAX_CHARS: usize = 300;

/// How a connection is protected.
enum Protection {
    None,
    Implicit(TlsParameters),
    Starttls { parameters: TlsParameters, required: bool },
}

/// An unused connection and since when it is.
struct Parked {
    connection: AsyncSmtpConnection,
    since: Instant,
}

/// Sends mails by one SMTP server.
pub(crate) struct Smtp {
    host: String,
    port: u16,
    protection: Protection,
    login: Option<(String, Secret)>,
    hello: ClientId,
    timeout: Duration,
    sender: Mailbox,
    clock: Arc<dyn Clock>,
    places: Semaphore,
    parked: Mutex<Vec<Parked>>,
}

impl Smtp {
    /// Sets everything up but the connection. The configuration has been checked.
    pub(crate) fn new(config: &MailConfig, sender: Mailbox, clock: Arc<dyn Clock>) -> Result<Self, MailSetupError> {
        let protection = match config.tls {
            MailTls::None => Protection::None,
            MailTls::Implicit => Protection::Implicit(tls_parameters(config)?),
            MailTls::Starttls => Protection::Starttls { parameters: tls_parameters(config)?, required: true },
            MailTls::Opportunistic => Protection::Starttls { parameters: tls_parameters(config)?, required: false },
        };
        let hello = config.hello_name.clone().unwrap_or_else(|| sender.email.domain().to_owned());
        Ok(Self {
            host: config.host.clone(),
            port: config.port(),
            protection,
            login: config.user.clone().zip(config.password.clone()),
            hello: ClientId::Domain(hello),
            timeout: config.timeout(),
            sender,
            clock,
            places: Semaphore::new(CONNECTIONS_MAX),
            parked: Mutex::new(Vec::new()),
        })
    }

    /// Opens a connection, as for a mail, and ends it.
    pub(crate) async fn greet(&self) -> Result<(), String> {
        let greet = async {
            let mut connection = self.connect().await?;
            connection.quit().await.map(drop)
        };
        match timeout(self.timeout, greet).await {
            Ok(greeted) => greeted.map_err(|error| reason(&error)),
            Err(_) => Err(self.too_late()),
        }
    }

    fn too_late(&self) -> String {
        format!("no answer within {} ms", self.timeout.as_millis())
    }

    async fn deliver(&self, mail: &Mail) -> Result<(), MailError> {
        let message = message::message(mail, &self.sender, self.clock.now())?;
        let waited = timeout(self.timeout, self.exchange(&message)).await;
        waited.unwrap_or_else(|_| Err(MailError::Temporary(self.too_late())))?;
        tracing::info!(subject = %mail.subject, "mail was taken by the server");
        Ok(())
    }

    async fn exchange(&self, message: &Message) -> Result<(), MailError> {
        let _place = self.places.acquire().await.map_err(|_| MailError::Temporary("closed".to_owned()))?;
        // Whatever goes wrong before the mail itself is not judgement on the mail: a wrong password today may be right
        // tomorrow. From here on, giving up drops the connection.
        let mut connection = match self.unpark().await {
            Some(connection) => connection,
            None => self.connect().await.map_err(|error| MailError::Temporary(reason(&error)))?,
        };
        connection.send(message.envelope(), &message.formatted()).await.map_err(|error| judge(&error))?;
        self.parked.lock().await.push(Parked { connection, since: Instant::now() });
        Ok(())
    }

    /// An unused connection that the server still holds open.
    async fn unpark(&self) -> Option<AsyncSmtpConnection> {
        loop {
            let Parked { mut connection, since } = self.parked.lock().await.pop()?;
            let is_young = since.elapsed() < IDLE_MAX;
            if is_young && timeout(ALIVE_MAX, connection.test_connected()).await.is_ok_and(|alive| alive) {
                return Some(connection);
            }
        }
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, Error> {
        let from_the_start = match &self.protection {
            Protection::Implicit(parameters) => Some(parameters.clone()),
            Protection::None | Protection::Starttls { .. } => None,
        };
        let server = (self.host.as_str(), self.port);
        let wait = Some(self.timeout);
        let mut connection =
            AsyncSmtpConnection::connect_tokio1(server, wait, &self.hello, from_the_start, None).await?;
        if let Protection::Starttls { parameters, required } = &self.protection
            && (*required || connection.can_starttls())
        {
            // Where the server does not offer it, this is an error.
            connection.starttls(parameters.clone(), &self.hello).await?;
        }
        if let Some((user, password)) = &self.login {
            let credentials = Credentials::new(user.clone(), password.expose().to_owned());
            connection.auth(DEFAULT_MECHANISMS, &credentials).await?;
        }
        Ok(connection)
    }
}

impl Mailer for Smtp {
    fn send<'a>(&'a self, mail: &'a Mail) -> BoxFuture<'a, Result<(), MailError>> {
        self.deliver(mail).boxed()
    }
}

/// TLS 1.2 or later, for the server's name, by the public authorities and those of `ca_file`.
fn tls_parameters(config: &MailConfig) -> Result<TlsParameters, MailSetupError> {
    let mut builder = TlsParameters::builder(config.host.clone());
    if let Some(path) = &config.ca_file {
        let unusable = |error| MailSetupError::CaFile { path: path.display().to_string(), error };
        let pem = std::fs::read(path).map_err(unusable)?;
        // lettre takes a file without any, and no connection would ever say why it fails.
        if !String::from_utf8_lossy(&pem).contains("-----BEGIN CERTIFICATE-----") {
            return Err(unusable(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                "it holds no certificate in PEM",
            )));
        }
        builder = builder.add_root_certificate(Certificate::from_pem(&pem).map_err(MailSetupError::Tls)?);
    }
    builder.build_rustls().map_err(MailSetupError::Tls)
}

/// Whether a mail that failed on the way may be tried again.
fn judge(error: &Error) -> MailError {
    let about_us = error.status().is_some_and(|code| LOGIN_CODES.contains(&code.into()));
    // lettre's own refusals, for example of an address that the server could not take, do not change either.
    if (error.is_permanent() || error.is_client()) && !about_us {
        MailError::Permanent(reason(error))
    } else {
        MailError::Temporary(reason(error))
    }
}

/// What the server or the network said, as one line of bounded length.
fn reason(error: &Error) -> String {
    let line = |c: char| if c.is_control() { ' ' } else { c };
    error.to_string().chars().map(line).take(REASON_MAX_CHARS).collect()
}
