//! Whoever signs completion reports signs right: the CLI and the samples of `examples/signing`, on the vectors that
//! docs/completion-reports.md publishes, and as the gateway takes them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::completion::{ac_report, endpoint, key_of, reporter_entry};
use crate::harness::{Gateway, GatewayOptions, ac_contract, built, root};

/// Where all signers take the key from.
const KEY_VARIABLE: &str = "INTENT_GATEWAY_WEBHOOK_KEY";
/// JSON in a spelling that no library would choose, so that writing it anew is seen.
const REPORT: &str = "{ \"external_id\" : \"BK/1\",\r\n\t\"amount_inr\": 1499.50, \"notes\": \"नमस्ते ₹\" }\r\n";

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

fn gateway_command() -> Command {
    let mut command = Command::new(built("debug/intent-gateway"));
    command.arg("report");
    command
}

/// Every way to get the two headers: a command, which still lacks the report and perhaps `timestamp`.
fn signers() -> [(&'static str, Command); 4] {
    let samples = root().join("examples/signing");
    let mut cli = gateway_command();
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
        let mut command = gateway_command();
        let from_stdin = ["sign", "-", "--json", "--timestamp", timestamp.as_str(), "--key-file"];
        command.args(from_stdin).arg(&key_file).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.env(KEY_VARIABLE, "another").spawn().expect("it runs");
        child.stdin.take().expect("piped").write_all(body.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends").stdout;
        let headers = json!({"X-PLATFORM-Timestamp": timestamp, "X-PLATFORM-Signature": signature});
        assert_eq!(serde_json::from_slice::<Value>(&output).expect("JSON"), json!({"headers": headers}));

        let mut verify = gateway_command();
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
        let mut command = gateway_command();
        printed(command.arg("verify").arg(&file).args(arguments).env(KEY_VARIABLE, key), code)
    };
    let said = verify(&["--timestamp", timestamp, "--signature", signature], 1);
    assert!(said.starts_with("the signature is wrong: "), "{said}");
    let said = verify(&["--timestamp", "-1", "--signature", signature, "--json"], 1);
    let said: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((&said["holds"], &said["within_window"]), (&json!(false), &Value::Null), "{said}");
    assert!(said["problem"].as_str().is_some_and(|problem| problem.contains("timestamp is malformed")), "{said}");

    let without = |command: &mut Command| printed(command.env_remove(KEY_VARIABLE), 2);
    without(gateway_command().arg("sign").arg(&file));
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

/// A report of an order in a spelling that no library would choose.
fn odd_report(order: &str) -> String {
    let report = ac_report(order, "नमस्ते ₹");
    let members = report.as_object().expect("an object").iter();
    let members: Vec<String> = members.map(|(name, value)| format!("\t{} :\r\n {value} ", json!(name))).collect();
    format!("{{ {} }}\r\n", members.join(", "))
}

/// The receipt in an acknowledgement of an order, as JSON text.
fn receipt_of(order: &str, answer: &str) -> String {
    let answer: Value = serde_json::from_str(answer).unwrap_or_else(|_| panic!("no JSON: {answer}"));
    assert_eq!((&answer["external_id"], &answer["commission_inr"]), (&json!(order), &json!(145.05)), "{answer}");
    answer["receipt_id"].as_str().expect("a receipt").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_signs_is_believed_by_the_gateway() {
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![reporter_entry("ptr_1")],
        contracts: vec![ac_contract()],
        ..GatewayOptions::default()
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (url, key) = (endpoint(&gateway.server.url, "ptr_1"), key_of("ptr_1"));

    // Signed now, and sent by curl: each signer has an order of its own.
    for (name, signer) in signers() {
        let file = report_in(folder.path(), &odd_report(name));
        let line = format!(
            "\"$@\" \"$REPORT\" | curl -sS -H @- -H 'content-type: application/json' \
             --data-binary @\"$REPORT\" {url}"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &line, "sh"]).arg(signer.get_program()).args(signer.get_args());
        let command = command.env("REPORT", &file).env(KEY_VARIABLE, &key);
        let first = receipt_of(name, &printed(command, 0));
        // Signed anew, the same report is the same order.
        assert_eq!(receipt_of(name, &printed(command, 0)), first, "{name}");
    }

    // One order: by the command that the CLI prints, by the CLI itself, and as the page tells somebody who has a shell
    // alone. Only the first of them books it.
    let report = odd_report("BK/1");
    let file = report_in(folder.path(), &report);
    let command = printed(gateway_command().args(["sign", "--curl", &url]).arg(&file).env(KEY_VARIABLE, &key), 0);
    let booked = receipt_of("BK/1", &printed(Command::new("sh").args(["-c", &command]), 0));
    let post = |more: &[&str], key: &str, code: i32| {
        let mut command = gateway_command();
        printed(command.args(["sign", "--post", &url]).args(more).arg(&file).env(KEY_VARIABLE, key), code)
    };
    let said = post(&[], &key, 0);
    assert_eq!(receipt_of("BK/1", said.strip_prefix("HTTP 200\n").unwrap_or_else(|| panic!("{said}"))), booked);
    std::fs::write(folder.path().join("report.json"), &report).expect("written");
    let mut command = Command::new("sh");
    command.current_dir(folder.path()).args(["-c", &published_script()]).env("COMPLETION_CALLBACK", &url);
    let said = printed(command.env(KEY_VARIABLE, &key), 0);
    assert_eq!(receipt_of("BK/1", &said[said.find('{').unwrap_or_default()..]), booked);

    let refused: Value = serde_json::from_str(&post(&["--json"], "whsec_another", 1)).expect("JSON");
    assert_eq!((&refused["status"], &refused["answer"]["error"]["code"]), (&json!(401), &json!("SIGNATURE_INVALID")));
    assert!(post(&["--timestamp", "1779264000123"], &key, 1).contains("TIMESTAMP_OUT_OF_WINDOW"));
}
