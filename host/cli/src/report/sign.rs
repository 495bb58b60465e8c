//! Signs a report; prints the headers, prints a command that posts it, or posts it.

use anyhow::anyhow;
use intent_gateway_domain::clock::{Clock as _, SystemClock};
use intent_gateway_ledger::completion::signature::Signer;
use serde_json::{Value, json};

use super::arguments::SignArgs;
use super::input::{self, KEY_PREFIX};
use crate::access::environment_tls;
use crate::client::{Gateway, GatewayError};
use crate::outcome::{CommandError, Verdict, fail, print_json, usage};
use crate::terminal::harmless;
use crate::{complain, print};

/// The two headers as they are written; how they are spelt does not matter to a gateway.
const TIMESTAMP_HEADER: &str = "X-PLATFORM-Timestamp";
const SIGNATURE_HEADER: &str = "X-PLATFORM-Signature";

/// Names and values of the two headers.
type Headers = [(&'static str, String); 2];

pub(super) fn run(arguments: &SignArgs) -> Result<Verdict, CommandError> {
    let SignArgs { subject, timestamp, curl, post, json } = arguments;
    let key = input::key(subject).map_err(usage)?;
    if !key.expose().starts_with(KEY_PREFIX) {
        complain(&format!("warning: the key does not begin with `{KEY_PREFIX}`, as a webhook's signing key does"));
    }
    let tls = environment_tls()?;
    let at = |address: &str| Gateway::at(address, &tls);
    let target = post.as_deref().or(curl.as_deref()).map(at).transpose().map_err(usage)?;
    if let Some(target) = target.as_ref().filter(|target| target.is_in_the_clear()) {
        complain(&format!("warning: {} is plain HTTP; everybody on the way can read the report", target.address()));
    }
    let report = input::report(subject).map_err(usage)?;
    let timestamp = timestamp.unwrap_or_else(|| SystemClock.now().as_ms());
    let signature = Signer::new(&key).sign(timestamp, &report);
    let headers = [(TIMESTAMP_HEADER, timestamp.to_string()), (SIGNATURE_HEADER, signature)];
    match target {
        Some(target) if post.is_some() => deliver(&target, &headers, &report, *json),
        Some(target) => {
            let file = subject.file.to_str().filter(|file| *file != "-");
            let named = "--curl needs a file with a name that can be written down, which curl sends";
            print(&curl_command(file.ok_or_else(|| usage(anyhow!(named)))?, target.address(), &headers));
            Ok(Verdict::Clean)
        }
        None if *json => print_json(&json!({"headers": object(&headers)})).map(|()| Verdict::Clean),
        None => {
            print(&headers.map(|(name, value)| format!("{name}: {value}")).join("\n"));
            Ok(Verdict::Clean)
        }
    }
}

fn deliver(target: &Gateway, headers: &Headers, report: &[u8], json: bool) -> Result<Verdict, CommandError> {
    let answered = target.post_bytes(headers, report);
    let (status, answer) = answered.map_err(|error| match error {
        GatewayError::Address(_) => usage(error),
        other => fail(other),
    })?;
    let parsed = serde_json::from_str::<Value>(&answer);
    if json {
        let answer = parsed.unwrap_or(Value::String(answer));
        print_json(&json!({"headers": object(headers), "status": status.as_u16(), "answer": answer}))?;
    } else {
        // What JSON holds is indented; line breaks of anything else are spelt out.
        let lines = parsed.map(|answer| format!("{answer:#}")).unwrap_or(answer);
        let shown: Vec<String> = lines.split('\n').map(harmless).collect();
        print(format!("HTTP {}\n{}", status.as_u16(), shown.join("\n")).trim_end());
    }
    Ok(Verdict::of(status.is_success()))
}

fn object(headers: &Headers) -> Value {
    headers.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect::<serde_json::Map<_, _>>().into()
}

/// A command for a shell that posts the file as it is.
fn curl_command(file: &str, url: &str, headers: &Headers) -> String {
    let [timestamp, signature] = headers.each_ref().map(|(name, value)| quote(&format!("{name}: {value}")));
    format!(
        "curl -H 'content-type: application/json' -H {timestamp} -H {signature} --data-binary {} {}",
        quote(&format!("@{file}")),
        quote(url)
    )
}

/// One word of a POSIX shell, whatever the text.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use intent_gateway_ledger::completion::signature;

    use super::*;

    #[test]
    fn the_headers_are_those_that_a_gateway_reads() {
        assert!(TIMESTAMP_HEADER.eq_ignore_ascii_case(signature::TIMESTAMP_HEADER));
        assert!(SIGNATURE_HEADER.eq_ignore_ascii_case(signature::SIGNATURE_HEADER));
    }

    #[test]
    fn a_shell_reads_the_words_of_the_command_as_they_are_meant() {
        let headers = [(TIMESTAMP_HEADER, "1".to_owned()), (SIGNATURE_HEADER, "sha256=ab".to_owned())];
        let file = "it's $HOME `x`\\ \"y\"; *.json";
        let command = curl_command(file, "https://g.example/a?$b", &headers);
        let words = command.replacen("curl", r"printf '%s\n'", 1);
        let output = Command::new("sh").args(["-c", &words]).output().expect("sh runs");
        let words = String::from_utf8(output.stdout).expect("text");
        assert_eq!(
            words.lines().collect::<Vec<_>>(),
            [
                "-H",
                "content-type: application/json",
                "-H",
                "X-PLATFORM-Timestamp: 1",
                "-H",
                "X-PLATFORM-Signature: sha256=ab",
                "--data-binary",
                &format!("@{file}"),
                "https://g.example/a?$b"
            ]
        );
    }
}
