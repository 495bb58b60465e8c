//! An attacker keeps the places of a gateway taken that others need: with bodies that do not arrive, and with connections on
//! which nothing is asked.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::harness::{Gateway, GatewayOptions};

/// More than requests without a token may be worked on at once.
const SLOW_BODIES: u8 = 40;
/// Connections that the second gateway takes.
const CONNECTIONS_MAX: usize = 32;
/// How long a client waits that wants in; the gateway lets slow and silent clients wait much longer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Patience of the gateways with slow and silent clients, milliseconds.
const GATEWAY_PATIENCE_MS: u64 = 300_000;
/// Addresses of this machine.
const ATTACKERS: [[u8; 4]; 2] = [[127, 0, 0, 2], [127, 0, 0, 3]];
const CLIENT: [u8; 4] = [127, 0, 0, 4];

async fn connect(gateway: &Gateway, from: [u8; 4]) -> TcpStream {
    let address = gateway.server.url.trim_start_matches("http://").parse().expect("an address");
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from((IpAddr::from(from), 0))).expect("an address of this machine");
    socket.connect(address).await.expect("the gateway listens")
}

/// What comes of a request on a connection of its own, whole.
async fn ask(gateway: &Gateway, request: &str) -> String {
    let asked = async {
        let mut stream = connect(gateway, CLIENT).await;
        stream.write_all(request.as_bytes()).await.expect("written");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        answer
    };
    tokio::time::timeout(PATIENCE, asked).await.expect("answered while others keep their places")
}

fn sign_in(body: &str) -> String {
    let length = body.len();
    format!(
        "POST /api/v1/business/sign-in HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_do_not_arrive_take_nobodys_place() {
    let server = format!("body_timeout_ms = {GATEWAY_PATIENCE_MS}\nrequest_timeout_ms = {GATEWAY_PATIENCE_MS}");
    let gateway = Gateway::start(&GatewayOptions { server, ..GatewayOptions::default() });
    let mut slow = Vec::new();
    for number in 0..SLOW_BODIES {
        let mut stream = connect(&gateway, ATTACKERS[usize::from(number % 2)]).await;
        let head = sign_in(&"x".repeat(100)).replace("\r\n\r\n", "\r\nexpect: 100-continue\r\n\r\n");
        let (head, _) = head.split_once("\r\n\r\n").expect("a head");
        stream.write_all(format!("{head}\r\n\r\n{{").as_bytes()).await.expect("written");
        // The gateway says that it waits for the body, or that it wants none.
        let mut start = [0_u8; 12];
        stream.read_exact(&mut start).await.expect("a word");
        slow.push((stream, start));
    }
    assert!(slow.iter().all(|(_, start)| start == b"HTTP/1.1 100"), "each of them waits");
    let answer = ask(&gateway, &sign_in(r#"{"email":"asha@coolcar.example"}"#)).await;
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_connections_shut_nobody_out() {
    let server = format!("max_connections = {CONNECTIONS_MAX}\nheader_read_timeout_ms = {GATEWAY_PATIENCE_MS}");
    let gateway = Gateway::start(&GatewayOptions { server, ..GatewayOptions::default() });
    let mut silent = Vec::new();
    for _ in 0..=CONNECTIONS_MAX {
        let mut stream = connect(&gateway, ATTACKERS[0]).await;
        // Half a head is no more than none.
        stream.write_all(b"GET /health HTTP/1.1\r\n").await.expect("written");
        silent.push(stream);
    }
    for _ in 0..3 {
        let answer = ask(&gateway, "GET /health HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}
