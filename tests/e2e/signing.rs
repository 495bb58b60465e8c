//! Whoever signs completion reports signs right: the CLI and the samples of `examples/signing`, on the vectors that
//! docs/completion-reports.md publishes, and as they come off the wire.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::{Json, Router};
use intent_gateway_core::clock::{Clock as _, SystemClock};
use intent_gateway_core::completion::signature::{
    Keys, Presented, SIGNATURE_HEADER, SignatureError, TIMESTAMP_HEADER, VerifyingKey,
};
use intent_gateway_core::secret::Secret;
use serde_json::{Value, json};

use crate::harness::{built, root};

/// Where all signers take the key from.
const KEY_VARIABLE: &str = "INTENT_GATEWAY_WEBHOOK_KEY";
/// JSON in a spelling that no library would choose, so that writing it anew is seen.
const REPORT: &str = "{ \"external_id\" : \"BK/1\",\r\n\t\"amount_inr\": 1499.50, \"notes\": \"नमस्ते ₹\" }\r\n";
const KEY: &str = "whsec_3f9a5c1e8b7d2046a1c3e5f7092b4d6f8193a5b7c9dbedf00112233445566778";

/// A row of the published table.
#[derive(Debug)]
struct Vector {
    key: String,
    timestamp: String,
    body: String,
    signature: String,
}

/// The published vectors, as somebody reads them who has nothing but the page.
fn vectors() -> Vec<Vector> {
    let page = std::fs::read_to_string(root().join("docs/completion-reports.md")).expect("the page is there");
    let section = page.split("\n### ").find(|section| section.starts_with("Vectors")).expect("a section");
    let mut vectors: Vec<Vector> = Vec::new();
    for row in section.lines().filter(|line| line.starts_with("| ") && line.contains("sha256=")) {
        let cells: Vec<_> = row.split(" | ").collect();
        let code = |cell: &str| cell.split('`').nth(1).map(str::to_owned);
        let [_, key, timestamp, body, signature] = cells[..] else { panic!("five cells: {row}") };
        let key = code(key).or_else(|| vectors.last().map(|vector| vector.key.clone())).expect("a key");
        let end = if body.contains("a carriage return and a line feed") { "\r\n" } else { "" };
        vectors.push(Vector {
            key,
            timestamp: code(timestamp).expect("a timestamp"),
            body: code(body).unwrap_or_default() + end,
            signature: code(signature).expect("a signature"),
        });
    }
    assert_eq!(vectors.len(), 4, "{vectors:?}");
    vectors
}

/// The script of the page for those who have a shell alone.
fn published_script() -> String {
    let page = std::fs::read_to_string(root().join("docs/completion-reports.md")).expect("the page is there");
    let block = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a script");
    block.to_owned()
}

fn gateway() -> Command {
    let mut command = Command::new(built("debug/intent-gateway"));
    command.arg("completion");
    command
}

/// Every way to get the two headers: a command, which still lacks the report and perhaps `timestamp`.
fn signers() -> [(&'static str, Command); 4] {
    let samples = root().join("examples/signing");
    let mut cli = gateway();
    cli.arg("sign");
    let rust = Command::new(built("debug/signing-sample"));
    let loader = root().join("examples/partner-typescript/node_modules/tsx/dist/loader.mjs");
    assert!(loader.exists(), "`cargo xtask test` installs tsx with the TypeScript partner");
    let mut typescript = Command::new("node");
    typescript.arg("--import").arg(loader).arg(samples.join("typescript/sign.mts"));
    let mut python = Command::new("python3");
    python.arg("-I").arg(samples.join("python/sign.py"));
    [("cli", cli), ("rust", rust), ("typescript", typescript), ("python", python)]
}

/// What a command printed that ended as it should.
fn printed(command: &mut Command, code: i32) -> String {
    let output = command.output().expect("it runs");
    let Output { status, stdout, stderr } = &output;
    let (stdout, stderr) = (String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr));
    assert_eq!(status.code(), Some(code), "{command:?}\n{stdout}\n{stderr}");
    let holds_key =
        |text: &str| text.split("whsec_").skip(1).any(|rest| rest.starts_with(|c: char| c.is_alphanumeric()));
    assert!(!holds_key(&stdout) && !holds_key(&stderr), "the key is printed: {stdout}\n{stderr}");
    stdout.into_owned()
}

fn report_in(folder: &Path, body: &str) -> PathBuf {
    let path = folder.join("the report's.json");
    std::fs::write(&path, body).expect("written");
    path
}

#[test]
fn everyone_signs_the_published_vectors() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for Vector { key, timestamp, body, signature } in vectors() {
        let file = report_in(folder.path(), &body);
        let expected = format!("X-PLATFORM-Timestamp: {timestamp}\nX-PLATFORM-Signature: {signature}\n");
        for (name, mut command) in signers() {
            command.arg(&file).env(KEY_VARIABLE, &key);
            if name == "cli" {
                command.arg("--timestamp");
            }
            assert_eq!(printed(command.arg(&timestamp), 0), expected, "{name}");
        }

        let key_file = folder.path().join("key");
        std::fs::write(&key_file, format!("{key}\n")).expect("written");
        let mut command = gateway();
        let from_stdin = ["sign", "-", "--json", "--timestamp", timestamp.as_str(), "--key-file"];
        command.args(from_stdin).arg(&key_file).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.env(KEY_VARIABLE, "another").spawn().expect("it runs");
        child.stdin.take().expect("piped").write_all(body.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends").stdout;
        let headers = json!({"X-PLATFORM-Timestamp": timestamp, "X-PLATFORM-Signature": signature});
        assert_eq!(serde_json::from_slice::<Value>(&output).expect("JSON"), json!({"headers": headers}));

        let mut verify = gateway();
        verify.args(["verify", "--timestamp", &timestamp, "--signature", &signature]).arg(&file);
        let said = printed(verify.env(KEY_VARIABLE, &key), 0);
        assert!(said.starts_with("the signature holds\nthe timestamp is more than five minutes"), "{said}");
    }
}

#[test]
fn what_is_wrong_with_a_signature_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = report_in(folder.path(), REPORT);
    let [_, Vector { key, timestamp, signature, .. }, ..] = &vectors()[..] else { panic!("four vectors") };
    let verify = |arguments: &[&str], code: i32| {
        let mut command = gateway();
        printed(command.arg("verify").arg(&file).args(arguments).env(KEY_VARIABLE, key), code)
    };
    let said = verify(&["--timestamp", timestamp, "--signature", signature], 1);
    assert!(said.starts_with("the signature is wrong: "), "{said}");
    let said = verify(&["--timestamp", "-1", "--signature", signature, "--json"], 1);
    let said: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((&said["holds"], &said["within_window"]), (&json!(false), &Value::Null), "{said}");
    assert!(said["problem"].as_str().is_some_and(|problem| problem.contains("timestamp is malformed")), "{said}");

    let without = |command: &mut Command| printed(command.env_remove(KEY_VARIABLE), 2);
    without(gateway().arg("sign").arg(&file));
    for (name, mut command) in signers().into_iter().filter(|(name, _)| *name != "cli") {
        assert_eq!(printed(command.arg(&file).env_remove(KEY_VARIABLE), 1), "", "{name}");
    }
}

#[test]
fn the_sample_in_typescript_is_typed() {
    let home = root().join("examples/partner-typescript");
    let mut check = Command::new(home.join("node_modules/.bin/tsc"));
    check.args(["--noEmit", "--strict", "--target", "es2023", "--module", "nodenext", "--erasableSyntaxOnly"]);
    check.args(["--noUnusedLocals", "--noUncheckedIndexedAccess", "--types", "node", "--typeRoots"]);
    check.arg(home.join("node_modules/@types")).arg(root().join("examples/signing/typescript/sign.mts"));
    printed(&mut check, 0);
}

/// What came to the completion address: headers and body.
type Received = Arc<Mutex<Vec<(HeaderMap, Bytes)>>>;

/// A platform's completion address, as far as the signature goes.
async fn take(State(received): State<Received>, headers: HeaderMap, body: Bytes) -> (StatusCode, Json<Value>) {
    let verified = verify(&headers, &body);
    received.lock().expect("unpoisoned").push((headers, body));
    match verified {
        Ok(()) => (StatusCode::ACCEPTED, Json(json!({"receipt": "rcp_1"}))),
        Err(error) => (StatusCode::UNAUTHORIZED, Json(json!({"error": {"code": error.code()}}))),
    }
}

fn verify(headers: &HeaderMap, body: &[u8]) -> Result<(), SignatureError> {
    let keys = Keys::new([VerifyingKey::new("k", &Secret::new(KEY), 0, None)]);
    let value = |name| headers.get(name).map(axum::http::HeaderValue::as_bytes);
    let presented = Presented { timestamp: value(TIMESTAMP_HEADER), signature: value(SIGNATURE_HEADER) };
    keys.verify(presented, body, SystemClock.now_ms()).map(|_| ())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_is_what_was_signed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = report_in(folder.path(), REPORT);
    let received = Received::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/api/v1/cpc/mcp_provider/ptr_1", listener.local_addr().expect("an address"));
    let router = Router::new().route("/api/v1/cpc/mcp_provider/{id}", post(take)).with_state(Arc::clone(&received));
    let server = tokio::spawn(async move { axum::serve(listener, router).await });

    // Signed now: by each signer and sent by curl, by the command that the CLI prints, and by the CLI itself.
    let mut sent = 0;
    for (name, signer) in signers() {
        let line = format!(
            "\"$@\" \"$REPORT\" | curl -sS -H @- -H 'content-type: application/json' \
                            --data-binary @\"$REPORT\" {url}"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &line, "sh"]).arg(signer.get_program()).args(signer.get_args());
        let answer = printed(command.env("REPORT", &file).env(KEY_VARIABLE, KEY), 0);
        assert_eq!(answer, r#"{"receipt":"rcp_1"}"#, "{name}");
        sent += 1;
    }
    let command = printed(gateway().args(["sign", "--curl", &url]).arg(&file).env(KEY_VARIABLE, KEY), 0);
    assert_eq!(printed(Command::new("sh").args(["-c", &command]), 0), r#"{"receipt":"rcp_1"}"#);
    let post = |more: &[&str], key: &str, code: i32| {
        let mut command = gateway();
        printed(command.args(["sign", "--post", &url]).args(more).arg(&file).env(KEY_VARIABLE, key), code)
    };
    assert_eq!(post(&[], KEY, 0), "HTTP 202\n{\n  \"receipt\": \"rcp_1\"\n}\n");
    let refused: Value = serde_json::from_str(&post(&["--json"], "whsec_another", 1)).expect("JSON");
    assert_eq!((&refused["status"], &refused["answer"]["error"]["code"]), (&json!(401), &json!("SIGNATURE_INVALID")));
    assert!(post(&["--timestamp", "1779264000123"], KEY, 1).contains("TIMESTAMP_OUT_OF_WINDOW"));
    // And as the page tells somebody who has a shell alone.
    std::fs::write(folder.path().join("report.json"), REPORT).expect("written");
    let mut command = Command::new("sh");
    command.current_dir(folder.path()).args(["-c", &published_script()]).env("COMPLETION_CALLBACK", &url);
    assert!(printed(command.env(KEY_VARIABLE, KEY), 0).ends_with(r#"{"receipt":"rcp_1"}"#));
    sent += 5;

    let received = received.lock().expect("unpoisoned");
    assert_eq!(received.len(), sent);
    for (headers, body) in received.iter() {
        assert_eq!(
            (body.as_ref(), &headers["content-type"]),
            (REPORT.as_bytes(), &"application/json".parse().unwrap())
        );
        assert!(!headers.contains_key("authorization"));
    }
    server.abort();
}
