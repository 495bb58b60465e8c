//! Settings of mail. Bounds that nobody should need to move are constants where they are used.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use intent_gateway_domain::secret::Secret;
use lettre::message::Mailbox;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest time that one mail may take, milliseconds. Whoever sends it must not wait for so long that another takes over.
const TIMEOUT_MAX_MS: u64 = 60 * 1_000;
/// Longest host name, bytes (RFC 1035, 2.3.4).
const HOST_MAX_BYTES: usize = 253;

/// How mail leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MailMode {
    /// Each mail is a line of a file; nothing leaves. For development.
    #[default]
    Outbox,
    /// By an SMTP server.
    Smtp,
}

/// How the connection to the SMTP server is protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MailTls {
    /// Plain first, then STARTTLS; without it, no mail. Port 587.
    #[default]
    Starttls,
    /// STARTTLS where the server offers it. Someone between may take the offer away. Port 25.
    Opportunistic,
    /// TLS from the first byte. Port 465.
    Implicit,
    /// Never TLS: for a server on the same machine. Port 25.
    None,
}

impl MailTls {
    fn default_port(self) -> u16 {
        match self {
            Self::Starttls => 587,
            Self::Implicit => 465,
            Self::Opportunistic | Self::None => 25,
        }
    }
}

/// Settings of mail.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MailConfig {
    /// How mail leaves.
    pub mode: MailMode,
    /// Sender of every mail, `address` or `Name <address>`.
    pub from: String,
    /// The outbox file; by default [`OUTBOX_FILE`](crate::OUTBOX_FILE) in the state folder.
    pub outbox_file: Option<PathBuf>,
    /// The SMTP server's name; its certificate must be for it.
    pub host: String,
    /// Its port; by default the usual one of `tls`.
    pub port: Option<u16>,
    /// How the connection is protected.
    pub tls: MailTls,
    /// PEM file of certificates that are trusted besides the public authorities.
    pub ca_file: Option<PathBuf>,
    /// Whom to sign in as; nobody by default.
    pub user: Option<String>,
    /// The user's password.
    #[schemars(with = "Option<String>")]
    pub password: Option<Secret>,
    /// What the gateway calls itself to the server; by default the domain of `from`.
    pub hello_name: Option<String>,
    /// Everything for one mail, connecting included, must be over within this time, milliseconds.
    pub timeout_ms: u64,
}

impl Default for MailConfig {
    fn default() -> Self {
        Self {
            mode: MailMode::Outbox,
            from: "Intent Gateway <no-reply@localhost>".to_owned(),
            outbox_file: None,
            host: "localhost".to_owned(),
            port: None,
            tls: MailTls::Starttls,
            ca_file: None,
            user: None,
            password: None,
            hello_name: None,
            timeout_ms: 30_000,
        }
    }
}

/// A setting of mail is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailConfigError {
    /// The sender is not an address.
    #[error("`from` is no e-mail address: {0}")]
    From(String),
    /// A host name is none.
    #[error("`{0}` is no host name")]
    Host(&'static str),
    /// The port is 0.
    #[error("`port` must lie in 1..=65535")]
    Port,
    /// The time is out of its range.
    #[error("`timeout_ms` must lie in 1..={TIMEOUT_MAX_MS}")]
    Timeout,
    /// One of user and password is missing or empty.
    #[error("`user` and `password` belong together, and neither may be empty")]
    Login,
    /// The password would travel in the open.
    #[error("`password` would travel unprotected: set `tls` to `starttls` or `implicit`")]
    UnprotectedPassword,
}

impl MailConfig {
    /// Checks every setting.
    ///
    /// # Errors
    /// [`MailConfigError`] for the first one that is wrong.
    pub fn validate(&self) -> Result<Mailbox, MailConfigError> {
        let from: Mailbox = self.from.parse().map_err(|error| MailConfigError::From(format!("{error}")))?;
        let hello_fits = self.hello_name.as_deref().is_none_or(is_host);
        for (name, fits) in [("host", is_host(&self.host)), ("hello_name", hello_fits)] {
            if !fits {
                return Err(MailConfigError::Host(name));
            }
        }
        if self.port == Some(0) {
            return Err(MailConfigError::Port);
        }
        if !(1..=TIMEOUT_MAX_MS).contains(&self.timeout_ms) {
            return Err(MailConfigError::Timeout);
        }
        match (&self.user, &self.password) {
            (None, None) => {}
            (Some(user), Some(password)) if !user.is_empty() && !password.expose().is_empty() => {
                let open = matches!(self.tls, MailTls::None | MailTls::Opportunistic);
                if open && !self.is_loopback() {
                    return Err(MailConfigError::UnprotectedPassword);
                }
            }
            _ => return Err(MailConfigError::Login),
        }
        Ok(from)
    }

    /// Whether the server is on this machine, so that nobody can listen.
    fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }

    pub(crate) fn port(&self) -> u16 {
        self.port.unwrap_or_else(|| self.tls.default_port())
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

/// A host name or an address, as far as it must be right to stand in a line of SMTP.
fn is_host(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    (1..=HOST_MAX_BYTES).contains(&text.len()) && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(tls: MailTls, host: &str) -> MailConfig {
        let (user, password) = (Some("gateway".to_owned()), Some(Secret::new("pass")));
        MailConfig { host: host.to_owned(), tls, user, password, ..MailConfig::default() }
    }

    #[test]
    fn the_defaults_are_valid_and_keep_mail_here() {
        let config = MailConfig::default();
        assert!(config.validate().is_ok());
        assert_eq!((config.mode, config.tls, config.port()), (MailMode::Outbox, MailTls::Starttls, 587));
        assert_eq!(login(MailTls::Implicit, "mx.example").port(), 465);
        assert_eq!(MailConfig { port: Some(2525), ..config }.port(), 2525);
    }

    #[test]
    fn each_wrong_setting_is_told() {
        let default = MailConfig::default;
        let named = |host: &str| MailConfig { host: host.to_owned(), ..default() };
        let hello = |name: &str| MailConfig { hello_name: Some(name.to_owned()), ..default() };
        let secret = |text: &str| Some(Secret::new(text));
        for (config, error) in [
            (named(""), MailConfigError::Host("host")),
            (named("mx.example\r\nMAIL FROM:<a@b>"), MailConfigError::Host("host")),
            (named(&"x".repeat(254)), MailConfigError::Host("host")),
            (hello("me you"), MailConfigError::Host("hello_name")),
            (MailConfig { port: Some(0), ..default() }, MailConfigError::Port),
            (MailConfig { timeout_ms: 0, ..default() }, MailConfigError::Timeout),
            (MailConfig { timeout_ms: 60_001, ..default() }, MailConfigError::Timeout),
            (MailConfig { password: secret("x"), ..default() }, MailConfigError::Login),
            (MailConfig { user: Some("x".into()), ..default() }, MailConfigError::Login),
            (MailConfig { user: Some(String::new()), password: secret("x"), ..default() }, MailConfigError::Login),
            (MailConfig { user: Some("x".into()), password: secret(""), ..default() }, MailConfigError::Login),
            (login(MailTls::None, "mx.example"), MailConfigError::UnprotectedPassword),
            (login(MailTls::Opportunistic, "mx.example"), MailConfigError::UnprotectedPassword),
        ] {
            assert_eq!(config.validate(), Err(error), "{config:?}");
        }
        for from in ["", "no-reply", "a@b c", "x <a@b.example> y"] {
            let config = MailConfig { from: from.to_owned(), ..default() };
            assert!(matches!(config.validate(), Err(MailConfigError::From(_))), "{from}");
        }
    }

    #[test]
    fn a_password_may_stay_on_this_machine_or_under_tls() {
        for (tls, host) in [
            (MailTls::Starttls, "mx.example"),
            (MailTls::Implicit, "mx.example"),
            (MailTls::None, "127.0.0.1"),
            (MailTls::Opportunistic, "::1"),
            (MailTls::None, "localhost"),
        ] {
            assert!(login(tls, host).validate().is_ok(), "{tls:?} {host}");
        }
    }

    #[test]
    fn is_read_closed_and_shows_no_password() {
        let text =
            r#"{"mode": "smtp", "tls": "opportunistic", "host": "127.0.0.1", "user": "u", "password": "hunter22"}"#;
        let config: MailConfig = serde_json::from_str(text).unwrap();
        assert_eq!((config.mode, config.tls), (MailMode::Smtp, MailTls::Opportunistic));
        assert!(!format!("{config:?}").contains("hunter22"));
        assert!(serde_json::from_str::<MailConfig>(r#"{"pasword": "x"}"#).is_err());
    }
}
