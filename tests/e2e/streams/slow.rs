//! A reader that does not read: what it costs, and what it gets when it reads again.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use super::partner::{Partner, Track};
use super::reader::Reader;
use super::{TRACK, booked, gateway, of_order, options, path};
use crate::harness::Gateway;

/// Words of the partner.
const WORDS: usize = 1_200;
/// Texts of one.
const TEXTS: usize = 3;
/// Bytes of a text: as long as one may be. All together are more than the kernel keeps for a connection that is not read.
const TEXT_BYTES: usize = 4_000;
/// Bytes that the gateway may grow by, while 14 MB pass through it.
const GROWTH_MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes that the kernel keeps for the reader's side.
const RECEIVE_BUFFER_BYTES: u32 = 4 * 1024;

/// How long the gateway may take to close a connection; its idle time is a second there.
const CLOSED_MAX: Duration = Duration::from_secs(10);

/// A connection that has asked for the stream and reads nothing.
async fn stalled(gateway: &Gateway, reference: &str) -> TcpStream {
    let address = gateway.server.url.strip_prefix("http://").expect("plain HTTP").parse().expect("an address");
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES).expect("settable");
    let mut stream = socket.connect(address).await.expect("connected");
    let body = of_order(reference).to_string();
    let request = format!(
        "POST {} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        path(&format!("tools/{TRACK}/stream")),
        gateway.orchestrator_token(),
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    stream
}

fn word(number: usize) -> Value {
    json!({"progress": number, "texts": vec!["x".repeat(TEXT_BYTES); TEXTS]})
}

/// The text of a body in chunks, as far as it has come.
fn unchunked(mut bytes: &[u8]) -> String {
    let mut text = Vec::new();
    while let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let (start, size) = (end + 2, size.expect("the size of a chunk"));
        text.extend_from_slice(&bytes[start..bytes.len().min(start + size)]);
        bytes = bytes.get(start + size + 2..).unwrap_or_default();
    }
    String::from_utf8(text).expect("UTF-8")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_does_not_read_costs_nothing_and_goes_on_at_the_newest_state() {
    let partner = Partner::start("a", &[10]).await;
    let gateway = gateway(&[("a", &partner.url)], "");
    let reference = booked(&gateway).await;
    partner.track(Track::Stream);
    let mut reader = Reader::follow(&gateway, &reference).await;
    partner.until("the ride is streamed", |counts| counts.open == 1).await;
    let mut stalled = stalled(&gateway, &reference).await;
    // It has joined once it is told what the other one is told.
    partner.tell(word(0));
    reader.expect("progress").await;
    stalled.readable().await.expect("connected");

    let mut before = 0;
    for number in 1..WORDS {
        partner.tell(word(number));
        let told = reader.expect("progress").await;
        assert_eq!((&told.data["params"]["progress"], &told.data["missed"]), (&json!(number), &Value::Null));
        if number == 100 {
            before = gateway.server.resident_bytes();
        }
    }
    let grown = gateway.server.resident_bytes().saturating_sub(before);
    assert!(grown < GROWTH_MAX_BYTES, "grown by {grown} bytes");

    tokio::time::sleep(Duration::from_secs(5)).await;
    partner.end(json!({"status": "arrived"}));
    reader.expect("update").await;
    reader.expect("end").await;
    let text = read_to_the_end(&mut stalled).await;
    let missed: Vec<u64> = text
        .split("\"missed\":")
        .skip(1)
        .filter_map(|rest| rest.split('}').next().and_then(|count| count.parse().ok()))
        .collect();
    let told = text.matches("event: ").count();
    assert_eq!(missed.len(), 1, "it is told once that it was too slow: {missed:?}");
    assert_eq!(told + usize::try_from(missed[0]).expect("small"), WORDS + 2, "and nothing is lost unsaid");
    assert!(told < WORDS, "the kernel has not kept everything: {told}");
    assert!(
        text.trim_end().ends_with(r#"data: {"reason":"complete","resume":false}"#),
        "{}",
        &text[text.len() - 200..]
    );
    assert!(text.contains(r#""status":"arrived"#));
}

async fn read_to_the_end(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n0\r\n\r\n") {
        let read = tokio::time::timeout(Duration::from_secs(30), stream.read_buf(&mut bytes)).await;
        assert_ne!(read.expect("in time").expect("readable"), 0, "cut off");
    }
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
    unchunked(&bytes[head + 4..])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_on_which_nothing_is_read_is_closed_and_one_on_which_little_happens_is_not() {
    let partner = Partner::start("a", &[10]).await;
    let folder = Gateway::folder_for(&options(&[("a", &partner.url)], "[streams]\nheartbeat_ms = 200\n"));
    let file = folder.path().join("gateway.toml");
    let config = std::fs::read_to_string(&file).expect("readable");
    std::fs::write(&file, config.replace("[server]", "[server]\nidle_timeout_ms = 1000")).expect("writable");
    let gateway = Gateway::start_in(folder);
    let reference = booked(&gateway).await;
    partner.track(Track::Stream);
    let mut reader = Reader::follow(&gateway, &reference).await;
    partner.until("the ride is streamed", |counts| counts.open == 1).await;
    // Three times as long as a connection may be idle.
    reader.until_heartbeats(15).await;

    let before = gateway.server.open_files();
    let _stalled = stalled(&gateway, &reference).await;
    for number in 0..WORDS {
        partner.tell(word(number));
        reader.expect("progress").await;
    }
    let deadline = Instant::now() + CLOSED_MAX;
    while gateway.server.open_files() > before {
        assert!(Instant::now() < deadline, "a connection that nobody reads is still open");
        reader.until_heartbeats(reader.heartbeats + 1).await;
    }
    partner.tell(word(WORDS));
    reader.expect("progress").await;
}
