//! Reads a PostgreSQL address. The driver understands most of it; how the connection is secured is read here, with the
//! meaning that every other PostgreSQL client gives to `sslmode`. Where the address does not name one, a server elsewhere is verified.

use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::tls::{self, Tls};
use crate::error::OpenError;

/// Longest silence of a server on data sent, before the connection is given up.
const ANSWER_MAX: Duration = Duration::from_secs(15);

/// The driver's configuration and the connector for it.
pub(super) fn read(url: &str, connect_max: Duration) -> Result<(Config, Tls), OpenError> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut named, mut authorities, mut others) = (None, None, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", value)) => named = Some(value),
            Some(("sslrootcert", value)) => authorities = Some(Path::new(value)),
            _ => others.push(pair),
        }
    }
    let rest = if others.is_empty() { base.to_owned() } else { format!("{base}?{}", others.join("&")) };
    // What the driver says of a bad address may repeat parts of it, and is not passed on.
    let mut config = Config::from_str(&rest)
        .map_err(|_| OpenError::Address("expected postgres://user:password@host:port/database?option=value"))?;
    // Other clients take whoever answers where nothing is said. A password and all records are too much for that.
    let mode = named.unwrap_or(if is_local(&config) { "prefer" } else { "verify-full" });
    if !is_local(&config) && !mode.starts_with("verify-") && (mode != "require" || authorities.is_none()) {
        tracing::warn!(
            sslmode = mode,
            "the connection to PostgreSQL is not verified: whoever stands between can read and change everything. Leave `sslmode` \
             out, and name the authority with `sslrootcert=FILE` where the machine does not know it"
        );
    }
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

/// Whether every server of an address is on this machine: behind a socket, or a loopback address.
fn is_local(config: &Config) -> bool {
    let is_loopback =
        |name: &str| name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
    let is_local = |host: &Host| match host {
        Host::Tcp(name) => is_loopback(name),
        Host::Unix(_) => true,
    };
    // An address is what is connected to, whatever the name beside it.
    match config.get_hostaddrs() {
        [] => config.get_hosts().iter().all(is_local),
        addresses => addresses.iter().all(|address| address.to_canonical().is_loopback()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a connection is made, and whether its server is verified.
    fn mode(url: &str) -> Result<(SslMode, bool), OpenError> {
        let (config, tls) = read(url, Duration::from_secs(1))?;
        assert_eq!(matches!(tls, Tls::Off), config.get_ssl_mode() == SslMode::Disable);
        Ok((config.get_ssl_mode(), matches!(tls, Tls::Verified(_))))
    }

    #[test]
    fn sslmode_means_what_it_means_elsewhere() {
        let modes = [
            ("", (SslMode::Require, true)),
            ("?sslmode=disable", (SslMode::Disable, false)),
            ("?sslmode=prefer", (SslMode::Prefer, false)),
            ("?connect_timeout=3&sslmode=require", (SslMode::Require, false)),
            ("?sslmode=verify-full&application_name=x", (SslMode::Require, true)),
        ];
        for (query, expected) in modes {
            let found = mode(&format!("postgres://gateway:hunter2@db.example:5433/intents{query}"));
            assert_eq!(found.expect("it is well-formed"), expected, "{query}");
        }
    }

    #[test]
    fn a_server_elsewhere_is_verified_unless_the_address_says_otherwise() {
        let local = ["localhost", "127.0.0.1", "127.3.2.1:5433", "[::1]", "%2Frun%2Fpostgresql", "localhost,127.0.0.1"];
        for host in local {
            let found = mode(&format!("postgres://gateway@{host}/intents")).expect("it is well-formed");
            assert_eq!(found, (SslMode::Prefer, false), "{host}");
        }
        let elsewhere = ["db.example", "192.0.2.1", "0.0.0.0", "localhost,db.example", "localhost.example"];
        for host in elsewhere {
            let found = mode(&format!("postgres://gateway@{host}/intents")).expect("it is well-formed");
            assert_eq!(found, (SslMode::Require, true), "{host}");
        }
        let addressed = |address: &str| mode(&format!("postgres://gateway@localhost/intents?hostaddr={address}"));
        assert_eq!(addressed("192.0.2.1").expect("it is well-formed").0, SslMode::Require);
        assert_eq!(addressed("127.0.0.1").expect("it is well-formed").0, SslMode::Prefer);
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
