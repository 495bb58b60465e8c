//! Opens partners' accounts over the API, as businesses do, so that there are some to fuzz.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::gateway::{AC_SERVICE, Gateway};

/// How long a mail may take to be in the outbox.
const MAIL_MAX: Duration = Duration::from_secs(30);
/// What stands before the code in the mail that brings it.
const BEFORE_CODE: &str = "Your code is ";

/// What was made.
pub(crate) struct Made {
    /// An account with all that a partner can hand in.
    pub(crate) full: String,
    /// An account with nothing.
    pub(crate) bare: String,
    /// The review of the full account's manifest, which waits for a decision.
    pub(crate) review: String,
}

/// Opens two accounts: one with everything, its server registered and probed, and one bare.
pub(crate) fn make(gateway: &Gateway, outbox: &Path, partner_url: &str) -> anyhow::Result<Made> {
    let (bare, _) = sign_up(gateway, outbox, "bare@coolcar.example")?;
    let (full, token) = sign_up(gateway, outbox, "full@coolcar.example")?;
    let own = |resource: &str| format!("/api/v1/business/tier1/{}", resource.replace("{id}", &full));
    let partner = |method, resource, body| expect(gateway, method, &own(resource), Some(&token), &body);
    partner("POST", "credentials/{id}", json!({}))?;
    partner("PUT", "credentials/{id}/webhook", json!({"webhook_url": "https://coolcar.example/hook"}))?;
    partner("PUT", "accounts/{id}/profile", profile())?;
    partner("PUT", "connection/{id}", json!({"kind": "mcp", "url": partner_url}))?;
    let submitted = partner("POST", "manifest/{id}", manifest())?;
    let review = submitted["review"].as_str().context("a manifest that is sent for review has a review")?.to_owned();
    expect(gateway, "POST", &format!("/api/v1/mcp-admin/{full}/probe"), Some(gateway.admin_token()), &json!({}))?;
    Ok(Made { full, bare, review })
}

/// Opens an account; its identifier and a token for it.
fn sign_up(gateway: &Gateway, outbox: &Path, email: &str) -> anyhow::Result<(String, String)> {
    let body = json!({"email": email, "business_name": "CoolCar"});
    expect(gateway, "POST", "/api/v1/business/sign-up", None, &body)?;
    let code = code(outbox, email)?;
    let entered =
        expect(gateway, "POST", "/api/v1/business/sign-up/verify", None, &json!({"email": email, "code": code}))?;
    let text = |member: &str| entered[member].as_str().map(str::to_owned).with_context(|| format!("no {member}"));
    Ok((text("account_id")?, text("token")?))
}

/// Waits for the code that was sent to an address.
fn code(outbox: &Path, email: &str) -> anyhow::Result<String> {
    let deadline = Instant::now() + MAIL_MAX;
    while Instant::now() < deadline {
        let lines = std::fs::read_to_string(outbox).unwrap_or_default();
        let mails = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let text = mails.filter(|mail| mail["to"] == email).find_map(|mail| mail["text"].as_str().map(str::to_owned));
        if let Some(rest) = text.as_deref().and_then(|text| text.split_once(BEFORE_CODE)) {
            return Ok(rest.1.chars().take_while(char::is_ascii_digit).collect());
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
    bail!("no code for {email} came into {} within {} s", outbox.display(), MAIL_MAX.as_secs())
}

/// Sends a request that must succeed; its answer.
fn expect(gateway: &Gateway, method: &str, path: &str, token: Option<&str>, body: &Value) -> anyhow::Result<Value> {
    let (status, answer) = gateway.send(method, path, token, body)?;
    if !(200..300).contains(&status) {
        bail!("{method} {path} answered {status}: {answer}");
    }
    Ok(answer)
}

fn profile() -> Value {
    json!({
        "legal_name": "CoolCar Services Private Limited",
        "legal_entity_type": "private_limited",
        "gstin": "24AAACC1206D1ZM",
        "licences": [
            {"kind": "shop", "number": "KA/BLR/2024/1183"},
            {"kind": "refrigerant_handling", "number": "RHC-2026-0042"}
        ],
        // Nobody listens there: the page is found gone at once, and nothing outside is asked.
        "privacy_policy_url": "http://127.0.0.1:9/privacy"
    })
}

fn manifest() -> Value {
    json!({
        "businessName": "CoolCar",
        "submitForReview": true,
        "intents": [{
            "intent": AC_SERVICE,
            "domain": "auto",
            "pricing": {"min": 499, "max": 6999, "currency": "INR"},
            "service_area": ["Bengaluru"],
            "description": "Car AC service at the doorstep or in the workshop.",
            "ttbs_signals": {"time": 0.6, "taste": 0.5, "budget": 0.7, "safety": 0.8},
            "availability": "24x7",
            "intent_version": "1.0.0"
        }]
    })
}
