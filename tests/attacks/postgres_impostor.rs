//! Somebody between the gateway and its PostgreSQL answers in the server's stead: there is no TLS here, and which password is it?

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use crate::harness::built;

/// What a client begins with that would like TLS: length and code.
const WANTS_TLS: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
/// Asks for the password in the clear.
const ASK_PASSWORD: [u8; 9] = [b'R', 0, 0, 0, 8, 0, 0, 0, 3];
const PASSWORD: &str = "the-password-of-the-store";
/// How long a client may take that has nothing more to say.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Answers one client; all that it says after it was refused TLS.
fn listen_in(mut client: TcpStream) -> Vec<u8> {
    client.set_read_timeout(Some(SILENCE_MAX)).expect("it is set");
    let mut first = [0; 8];
    client.read_exact(&mut first).expect("the client begins");
    assert_eq!(first, WANTS_TLS);
    client.write_all(b"N").expect("it listens");
    let mut heard = Vec::new();
    let mut bytes = [0; 1_024];
    while let Ok(read @ 1..) = client.read(&mut bytes) {
        heard.extend_from_slice(&bytes[..read]);
        // The first thing is who connects; the second would be the password.
        let _ = client.write_all(&ASK_PASSWORD);
        if heard.windows(PASSWORD.len()).any(|window| window == PASSWORD.as_bytes()) {
            break;
        }
    }
    heard
}

#[test]
fn nobody_is_told_the_password_who_is_not_the_server() {
    let impostor = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = impostor.local_addr().expect("bound").port();
    let folder = tempfile::tempdir().expect("a temporary folder");
    // No loopback address by its number; on this machine it leads there all the same.
    let url = format!("postgres://gateway:{PASSWORD}@0.0.0.0:{port}/gateway");
    let mut gateway = Command::new(built("debug/intent-gateway"))
        .args(["store", "check", "--state-dir"])
        .arg(folder.path())
        .env("INTENT_GATEWAY__STORE__URL", url)
        .env("INTENT_GATEWAY__AUTH__SIGNING_KEY", "s".repeat(32))
        .env("INTENT_GATEWAY__AUTH__MASTER_KEY", "m".repeat(32))
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let (client, _) = impostor.accept().expect("it connects");
    let heard = listen_in(client);
    assert_eq!(String::from_utf8_lossy(&heard), "", "it says nothing more to whoever has no certificate");
    drop(impostor);
    let mut said = String::new();
    gateway.stderr.take().expect("piped").read_to_string(&mut said).expect("it is text");
    assert!(!gateway.wait().expect("it ends").success());
    assert!(said.contains("`sslrootcert=FILE` in the address names"), "{said}");
}
