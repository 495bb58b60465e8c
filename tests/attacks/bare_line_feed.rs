//! Lines that end with a bare line feed, or hold a bare return, which a proxy in front may read otherwise than the gateway (RFC 9112, 2.2
//! and 11.2). Whatever is sent, the gateway reads one request with one end, or refuses it and closes the connection: what is hidden in
//! a body is no request of its own.

use super::smuggled_request::{HIDDEN, send};
use crate::harness::{Gateway, GatewayOptions};

/// A body that the route takes.
const BODY: &str = r#"{"email":"asha@coolcar.example"}"#;
const POST: &str = "POST /api/v1/business/sign-in HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\n";

/// The body as chunks, the lines of the first and of the last one as they are given.
fn chunks(first: &str, after: &str, last: &str) -> String {
    format!("{:x}{first}{BODY}{after}0{last}", BODY.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_doubtful_is_refused_and_nothing_after_it_is_served() {
    let gateway = Gateway::start(&GatewayOptions::default());
    let length = HIDDEN.len();
    let head = |fields: &str| format!("{POST}{fields}\r\n");
    let chunked = |body: String| format!("{POST}transfer-encoding: chunked\r\n\r\n{body}");
    for (what, request) in [
        ("two lengths", head(&format!("content-length: 5\ncontent-length: {length}\r\n"))),
        ("a field that goes on after a line feed", head("transfer-encoding:\n chunked\r\n")),
        ("a length that goes on after a line feed", head("content-length: 5\n 0\r\n")),
        ("a return in a field", head("x-a: b\rcontent-length: 5\r\n")),
        ("a return in a length", head("content-length: 5\r0\r\n")),
        ("a return before the end of a line", head("content-length: 5\r\r\n")),
        ("a return in place of the end of the head", format!("{POST}content-length: 5\r\r")),
        ("a line feed in the first line", POST.replacen(" HTTP/1.1", "\nHTTP/1.1", 1) + "\r\n"),
        ("a line feed after the size of a chunk", chunked(chunks("\n", "\r\n", "\r\n\r\n"))),
        ("a line feed after an extension", chunked(chunks(";a=b\n", "\r\n", "\r\n\r\n"))),
        ("a line feed within an extension", chunked(chunks(";a\nb\r\n", "\r\n", "\r\n\r\n"))),
        ("a return within the line of a chunk", chunked(chunks("\r0\r\n", "\r\n", "\r\n\r\n"))),
        ("a line feed after a chunk", chunked(chunks("\r\n", "\n", "\r\n\r\n"))),
        ("a line feed after the last chunk", chunked(chunks("\r\n", "\r\n", "\n\n"))),
    ] {
        let answer = send(&gateway, &format!("{request}{HIDDEN}")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{what}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{what}: {answer}");
        assert!(!answer.contains("hidden"), "{what}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_accepted_is_read_once_with_one_end() {
    let gateway = Gateway::start(&GatewayOptions::default());
    let lines = |text: &str| text.replace("\r\n", "\n");
    let close = "connection: close\r\n";
    let length = BODY.len();
    // A length beside chunks: the request is read by its chunks, and is the last of its connection, whatever the length says.
    let doubtful = |fields: &str| format!("{POST}{fields}\r\n{}", chunks("\r\n", "\r\n", "\r\n\r\n"));
    for (what, request) in [
        (
            "lines that end with line feeds",
            format!("{}content-length: {length}\n\n{BODY}", lines(&format!("{POST}{close}"))),
        ),
        ("one line that does", format!("{POST}{close}x-a: b\ncontent-length: {length}\r\n\r\n{BODY}")),
        (
            "chunks after such lines",
            format!(
                "{}\n{}",
                lines(&format!("{POST}{close}transfer-encoding: chunked\r\n")),
                chunks("\r\n", "\r\n", "\r\n\r\n")
            ),
        ),
        ("a length, a line feed, chunks", doubtful("content-length: 5\ntransfer-encoding: chunked\r\n")),
        ("chunks, a line feed, a length", doubtful("transfer-encoding: chunked\ncontent-length: 5\r\n")),
        ("a field that hides chunks", doubtful("x-a: b\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n")),
        // What some take for the end of all chunks, or of the trailer, is none here: it goes on to the end of what is hidden.
        (
            "a line feed after all chunks",
            format!("{POST}{close}transfer-encoding: chunked\r\n\r\n{}", chunks("\r\n", "\r\n", "\r\n\n")),
        ),
        (
            "line feeds in a trailer",
            format!("{POST}{close}transfer-encoding: chunked\r\n\r\n{}", chunks("\r\n", "\r\n", "\r\nx-a: b\n\n")),
        ),
    ] {
        let answer = send(&gateway, &format!("{request}{HIDDEN}")).await;
        assert!(answer.starts_with("HTTP/1.1 202"), "{what}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{what}: {answer}");
        assert!(!answer.contains("hidden"), "{what}: {answer}");
    }
    // A whole request in a body, behind a head of line feeds, is a body.
    let head = lines(&format!("{POST}{close}content-length: {}\r\n\r\n", HIDDEN.len()));
    let answer = send(&gateway, &format!("{head}{HIDDEN}")).await;
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("INVALID_JSON"), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    // Two requests of line feeds are two, in their order: the test would see one that is served beside another.
    let ask = |id: &str, more: &str| {
        lines(&format!("GET /health HTTP/1.1\r\nhost: here\r\nx-request-id: {id}\r\n{more}\r\n"))
    };
    let answer = send(&gateway, &format!("{}{}", ask("first", ""), ask("second", close))).await;
    let place = |id: &str| answer.find(&format!("x-request-id: {id}")).unwrap_or_else(|| panic!("{id}: {answer}"));
    assert!(place("first") < place("second"), "{answer}");
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 2, "{answer}");
}
