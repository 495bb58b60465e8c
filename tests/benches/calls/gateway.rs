//! The gateway as it is deployed: the optimised binary, with the contracts of the bench. Rates and the search cache are
//! switched off, for they are there to keep calls from being made.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use test_servers::Server;

use crate::clients::RawHyper;
use crate::subject::{SUBJECTS, Subject};
use crate::{root, start};

/// A gateway that runs.
pub(crate) struct Gateway {
    pub(crate) server: Server,
    token: String,
    client: reqwest::Client,
}

impl Gateway {
    /// With these partners, by identifier and address; all of them list every intent.
    pub(crate) fn start(folder: &Path, partners: &[(&str, &str)], search_timeout: Option<Duration>) -> Self {
        let (config, contracts) = (folder.join("gateway.toml"), folder.join("contracts"));
        std::fs::create_dir(&contracts).expect("writable");
        for subject in &SUBJECTS {
            let path = contracts.join(subject.package).with_extension("wasm");
            std::fs::write(path, subject.component()).expect("writable");
        }
        let mut text = format!(
            "state_dir = {:?}\n[server]\nlisten = \"127.0.0.1:0\"\ndrain_announce_ms = 0\n[contracts]\ndir = {contracts:?}\n\
             [partner_client]\nallow_loopback_http = true\n[log]\nlevel = \"error\"\n\
             [outbound]\nrate_limits = false\nsearch_cache = false\n",
            folder.join("state")
        );
        if let Some(timeout) = search_timeout {
            write!(text, "[search]\ntimeout_ms = {}\n", timeout.as_millis()).expect("a string takes it");
        }
        for (id, url) in partners {
            write!(text, "[[partners]]\nid = {id:?}\nname = {id:?}\nurl = {url:?}\n").expect("a string takes it");
            for Subject { intent, .. } in &SUBJECTS {
                let listing = format!("[[partners.listings]]\nintent = {intent:?}\nservice_area = [\"IN_ALL\"]\n");
                text.push_str(&listing);
            }
        }
        std::fs::write(&config, text).expect("writable");
        let program = root().join("target/release/intent-gateway");
        let server = start("the gateway", Command::new(&program).arg("serve").arg("--config").arg(&config));
        server.wait_for_intents(SUBJECTS.len()).expect("its contracts go live");
        let token = Command::new(&program).args(["token", "--role", "orchestrator", "--config"]).arg(&config).output();
        let token = String::from_utf8(token.expect("the gateway issues a token").stdout).expect("ASCII");
        Self { server, token: token.trim().to_owned(), client: reqwest::Client::new() }
    }

    /// A search.
    pub(crate) async fn search(&self, subject: &Subject) -> Value {
        let url = format!("{}/api/v1/intents/{}/search", self.server.url, subject.intent);
        let request = self.client.post(url).bearer_auth(&self.token).header("content-type", "application/json");
        let answer = request.body(subject.request()).send().await.expect("the gateway answers");
        let status = answer.status();
        let answer: Value = answer.json().await.expect("JSON");
        assert!(status.is_success(), "{status}: {answer}");
        answer
    }

    /// What a search finds to call a tool about.
    pub(crate) async fn reference(&self, subject: &Subject) -> String {
        let found = self.search(subject).await;
        let reference = found["options"][0]["reference"].as_str();
        reference.unwrap_or_else(|| panic!("the search found nothing: {found}")).to_owned()
    }

    /// Calls of a tool by reference. Each time on new connections: those of an earlier run have been idle for so long that
    /// the gateway may have closed them.
    pub(crate) fn calls(&self, subject: &Subject, reference: &str) -> RawHyper {
        RawHyper::to_gateway(&self.server.url, &self.token, subject, reference)
    }
}
