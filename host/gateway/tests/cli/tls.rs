//! A gateway that serves over TLS itself: it says so, shows a renewed certificate without a restart, and is asked by commands.

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
    write_certificate_of("localhost", by, [&folder.join("chain.pem"), &folder.join("key.pem")]);
}

/// Writes a new certificate for a name, and its key.
fn write_certificate_of(name: &str, by: &Authority, [chain, key_file]: [&Path; 2]) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
    let certificate = params.signed_by(&key, by).expect("signed");
    std::fs::write(chain, certificate.pem()).expect("written");
    std::fs::write(key_file, key.serialize_pem()).expect("written");
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

#[test]
fn commands_ask_a_gateway_whose_authority_they_are_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let (own, other) = (authority(), authority());
    write_certificate(folder.path(), &own);
    for (name, authority) in [("own.pem", &own), ("other.pem", &other)] {
        std::fs::write(folder.path().join(name), authority.pem()).expect("written");
    }
    let config = "[server]\ntls_certificate = \"chain.pem\"\ntls_key = \"key.pem\"\n";
    std::fs::write(folder.path().join("gateway.toml"), config).expect("written");
    let serving = Serving::start(folder.path(), &["--config", "gateway.toml"]);
    let port = serving.address.rsplit(':').next().expect("a port");
    let (named, numbered) = (format!("https://localhost:{port}"), format!("https://127.0.0.1:{port}"));
    let run = |arguments: &[&str], authorities: Option<&str>| {
        let mut command = gateway(folder.path());
        command.args(arguments).envs(authorities.map(|file| ("INTENT_GATEWAY_CA", file)));
        let output = command.output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };

    let token = gateway(folder.path())
        .args(["token", "--role", "admin", "--scope", "all", "--config", "gateway.toml"])
        .output()
        .expect("a token");
    let token = String::from_utf8(token.stdout).expect("text");
    let list = ["gateway", "list", "--token", token.trim(), "--gateway", &named];
    assert_eq!(run(&list, Some("own.pem")).0, Some(0), "{:?}", run(&list, Some("own.pem")));
    assert_eq!(run(&[&list[..], &["--ca", "own.pem"]].concat(), Some("other.pem")).0, Some(0), "a flag comes first");
    for refused in [None, Some("other.pem")] {
        let (code, said) = run(&list, refused);
        assert!(code == Some(1) && said.contains("certificate"), "{refused:?}: {code:?} {said}");
    }
    // A token goes to nobody who cannot show who it is, on this machine either.
    assert_eq!(run(&["gateway", "list", "--token", token.trim(), "--gateway", &numbered], Some("own.pem")).0, Some(1));
    let (code, said) = run(&list, Some("key.pem"));
    assert!(code == Some(2) && said.contains("key.pem"), "{code:?} {said}");

    // Whether it should get traffic, anybody may know: a check in an image has no name to ask for.
    let (code, said) = run(&["gateway", "health", "--gateway", &numbered], None);
    assert!(!said.contains("certificate"), "{code:?} {said}");
    assert_eq!(run(&["gateway", "health", "--live", "--gateway", &numbered], None).0, Some(0));
    let doctor = gateway(folder.path())
        .args(["doctor", "--offline", "--json", "--config", "gateway.toml"])
        .env("INTENT_GATEWAY__SERVER__LISTEN", format!("127.0.0.1:{port}"))
        .output()
        .expect("it runs");
    let found = String::from_utf8(doctor.stdout).expect("text");
    // That is what the gateway itself says.
    assert!(found.contains("No contract is live.") && !found.contains("GATEWAY_ABSENT"), "{found}");
    let (code, log) = serving.stop();
    assert_eq!(code, Some(0), "{log}");
}

#[test]
fn a_command_shows_an_orchestrators_certificate_where_it_is_asked_for_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (own, clients, other) = (authority(), authority(), authority());
    write_certificate(folder.path(), &own);
    std::fs::write(at("own.pem"), own.pem()).expect("written");
    std::fs::write(at("clients.pem"), clients.pem()).expect("written");
    write_certificate_of("assistant", &clients, [&at("me.pem"), &at("me.key")]);
    write_certificate_of("assistant", &other, [&at("stranger.pem"), &at("stranger.key")]);
    let config = "[server]\ntls_certificate = \"chain.pem\"\ntls_key = \"key.pem\"\ntls_client_ca = \"clients.pem\"\n";
    std::fs::write(at("gateway.toml"), config).expect("written");
    let serving = Serving::start(folder.path(), &["--config", "gateway.toml"]);
    let named = format!("https://localhost:{}", serving.address.rsplit(':').next().expect("a port"));
    let token = gateway(folder.path()).args(["token", "--role", "orchestrator", "--config", "gateway.toml"]).output();
    let token = String::from_utf8(token.expect("a token").stdout).expect("text");

    let ask = ["order", "list", "--user", "usr-1", "--token", token.trim(), "--gateway", &named, "--ca", "own.pem"];
    let run = |more: &[&str], set: &[(&str, &str)]| {
        let output = gateway(folder.path()).args(ask).args(more).envs(set.iter().copied()).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run(&[], &[]);
    assert!(code == Some(1) && said.contains("CLIENT_CERTIFICATE_NEEDED"), "{code:?} {said}");
    let flags = ["--client-cert", "me.pem", "--client-key", "me.key"];
    let pair = |certificate, key| [("INTENT_GATEWAY_CLIENT_CERT", certificate), ("INTENT_GATEWAY_CLIENT_KEY", key)];
    let (mine, strangers) = (pair("me.pem", "me.key"), pair("stranger.pem", "stranger.key"));
    for (code, said) in [run(&flags, &[]), run(&[], &mine), run(&flags, &strangers)] {
        assert_eq!((code, said.as_str()), (Some(0), ""));
    }
    let (code, said) = run(&[], &strangers);
    assert!(code == Some(1) && said.contains("no answer"), "{code:?} {said}");

    let profile = format!("[default]\ngateway = \"{named}\"\nclient_cert = \"me.pem\"\nclient_key = \"me.key\"\n");
    std::fs::write(at("profiles.toml"), profile).expect("written");
    let file = at("profiles.toml");
    let profiles = [("INTENT_GATEWAY_PROFILES", file.to_str().expect("text"))];
    assert_eq!(run(&[], &profiles), (Some(0), String::new()));

    // What is wrong with the files is told before anybody is asked.
    for (more, set, part) in [
        (&["--client-cert", "me.pem"][..], &[][..], "--client-key"),
        (&[], &mine[..1], "INTENT_GATEWAY_CLIENT_KEY"),
        (&[], &mine[1..], "INTENT_GATEWAY_CLIENT_CERT"),
        (&["--client-cert", "absent.pem", "--client-key", "me.key"], &[], "absent.pem"),
        (&["--client-cert", "me.pem", "--client-key", "me.pem"], &[], "no private key"),
    ] {
        let (code, said) = run(more, set);
        assert!(code == Some(2) && said.contains(part), "{more:?} {set:?}: {code:?} {said}");
    }
    let (code, log) = serving.stop();
    assert_eq!(code, Some(0), "{log}");
}
