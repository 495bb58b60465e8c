use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::ReceivedBody;
use crate::wire::Wire;
use crate::{PartnerClient, PartnerClientConfig};

const KEPT: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
const EMPTY: &[u8] = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok";
const HALF: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no";

/// What the server does with a request.
#[derive(Clone, Copy)]
enum Does {
    Answers(&'static [u8]),
    AnswersAndCloses(&'static [u8]),
    Closes,
}

/// A server that does one thing after the other, whichever connection a request comes over.
struct Scripted {
    address: String,
    accepted: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
    /// Told of each connection that the client has closed.
    closed: mpsc::UnboundedReceiver<()>,
}

async fn serve(script: &'static [Does]) -> Scripted {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let (accepted, requests) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (told, closed) = mpsc::unbounded_channel();
    let counters = (Arc::clone(&accepted), Arc::clone(&requests));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counters.0.fetch_add(1, Ordering::SeqCst);
            let (requests, told) = (Arc::clone(&counters.1), told.clone());
            tokio::spawn(async move {
                if answer(stream, script, &requests).await {
                    told.send(()).expect("the test waits");
                }
            });
        }
    });
    Scripted { address, accepted, requests, closed }
}

/// Serves one connection; whether it was the client that closed it.
async fn answer(mut stream: TcpStream, script: &[Does], requests: &AtomicUsize) -> bool {
    let mut head = Vec::new();
    loop {
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return true,
            }
        }
        head.clear();
        let turn = requests.fetch_add(1, Ordering::SeqCst);
        let (answer, closes) = match script[turn % script.len()] {
            Does::Answers(answer) => (answer, false),
            Does::AnswersAndCloses(answer) => (answer, true),
            Does::Closes => return false,
        };
        stream.write_all(answer).await.expect("it is read");
        if closes {
            // The end goes out before anybody can send the next request.
            stream.shutdown().await.expect("it was open");
            return false;
        }
    }
}

impl Scripted {
    fn counts(&self) -> (usize, usize) {
        (self.accepted.load(Ordering::SeqCst), self.requests.load(Ordering::SeqCst))
    }

    async fn get(&self, wire: &Wire) -> Result<Response<ReceivedBody>, String> {
        let request = Request::get(&self.address).body(Full::new(Bytes::new())).expect("a request");
        wire.exchange(request).await.map_err(|failure| failure.to_string())
    }

    async fn text(&self, wire: &Wire) -> Result<Bytes, String> {
        let body = self.get(wire).await?.into_body();
        body.collect().await.map(|body| body.to_bytes()).map_err(|error| error.to_string())
    }
}

fn wire(change: impl FnOnce(&mut PartnerClientConfig)) -> Wire {
    let mut config = PartnerClientConfig { allow_loopback_http: true, ..PartnerClientConfig::default() };
    change(&mut config);
    PartnerClient::new(&config).expect("sound settings").wire().clone()
}

#[tokio::test]
async fn a_connection_whose_answer_was_read_serves_again() {
    let server = serve(&[Does::Answers(KEPT), Does::Answers(CHUNKED), Does::Answers(EMPTY)]).await;
    let wire = wire(|_| {});
    for turn in 0..6 {
        let expected: &[u8] = if turn % 3 == 2 { b"" } else { b"ok" };
        assert_eq!(server.text(&wire).await.as_deref(), Ok(expected));
    }
    assert_eq!(server.counts(), (1, 6));
    // Nobody has to read the body of an answer without one.
    for _ in 0..2 {
        assert_eq!(server.text(&wire).await.as_deref(), Ok(&b"ok"[..]));
        assert_eq!(server.text(&wire).await.as_deref(), Ok(&b"ok"[..]));
        drop(server.get(&wire).await.expect("an answer"));
    }
    assert_eq!(server.counts(), (1, 12));
}

#[tokio::test]
async fn each_of_several_requests_has_a_connection_of_its_own() {
    let server = serve(&[Does::Answers(KEPT)]).await;
    let wire = wire(|config| config.max_concurrent_calls_per_partner = 2);
    let three = || async {
        let (one, two, three) = tokio::join!(server.get(&wire), server.get(&wire), server.get(&wire));
        for response in [one, two, three] {
            response.expect("an answer").into_body().collect().await.expect("whole");
        }
    };
    three().await;
    assert_eq!(server.counts(), (3, 3));
    three().await;
    assert_eq!(server.counts(), (4, 6), "two of them were kept");
}

#[tokio::test]
async fn a_request_that_a_closed_connection_did_not_take_goes_out_over_another() {
    let server = serve(&[Does::AnswersAndCloses(KEPT)]).await;
    let wire = wire(|_| {});
    for _ in 0..5 {
        assert_eq!(server.text(&wire).await.as_deref(), Ok(&b"ok"[..]));
    }
    assert_eq!(server.counts(), (5, 5));
}

#[tokio::test]
async fn a_connection_that_the_server_will_close_is_not_kept() {
    let server = serve(&[Does::Answers(LAST)]).await;
    let wire = wire(|_| {});
    for _ in 0..3 {
        assert_eq!(server.text(&wire).await.as_deref(), Ok(&b"ok"[..]));
    }
    assert_eq!(server.counts(), (3, 3));
}

#[tokio::test]
async fn a_request_that_may_have_been_taken_is_not_sent_again() {
    let server = serve(&[Does::Answers(KEPT), Does::Closes]).await;
    let wire = wire(|_| {});
    assert!(server.text(&wire).await.is_ok());
    assert!(server.text(&wire).await.is_err(), "over the connection that was kept");
    assert_eq!(server.counts(), (1, 2));
    assert!(server.text(&wire).await.is_ok());
    assert_eq!(server.counts(), (2, 3));
}

#[tokio::test]
async fn who_lets_go_of_an_answer_half_way_closes_its_connection() {
    let mut server = serve(&[Does::Answers(HALF)]).await;
    let wire = wire(|_| {});
    let mut body = server.get(&wire).await.expect("the head has come").into_body();
    let piece = body.frame().await.expect("a piece").expect("it came").into_data().expect("data");
    assert_eq!(piece, "o");
    drop(body);
    server.closed.recv().await.expect("the connection was closed");
    drop(server.get(&wire).await);
    server.closed.recv().await.expect("so was the next");
    assert_eq!(server.counts(), (2, 2));
}

#[tokio::test]
async fn a_connection_that_has_waited_for_long_is_closed() {
    let mut server = serve(&[Does::Answers(KEPT)]).await;
    let wire = wire(|config| config.pool_idle_secs = 60);
    let later = async |secs| {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(secs)).await;
        tokio::time::resume();
    };
    assert!(server.text(&wire).await.is_ok());
    later(59).await;
    wire.sweep();
    assert!(server.text(&wire).await.is_ok());
    assert_eq!(server.counts(), (1, 2));
    later(61).await;
    assert!(server.text(&wire).await.is_ok());
    assert_eq!(server.counts(), (2, 3), "the first has waited for too long");
    server.closed.recv().await.expect("it was closed");
    later(61).await;
    wire.sweep();
    server.closed.recv().await.expect("so was the second");
}
