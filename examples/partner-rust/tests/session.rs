//! The built server over real HTTP: ready line, both answer forms, sessions, bearer, body limit, stop.
//! HTTP is spoken by hand on a socket, so that nothing of the server's own libraries is trusted.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

const REQUEST: &str = include_str!("../../catalogues/contract/search-request.json");
/// The longest that any answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

struct Partner {
    child: Child,
    address: String,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    /// The JSON-RPC message, from a plain body or from the one event of a stream.
    fn message(&self) -> Value {
        let text = self
            .body
            .lines()
            .find_map(|line| line.strip_prefix("data: {").map(|_| &line["data: ".len()..]))
            .unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Partner {
    fn start(options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_partner-rust"))
            .args(["--port", "0"])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a ready line");
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .and_then(|rest| rest.strip_suffix("/mcp"))
            .unwrap_or_else(|| panic!("not the ready line: {line:?}"))
            .to_owned();
        Self { child, address }
    }

    fn post(&self, method: &str, params: &Value, headers: &str) -> Answer {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}), headers)
    }

    fn send(&self, message: &Value, headers: &str) -> Answer {
        let body = message.to_string();
        let mut socket = self.connect();
        write!(
            socket,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n\
             Content-Length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        )
        .expect("a request");
        let mut text = String::new();
        socket.read_to_string(&mut text).expect("an answer");
        let (head, rest) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).expect("a status");
        let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        Answer { status, head: head.to_owned(), body: if chunked { dechunk(rest) } else { rest.to_owned() } }
    }

    fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(&self.address).expect("a connection");
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        socket
    }

    fn search(&self, headers: &str) -> Answer {
        let arguments: Value = serde_json::from_str(REQUEST).expect("the sample is JSON");
        self.call("search_ac_service_slots", &arguments, headers)
    }

    fn call(&self, tool: &str, arguments: &Value, headers: &str) -> Answer {
        let params = json!({"name": tool, "arguments": arguments});
        self.post("tools/call", &params, headers)
    }

    fn hello(&self) -> Answer {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        self.post("initialize", &params, "")
    }

    /// Asks the server to end, and expects that it does so cleanly and with nothing to complain of.
    fn stop(mut self) {
        let sent = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(sent.expect("kill runs").success());
        let status = self.child.wait().expect("the server ends");
        let mut complaints = String::new();
        let stderr = self.child.stderr.as_mut().expect("piped");
        stderr.read_to_string(&mut complaints).expect("text");
        assert!(status.success(), "{status}: {complaints}");
        assert_eq!(complaints, "");
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        // Already gone after `stop`; after a failed assertion, not.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn dechunk(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, tail)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a chunk size");
        body.push_str(&tail[..size]);
        rest = tail[size..].strip_prefix("\r\n").unwrap_or_default();
        if size == 0 {
            break;
        }
    }
    body
}

fn payload(answer: &Answer) -> Value {
    let message = answer.message();
    let text = message["result"]["content"][0]["text"].as_str().expect("a text");
    serde_json::from_str(text).expect("JSON in the text")
}

#[test]
fn a_client_gets_from_probe_to_booking_in_both_answer_forms() {
    for (options, form) in [(&[][..], "text/event-stream"), (&["--json-response"][..], "application/json")] {
        let partner = Partner::start(options);
        let hello = partner.hello();
        assert_eq!(hello.header("content-type"), Some(form));
        assert_eq!(hello.header("mcp-session-id"), None);
        let info = &hello.message()["result"];
        assert_eq!(info["serverInfo"]["name"], "Namma Authorised Service");
        assert_eq!(info["capabilities"]["tools"]["listChanged"], true);
        let tools = partner.post("tools/list", &json!({}), "").message();
        assert_eq!(tools["result"]["tools"].as_array().map(Vec::len), Some(3));
        let found = payload(&partner.search(""));
        assert!(found["result_token"].is_string() && found["expires_at"].is_string());
        let booking = json!({
            "request_id": "r1",
            "slot_id": found["slots"][0]["slot_id"],
            "vehicle": {"type": "car"},
            "ac_issue": {"category": "not_cooling"},
            "contact_phone": "+919812345678",
        });
        let first = payload(&partner.call("create_ac_service_booking", &booking, ""));
        assert_eq!(payload(&partner.call("create_ac_service_booking", &booking, "")), first);
        let cancel = json!({
            "request_id": "c1", "booking_id": first["booking_id"], "reason_code": "changed_plans",
        });
        let cancelled = payload(&partner.call("cancel_ac_service_booking", &cancel, ""));
        assert_eq!(cancelled["booking_id"], first["booking_id"]);
        partner.stop();
    }
}

#[test]
fn a_refusal_keeps_its_platform_code() {
    let partner = Partner::start(&["--catalogue", "budget"]);
    let error = partner.call("search_ac_service_slots", &json!({}), "").message();
    assert_eq!(error["error"]["code"], -32602);
    assert_eq!(error["error"]["data"]["platform_error_code"], "INVALID_REQUEST");
    assert_eq!(error["error"]["data"]["platform_field"], "intent");
}

#[test]
fn with_sessions_a_call_needs_its_session_and_a_stop_ends_open_streams() {
    let partner = Partner::start(&["--sessions"]);
    let hello = partner.hello();
    let session = hello.header("mcp-session-id").expect("a session").to_owned();
    let header = format!("Mcp-Session-Id: {session}\r\n");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(partner.send(&ready, &header).status, 202);
    assert!(payload(&partner.search(&header))["slots"].is_array());
    assert!((400..500).contains(&partner.search("").status));
    assert_eq!(partner.search("Mcp-Session-Id: other\r\n").status, 404);
    // An event stream stays open until the server stops.
    let mut stream = partner.connect();
    write!(stream, "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n{header}\r\n", partner.address)
        .expect("a request");
    let mut start = [0; 15];
    stream.read_exact(&mut start).expect("a status line");
    assert_eq!(&start, b"HTTP/1.1 200 OK");
    partner.stop();
}

#[test]
fn with_a_token_only_the_probe_is_open() {
    let partner = Partner::start(&["--token", "s3cret", "--json-response"]);
    assert_eq!(partner.hello().status, 200);
    assert_eq!(partner.post("tools/list", &json!({}), "").status, 200);
    for header in ["", "Authorization: Bearer wrong\r\n", "Authorization: s3cret\r\n"] {
        let answer = partner.search(header);
        assert_eq!(answer.status, 401);
        let error = &answer.message()["error"];
        assert_eq!(error["data"]["platform_error_code"], "INVALID_AUTH");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    let signed_in = partner.search("Authorization: Bearer s3cret\r\n");
    assert!(payload(&signed_in)["slots"].is_array());
}

#[test]
fn an_oversize_body_is_refused() {
    let partner = Partner::start(&[]);
    let padding = json!({"padding": "x".repeat(70_000)});
    assert_eq!(partner.post("tools/list", &padding, "").status, 413);
}
