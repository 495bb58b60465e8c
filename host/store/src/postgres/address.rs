//! Reads a PostgreSQL address. The driver understands most of it; how the connection is secured is read here, with the
//! meaning that every other PostgreSQL client gives to `sslmode`.

use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::tls::{self, Tls};
use crate::error::OpenError;

/// Longest silence of a server on data sent, before the connection is given up.
const ANSWER_MAX: Duration = Duration::from_secs(15);

/// The driver's configuration and the connector for it.
pub(super) fn read(url: &str, connect_max: Duration) -> Result<(Config, Tls), OpenError> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut mode, mut authorities, mut others) = ("prefer", None, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", value)) => mode = value,
            Some(("sslrootcert", value)) => authorities = Some(Path::new(value)),
            _ => others.push(pair),
        }
    }
    let rest = if others.is_empty() { base.to_owned() } else { format!("{base}?{}", others.join("&")) };
    // What the driver says of a bad address may repeat parts of it, and is not passed on.
    let mut config = Config::from_str(&rest)
        .map_err(|_| OpenError::Address("expected postgres://user:password@host:port/database?option=value"))?;
    let (demand, tls) = match mode {
        "disable" => (SslMode::Disable, Tls::Off),
        "prefer" => (SslMode::Prefer, tls::encrypt_unverified()?),
        // As everywhere: `require` alone encrypts; with authorities at hand it verifies as well.
        "require" if authorities.is_none() => (SslMode::Require, tls::encrypt_unverified()?),
        "require" | "verify-ca" | "verify-full" => (SslMode::Require, tls::verify_server(authorities)?),
        _ => return Err(OpenError::Address("sslmode is one of disable, prefer, require, verify-ca, verify-full")),
    };
    config.ssl_mode(demand).connect_timeout(connect_max).tcp_user_timeout(ANSWER_MAX);
    if config.get_application_name().is_none() {
        config.application_name("intent-gateway");
    }
    Ok((config, tls))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> Result<(SslMode, bool), OpenError> {
        let (config, tls) = read(url, Duration::from_secs(1))?;
        Ok((config.get_ssl_mode(), matches!(tls, Tls::On(_))))
    }

    #[test]
    fn sslmode_means_what_it_means_elsewhere() {
        let modes = [
            ("", (SslMode::Prefer, true)),
            ("?sslmode=disable", (SslMode::Disable, false)),
            ("?sslmode=prefer", (SslMode::Prefer, true)),
            ("?connect_timeout=3&sslmode=require", (SslMode::Require, true)),
            ("?sslmode=verify-full&application_name=x", (SslMode::Require, true)),
        ];
        for (query, expected) in modes {
            let found = mode(&format!("postgres://gateway:hunter2@db.example:5433/intents{query}"));
            assert_eq!(found.expect("it is well-formed"), expected, "{query}");
        }
    }

    #[test]
    fn a_bad_address_is_refused_without_repeating_it() {
        for bad in [
            "postgres://u:hunter2@h/db?sslmode=maybe",
            "postgres://u:hunter2@h/db?hunter2=1",
            "postgres://u:hunter2@h:x/db",
        ] {
            let error = mode(bad).expect_err("it is not well-formed");
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("hunter2"), "{shown}");
        }
        let missing = mode("postgres://u@h/db?sslmode=verify-full&sslrootcert=/no/such/file");
        assert!(matches!(missing, Err(OpenError::File { .. })));
    }
}
