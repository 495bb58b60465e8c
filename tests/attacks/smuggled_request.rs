//! A request whose end a proxy in front reads at another place than the gateway: what the proxy takes for its body would be a request of
//! its own, of whoever the connection is used for (RFC 9112, 11.2).

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::{Gateway, GatewayOptions};

/// How long the gateway may take to answer and to close.
const PATIENCE: Duration = Duration::from_secs(20);
/// What must not be served as a request.
pub(super) const HIDDEN: &str = "GET /health HTTP/1.1\r\nhost: here\r\nx-request-id: hidden\r\n\r\n";

/// All that comes back on a connection on which this was sent, until the gateway closes it.
pub(super) async fn send(gateway: &Gateway, text: &str) -> String {
    let address = gateway.server.url.trim_start_matches("http://");
    let asked = async {
        let mut stream = TcpStream::connect(address).await.expect("the gateway listens");
        stream.write_all(text.as_bytes()).await.expect("written");
        let mut answer = Vec::new();
        // A connection that is reset with something unread has been closed, too.
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8(answer).expect("text")
    };
    tokio::time::timeout(PATIENCE, asked).await.expect("the gateway closes the connection")
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_after_a_doubtful_end_is_served() {
    let gateway = Gateway::start(&GatewayOptions::default());
    let length = "0\r\n\r\n".len() + HIDDEN.len();
    for (what, head) in [
        ("a length and chunks", format!("content-length: {length}\r\ntransfer-encoding: chunked\r\n")),
        ("chunks and a length", format!("transfer-encoding: chunked\r\ncontent-length: {length}\r\n")),
        ("two lengths", format!("content-length: 5\r\ncontent-length: {length}\r\n")),
        ("two lengths in one field", format!("content-length: 5, {length}\r\n")),
        ("a length with a sign", "content-length: +5\r\n".to_owned()),
        ("chunks that are not last", "transfer-encoding: chunked, identity\r\n".to_owned()),
        ("a space before the colon", "transfer-encoding : chunked\r\n".to_owned()),
        ("a field that goes on in the next line", "transfer-encoding:\r\n chunked\r\n".to_owned()),
        ("a return in a field", "x-a: b\rtransfer-encoding: chunked\r\n".to_owned()),
    ] {
        let request = format!("POST /api/v1/business/sign-in HTTP/1.1\r\nhost: here\r\n{head}\r\n0\r\n\r\n{HIDDEN}");
        let answer = send(&gateway, &request).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{what}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{what}: {answer}");
        assert!(!answer.contains("hidden"), "{what}: {answer}");
    }
    // Without doubt, what comes after is a request of its own: the test would see it.
    let plain = "POST /api/v1/business/sign-in HTTP/1.1\r\nhost: here\r\ncontent-length: 5\r\n\r\n0\r\n\r\n";
    let answer =
        send(&gateway, &format!("{plain}{}", HIDDEN.replace("host: here", "host: here\r\nconnection: close"))).await;
    assert!(answer.contains("x-request-id: hidden"), "{answer}");
}
