//! Mail against a real SMTP server (aiosmtpd, `tests/servers/smtp_server.py`), and the outbox.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use intent_gateway_domain::clock::SystemClock;
use intent_gateway_domain::mail::{Mail, MailError};
use intent_gateway_domain::ports::Mailer;
use intent_gateway_domain::secret::Secret;
use intent_gateway_mail::{MailConfig, MailMode, MailSetupError, MailTls, OUTBOX_FILE, mailer};
use tempfile::TempDir;
use test_servers::smtp::{ReceivedMail, SmtpOptions, SmtpServer, SmtpTls};

const USER: &str = "gateway";
const PASSWORD: &str = "correct horse battery";

fn mail(to: &str) -> Mail {
    Mail {
        to: to.to_owned(),
        subject: "Your code for the partner platform – नमस्ते".to_owned(),
        text: "Your code is 493817.\n\n.\nFrom here on it is good for ten minutes. धन्यवाद\n".to_owned(),
    }
}

/// A server with what it demands, and a folder that both share.
struct Rig {
    server: SmtpServer,
    folder: TempDir,
    certificate: PathBuf,
}

#[derive(Clone, Copy)]
enum Tls {
    None,
    Starttls,
    Implicit,
}

impl Rig {
    fn start(tls: Tls, login: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("mails");
        std::fs::create_dir(&kept).unwrap();
        let (certificate, key) = make_certificate(folder.path());
        let with_tls = |implicit| Some(SmtpTls { certificate: certificate.clone(), key: key.clone(), implicit });
        let tls = match tls {
            Tls::None => None,
            Tls::Starttls => with_tls(false),
            Tls::Implicit => with_tls(true),
        };
        let login = login.then(|| (USER.to_owned(), PASSWORD.to_owned()));
        let server = SmtpServer::start(&kept, &SmtpOptions { tls, login }).unwrap();
        Self { server, folder, certificate }
    }

    /// A configuration for this server with the given protection.
    fn config(&self, tls: MailTls) -> MailConfig {
        MailConfig {
            mode: MailMode::Smtp,
            from: "Intent Gateway <no-reply@gw.example>".to_owned(),
            host: "localhost".to_owned(),
            port: Some(self.server.port()),
            tls,
            ca_file: Some(self.certificate.clone()),
            ..MailConfig::default()
        }
    }

    fn with_login(&self, tls: MailTls, password: &str) -> MailConfig {
        let (user, password) = (Some(USER.to_owned()), Some(Secret::new(password)));
        MailConfig { user, password, ..self.config(tls) }
    }

    fn mailer(&self, config: &MailConfig) -> Arc<dyn Mailer> {
        mailer(config, self.folder.path(), Arc::new(SystemClock)).unwrap()
    }

    fn mails(&self) -> Vec<ReceivedMail> {
        self.server.mails().unwrap()
    }
}

/// A self-signed certificate for `localhost` and its key, as PEM files.
fn make_certificate(folder: &Path) -> (PathBuf, PathBuf) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    (certificate, key)
}

#[tokio::test]
async fn a_mail_arrives_over_starttls_with_a_login() {
    let rig = Rig::start(Tls::Starttls, true);
    let sent = mail("asha@coolcar.example");
    rig.mailer(&rig.with_login(MailTls::Starttls, PASSWORD)).send(&sent).await.unwrap();

    let mails = rig.mails();
    let [got] = mails.as_slice() else { panic!("{mails:?}") };
    assert_eq!((got.sender.as_str(), got.recipients.as_slice()), ("no-reply@gw.example", &[sent.to.clone()][..]));
    assert_eq!((got.tls, got.user.as_deref(), got.hello.as_str()), (true, Some(USER), "gw.example"));
    assert_eq!(got.header("Subject"), Some(sent.subject.as_str()));
    assert_eq!(got.header("From"), Some("Intent Gateway <no-reply@gw.example>"));
    assert_eq!(got.header("To"), Some(sent.to.as_str()));
    assert_eq!(got.header("Auto-Submitted"), Some("auto-generated"));
    assert!(got.header("Date").is_some() && got.header("Message-ID").is_some_and(|id| id.ends_with("@gw.example>")));
    // SMTP ends the text with a line end of its own.
    assert_eq!(got.text, format!("{}\n", sent.text).replace('\n', "\r\n"));
    rig.server.stop().unwrap();
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_certificate_are_no_judgement_on_the_mail() {
    let rig = Rig::start(Tls::Starttls, true);
    let refused = rig.mailer(&rig.with_login(MailTls::Starttls, "wrong horse")).send(&mail("a@b.example")).await;
    let Err(MailError::Temporary(reason)) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("535") && !reason.contains("wrong horse"), "{reason}");

    for tls in [MailTls::Starttls, MailTls::Opportunistic] {
        let strange = MailConfig { ca_file: None, ..rig.with_login(tls, PASSWORD) };
        let refused = rig.mailer(&strange).send(&mail("a@b.example")).await;
        let Err(MailError::Temporary(reason)) = refused else { panic!("{refused:?}") };
        assert!(reason.contains("certificate"), "{reason}");
        // The certificate is for `localhost` alone.
        let elsewhere = MailConfig { host: "127.0.0.1".to_owned(), ..rig.with_login(tls, PASSWORD) };
        let refused = rig.mailer(&elsewhere).send(&mail("a@b.example")).await;
        assert!(matches!(&refused, Err(MailError::Temporary(reason)) if reason.contains("certificate")), "{refused:?}");
    }
    assert!(rig.mails().is_empty());
}

#[tokio::test]
async fn tls_from_the_first_byte() {
    let rig = Rig::start(Tls::Implicit, true);
    rig.mailer(&rig.with_login(MailTls::Implicit, PASSWORD)).send(&mail("a@b.example")).await.unwrap();
    assert_eq!(rig.mails()[0].user.as_deref(), Some(USER));
}

#[tokio::test]
async fn starttls_is_never_given_up_and_opportunistic_takes_what_there_is() {
    let plain = Rig::start(Tls::None, false);
    let refused = plain.mailer(&plain.config(MailTls::Starttls)).send(&mail("a@b.example")).await;
    assert!(matches!(&refused, Err(MailError::Temporary(reason)) if reason.contains("STARTTLS")), "{refused:?}");
    assert!(plain.mails().is_empty());
    for tls in [MailTls::Opportunistic, MailTls::None] {
        plain.mailer(&plain.config(tls)).send(&mail("a@b.example")).await.unwrap();
    }
    assert!(plain.mails().iter().all(|mail| !mail.tls));

    let offering = Rig::start(Tls::Starttls, false);
    offering.mailer(&offering.config(MailTls::Opportunistic)).send(&mail("a@b.example")).await.unwrap();
    assert!(offering.mails()[0].tls);
}

#[tokio::test]
async fn refusals_for_ever_are_told_from_those_for_now_and_harm_no_other_mail() {
    let rig = Rig::start(Tls::None, false);
    let mailer = rig.mailer(&rig.config(MailTls::None));
    for (to, code, permanent) in [
        ("rcpt-550@b.example", "550", true),
        ("rcpt-451@b.example", "451", false),
        ("data-554@b.example", "554", true),
        ("data-452@b.example", "452", false),
        // The server wants a login: that says nothing of the mail.
        ("rcpt-530@b.example", "530", false),
    ] {
        let refused = mailer.send(&mail(to)).await;
        let (reason, is_permanent) = match &refused {
            Err(MailError::Permanent(reason)) => (reason, true),
            Err(MailError::Temporary(reason)) => (reason, false),
            Ok(()) => panic!("{to} was taken"),
        };
        assert_eq!(is_permanent, permanent, "{to}: {reason}");
        assert!(reason.contains(code) && !reason.contains("493817"), "{reason}");
        mailer.send(&mail("good@b.example")).await.unwrap();
    }
    assert_eq!(rig.mails().len(), 5);
}

#[tokio::test]
async fn connections_are_used_again_and_few() {
    let rig = Rig::start(Tls::None, false);
    let mailer = rig.mailer(&rig.config(MailTls::None));
    for _ in 0..3 {
        mailer.send(&mail("a@b.example")).await.unwrap();
    }
    assert!(rig.mails().iter().all(|mail| mail.connection == 1), "{:?}", rig.mails());
    let many = (0..20).map(|number| {
        let mailer = Arc::clone(&mailer);
        async move { mailer.send(&mail(&format!("many-{number}@b.example"))).await }
    });
    assert!(futures_util::future::join_all(many).await.into_iter().all(|sent| sent.is_ok()));
    let mails = rig.mails();
    assert_eq!(mails.len(), 23);
    assert!(mails.iter().all(|mail| mail.connection <= 4), "{mails:?}");
}

#[tokio::test]
async fn a_server_that_is_down_may_come_back() {
    let rig = Rig::start(Tls::None, false);
    let config = rig.config(MailTls::None);
    let mailer = rig.mailer(&config);
    mailer.send(&mail("a@b.example")).await.unwrap();
    rig.server.stop().unwrap();
    // The parked connection is dead, and so is the server.
    let refused = mailer.send(&mail("a@b.example")).await;
    assert!(matches!(refused, Err(MailError::Temporary(_))), "{refused:?}");
}

/// Plays a server: answers the lines that a client sends until the client starts its text, then never again.
fn fall_silent_after_data(listener: &TcpListener) -> TcpStream {
    let (stream, _) = listener.accept().unwrap();
    let mut writer = stream.try_clone().unwrap();
    writer.write_all(b"220 slow\r\n").unwrap();
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        writer.write_all(if line == "DATA" { b"354 go on\r\n" } else { b"250 OK\r\n" }).unwrap();
        if line == "DATA" {
            break;
        }
    }
    writer
}

#[tokio::test]
async fn a_silent_server_costs_one_deadline_and_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = Some(listener.local_addr().unwrap().port());
    let folder = tempfile::tempdir().unwrap();
    let config = MailConfig {
        mode: MailMode::Smtp,
        from: "no-reply@gw.example".to_owned(),
        host: "127.0.0.1".to_owned(),
        tls: MailTls::None,
        port,
        timeout_ms: 300,
        ..MailConfig::default()
    };
    let mailer = mailer(&config, folder.path(), Arc::new(SystemClock)).unwrap();
    // Each mail comes by a connection of its own, and the one before has been closed.
    let server =
        std::thread::spawn(move || -> Vec<TcpStream> { (0..2).map(|_| fall_silent_after_data(&listener)).collect() });
    for _ in 0..2 {
        let start = Instant::now();
        let refused = mailer.send(&mail("a@b.example")).await;
        assert_eq!(refused, Err(MailError::Temporary("no answer within 300 ms".to_owned())));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    for mut stream in server.join().unwrap() {
        let mut rest = Vec::new();
        assert!(stream.read_to_end(&mut rest).is_ok(), "it was closed, not kept for the next mail");
        assert!(rest.ends_with(b"\r\n.\r\n"), "{rest:?}");
    }
}

#[tokio::test]
async fn the_outbox_is_private_and_holds_one_line_a_mail() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(OUTBOX_FILE);
    std::fs::write(&file, "").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let mailer = mailer(&MailConfig::default(), folder.path(), Arc::new(SystemClock)).unwrap();
    let mode = || file.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);

    let many = (0..50).map(|number| {
        let mailer = Arc::clone(&mailer);
        async move { mailer.send(&mail(&format!("many-{number}@b.example"))).await }
    });
    assert!(futures_util::future::join_all(many).await.into_iter().all(|sent| sent.is_ok()));
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<Mail> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 50);
    assert!(lines.iter().all(|line| line.text == mail("x").text));
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["from"], "Intent Gateway <no-reply@localhost>");
    assert!(first["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{first}");

    // It may be moved away, and what no server would take is refused here too.
    std::fs::remove_file(&file).unwrap();
    mailer.send(&mail("a@b.example")).await.unwrap();
    assert_eq!(mode(), 0o600);
    let injected = Mail { subject: "a\r\nBcc: x@y.example".to_owned(), ..mail("a@b.example") };
    assert!(matches!(mailer.send(&injected).await, Err(MailError::Permanent(_))));
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 1);
}

#[tokio::test]
async fn a_full_or_missing_outbox_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let outbox_file = Some(folder.path().join("no/such/folder/outbox"));
    let config = MailConfig { outbox_file, ..MailConfig::default() };
    let none = mailer(&config, folder.path(), Arc::new(SystemClock));
    assert!(matches!(none, Err(MailSetupError::Outbox { .. })));

    let mailer = mailer(&MailConfig::default(), folder.path(), Arc::new(SystemClock)).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(folder.path().join(OUTBOX_FILE)).unwrap();
    file.set_len(16 * 1024 * 1024).unwrap();
    let full = mailer.send(&mail("a@b.example")).await;
    assert!(matches!(&full, Err(MailError::Temporary(reason)) if reason.contains("move it away")), "{full:?}");
}

#[test]
fn a_file_of_authorities_must_hold_one() {
    let folder = tempfile::tempdir().unwrap();
    let ca_file = folder.path().join("ca.pem");
    let config = MailConfig { mode: MailMode::Smtp, ca_file: Some(ca_file.clone()), ..MailConfig::default() };
    let set_up = || mailer(&config, folder.path(), Arc::new(SystemClock)).err();
    assert!(matches!(set_up(), Some(MailSetupError::CaFile { .. })));
    std::fs::write(&ca_file, "not a certificate").unwrap();
    assert!(matches!(set_up(), Some(MailSetupError::CaFile { .. })));
}
