//! Signs a completion report: `signing-sample REPORT [TIMESTAMP]` prints its two headers.
#![expect(clippy::print_stdout, reason = "the headers are what it prints")]

use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The signature of a body sent at a time, in milliseconds since 1970; the key is its text, `whsec_` included.
fn sign(key: &str, timestamp: &str, body: &[u8]) -> Result<String, Box<dyn Error>> {
    let mac = Hmac::<Sha256>::new_from_slice(key.as_bytes())?;
    let mac = mac.chain_update(timestamp).chain_update(".").chain_update(body).finalize().into_bytes();
    Ok(format!("sha256={}", mac.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let key = std::env::var("INTENT_GATEWAY_WEBHOOK_KEY").ok().filter(|key| !key.is_empty());
    let key = key.ok_or("INTENT_GATEWAY_WEBHOOK_KEY is not set")?;
    let mut arguments = std::env::args().skip(1);
    let report = arguments.next().ok_or("usage: signing-sample REPORT [TIMESTAMP]")?;
    let timestamp = match arguments.next() {
        Some(timestamp) => timestamp,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis().to_string(),
    };
    // As bytes: these, and no others, are sent.
    let body = std::fs::read(report)?;
    println!("X-PLATFORM-Timestamp: {timestamp}");
    println!("X-PLATFORM-Signature: {}", sign(&key, &timestamp, &body)?);
    Ok(())
}
