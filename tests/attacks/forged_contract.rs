//! Somebody hands in a component that nobody trusted has made: unsigned, altered after it was signed, under another key's name, or
//! straight into the store. A key that was lost is revoked while what it has signed serves.

use std::process::Command;

use serde_json::{Value, json};

use crate::fleet::{NO_SMTP, all_know, postgres, sqlite};
use crate::harness::{Gateway, GatewayOptions, PartnerEntry, ac_contract, eventually, request, safety_first_contract};
use crate::onboarding::settings;
use crate::scripted::Scripted;
use crate::search::honest_slots;

/// Runs a command of the author's on files of a folder; what it prints.
fn plugin(folder: &std::path::Path, arguments: &[&str]) -> String {
    let program = crate::harness::root().join("target/debug/intent-gateway");
    let output = Command::new(program).arg("plugin").args(arguments).current_dir(folder).output().expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

/// A component signed by a key.
fn signed(folder: &std::path::Path, component: &std::path::Path, key: &str) -> Vec<u8> {
    let out = folder.join(format!("{key}.wasm"));
    let component = component.to_str().expect("UTF-8");
    plugin(folder, &["sign", component, "--key", key, "--out", out.to_str().expect("UTF-8")]);
    std::fs::read(out).expect("written")
}

fn gateway(store: &str, partner: &PartnerEntry, key: &str) -> Gateway {
    let trust = format!(
        "require_signature = true\ntrusted_keys = [{{ name = \"release\", public_key = \"{key}\", intents = [\"auto.*\"] }}]\n"
    );
    Gateway::start(&GatewayOptions {
        partners: vec![partner.clone()],
        trust,
        extra: settings(Some(store), NO_SMTP),
        ..GatewayOptions::default()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_a_trusted_key_has_signed_runs_and_nothing_of_a_revoked_one() {
    let server = Scripted::with_slots(honest_slots().await.into()).await;
    let partner = server.entry("scripted");
    let folder = tempfile::tempdir().expect("a folder");
    let public = plugin(folder.path(), &["keygen", "release.pem"]);
    plugin(folder.path(), &["keygen", "other.pem"]);
    for store in postgres().into_iter().chain([sqlite()]) {
        let gateways = [gateway(&store.url, &partner, &public), gateway(&store.url, &partner, &public)];
        let [one, other] = &gateways;
        all_know(&[one, other], 2).await;
        let good = signed(folder.path(), &ac_contract(), "release.pem");
        let mut altered = good.clone();
        // The last byte of the content, before the signatures.
        let at = good.windows(20).position(|bytes| bytes == b"intent-gateway:signa").expect("they are there") - 6;
        altered[at] ^= 1;
        for (file, expected) in [
            (std::fs::read(ac_contract()).expect("readable"), "SIGNATURE_MISSING"),
            (signed(folder.path(), &ac_contract(), "other.pem"), "SIGNER_UNKNOWN"),
            (altered, "SIGNATURE_INVALID"),
        ] {
            let refused = one.upload(&file).await;
            assert_eq!((refused.status, &refused.body["error"]["code"]), (422, &json!(expected)), "{}", refused.body);
        }
        let loaded = one.upload(&good).await;
        assert_eq!((loaded.status, &loaded.body["signed_by"]), (201, &json!(["release"])), "{}", loaded.body);
        let next = one.upload(&signed(folder.path(), &safety_first_contract(), "release.pem")).await;
        assert_eq!(next.status, 201, "{}", next.body);
        let serves = async |wanted: Value| {
            for gateway in [one, other] {
                eventually(&format!("{wanted} does not serve"), gateway, async || {
                    let answer = gateway.search(&request()).await;
                    (answer.body["contract"]["version"] == wanted).then_some(())
                })
                .await;
            }
        };
        serves(json!("1.0.1")).await;
        // The next version turns out to be bad: the one before serves at both gateways, and nobody brings it back.
        let digest = next.body["digest"].clone();
        let revoked = one.admin_send("/contracts/revocations", &json!({"component": digest, "reason": "bad"})).await;
        assert_eq!((revoked.status, &revoked.body["versions"][0]["was_live"]), (201, &json!(true)), "{}", revoked.body);
        serves(json!("1.0.0")).await;
        let back = other.admin_post(&format!("/contracts/{}/activate", digest.as_str().expect("one"))).await;
        assert_eq!((back.status, &back.body["error"]["code"]), (422, &json!("REVOKED")), "{}", back.body);
        // The key itself is lost: nothing that it has signed serves anywhere.
        let verified = Command::new(crate::harness::root().join("target/debug/intent-gateway"))
            .args(["plugin", "inspect", "--json"])
            .arg(folder.path().join("release.pem.wasm"))
            .output()
            .expect("it runs");
        let inspected: Value = serde_json::from_slice(&verified.stdout).expect("JSON");
        let lost = one
            .admin_send("/contracts/revocations", &json!({"key": inspected["signed_by"][0], "reason": "lost"}))
            .await;
        assert_eq!(lost.status, 201, "{}", lost.body);
        for gateway in [one, other] {
            eventually("the intent is in service", gateway, async || {
                (gateway.search(&request()).await.body["error"]["code"] == "INVALID_INTENT").then_some(())
            })
            .await;
        }
    }
}
