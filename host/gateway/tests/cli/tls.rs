//! A gateway that serves over TLS itself: it says so, and shows a renewed certificate without a restart.

use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::{Serving, gateway};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority")
}

/// Puts a new certificate for `localhost` where the configuration says.
fn write_certificate(folder: &Path, by: &Authority) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters");
    let certificate = params.signed_by(&key, by).expect("signed");
    std::fs::write(folder.join("chain.pem"), certificate.pem()).expect("written");
    std::fs::write(folder.join("key.pem"), key.serialize_pem()).expect("written");
}

/// Whether somebody who trusts an authority is answered.
fn is_answered(serving: &Serving, trusted: &Authority) -> bool {
    let certificate = Certificate::from_pem(trusted.pem().as_bytes()).expect("PEM").to_owned();
    let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[certificate])).build();
    let agent = ureq::Agent::config_builder().tls_config(tls).max_idle_connections(0).build().new_agent();
    let port = serving.address.rsplit(':').next().expect("a port");
    agent.get(format!("https://localhost:{port}/health")).call().is_ok_and(|answer| answer.status() == 200)
}

#[test]
fn a_renewed_certificate_is_shown_at_a_hangup() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (authority(), authority());
    write_certificate(folder.path(), &first);
    let config = "[server]\ntls_certificate = \"chain.pem\"\ntls_key = \"key.pem\"\n";
    std::fs::write(folder.path().join("gateway.toml"), config).expect("written");
    let mut serving = Serving::start(folder.path(), &["--config", "gateway.toml"]);
    assert!(is_answered(&serving, &first) && !is_answered(&serving, &second));
    write_certificate(folder.path(), &second);
    serving.signal(rustix::process::Signal::HUP);
    serving.read_log_until("SIGHUP: the configuration was read");
    assert!(is_answered(&serving, &second) && !is_answered(&serving, &first));

    // Half a renewal is told, and the certificate before is shown.
    std::fs::write(folder.path().join("key.pem"), KeyPair::generate().expect("a key").serialize_pem())
        .expect("written");
    serving.signal(rustix::process::Signal::HUP);
    serving.read_log_until("the listener's certificate cannot be read again");
    assert!(is_answered(&serving, &second));
    let (code, log) = serving.stop();
    assert_eq!(code, Some(0), "{log}");

    let doctor = gateway(folder.path()).args(["doctor", "--offline", "--json", "--config", "gateway.toml"]).output();
    let found = String::from_utf8(doctor.expect("it runs").stdout).expect("text");
    assert!(found.contains("CERTIFICATE_UNUSABLE"), "{found}");

    let refused = gateway(folder.path()).args(["serve", "--config", "gateway.toml"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("the listener cannot serve over TLS"), "{said}");
}
