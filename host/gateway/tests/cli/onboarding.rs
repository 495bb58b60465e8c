//! The commands about partners, on a gateway that serves: what they print, and how they end.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::{Serving, gateway, run, text};

const EMAIL: &str = "ops@coolcar.example";
const MANIFEST: &str = "manifest_version: v0.1.0\nbusiness:\n  name: CoolCar\n  legal_name: CoolCar LLP\n  tier: tier1\n\
    intents:\n  - intent: auto.fix\n    domain: auto\n    intent_version: v1.0.0\n    \
    pricing: {min: 1, max: 2, currency: INR}\n    service_area: [Bengaluru]\n";

/// A gateway with one account, and what its partner and an admin show it.
struct Platform {
    serving: Serving,
    folder: tempfile::TempDir,
    url: String,
    account: String,
    credentials: [(&'static str, String); 2],
    admin: String,
}

impl Platform {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let serving = Serving::start(folder.path(), &[]);
        let url = format!("http://{}", serving.address);
        post(&url, "/api/v1/business/sign-up", None, &json!({"email": EMAIL, "business_name": "CoolCar"}));
        let code = code(folder.path());
        let entered = post(&url, "/api/v1/business/sign-up/verify", None, &json!({"email": EMAIL, "code": code}));
        let said = |answer: &Value, member: &str| answer[member].as_str().expect(member).to_owned();
        let (account, token) = (said(&entered, "account_id"), said(&entered, "token"));
        let path = format!("/api/v1/business/tier1/credentials/{account}");
        let issued = post(&url, &path, Some(&token), &json!({}));
        let credentials = [
            ("INTENT_GATEWAY_CLIENT_ID", said(&issued, "client_id")),
            ("INTENT_GATEWAY_CLIENT_SECRET", said(&issued, "client_secret")),
        ];
        let admin = text(&run(folder.path(), &["token", "--role", "admin", "--subject", "asha"]).stdout);
        Self { serving, url, account, credentials, admin: admin.trim_end().to_owned(), folder }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = gateway(self.folder.path());
        command.args(arguments).env("INTENT_GATEWAY_URL", &self.url);
        command
    }

    fn as_partner(&self, arguments: &[&str]) -> Output {
        self.command(arguments).envs(self.credentials.clone()).output().expect("the binary runs")
    }

    fn as_admin(&self, arguments: &[&str]) -> Output {
        self.command(arguments).env("INTENT_GATEWAY_TOKEN", &self.admin).output().expect("the binary runs")
    }

    fn write(&self, name: &str, content: &str) {
        std::fs::write(self.folder.path().join(name), content).expect("written");
    }
}

/// Posts a document; the answer must be one of success.
fn post(url: &str, path: &str, token: Option<&str>, body: &Value) -> Value {
    let mut request = ureq::post(format!("{url}{path}")).content_type("application/json");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let mut answer = request.send(body.to_string()).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&answer.body_mut().read_to_string().expect("a text")).expect("JSON")
}

/// The code of the first mail in the outbox, once it is there.
fn code(folder: &Path) -> String {
    /// How long a mail may take, in steps of so many milliseconds.
    const STEPS: u32 = 1_000;
    const STEP_MS: u64 = 20;
    for _ in 0..STEPS {
        let outbox = std::fs::read_to_string(folder.join("state/outbox.jsonl")).unwrap_or_default();
        if let Some((_, rest)) = outbox.split_once("Your code is ") {
            return rest.chars().take_while(char::is_ascii_digit).collect();
        }
        std::thread::sleep(std::time::Duration::from_millis(STEP_MS));
    }
    panic!("no mail came");
}

fn end_span(output: &Output) -> (i32, String, String) {
    (output.status.code().expect("an exit code"), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_partner_checks_submits_and_looks_at_itself() {
    let platform = Platform::start();
    platform.write("bad.yaml", &MANIFEST.replace("  tier: tier1\n", "").replace("min: 1", "min: 7"));
    platform.write("unknown.yaml", MANIFEST);
    platform.write("broken.yaml", "a: &x 1\nb: *x\n");

    // The form is judged before anything is sent.
    let (code, told, _) = end_span(&platform.as_partner(&["manifest", "submit", "bad.yaml"]));
    assert_eq!(code, 1, "{told}");
    assert!(told.starts_with("bad.yaml:2: refused: business.tier is missing"), "{told}");
    assert!(told.ends_with("bad.yaml was not accepted; nothing changed\n"), "{told}");
    // The gateway's own refusal is told with the lines of the file.
    let (code, told, _) = end_span(&platform.as_partner(&["manifest", "submit", "unknown.yaml", "--review"]));
    assert_eq!(code, 1, "{told}");
    assert!(told.starts_with("unknown.yaml:7: refused: auto.fix: "), "{told}");
    assert!(told.contains("[INVALID_INTENT at /intents/0/intent]"), "{told}");
    let output = platform.as_partner(&["manifest", "submit", "unknown.yaml", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&told["accepted"], &told["refusals"][0]["line"]), (&json!(false), &json!(7)), "{told}");
    let (code, _, told) = end_span(&platform.as_partner(&["manifest", "submit", "broken.yaml"]));
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("broken.yaml:1: an anchor"), "{told}");

    let (code, told, _) = end_span(&platform.as_partner(&["partner", "status"]));
    assert_eq!(code, 0, "{told}");
    let step = "MANIFEST  (partner, manifest)\n    Submit a manifest: `intent-gateway manifest submit FILE --review`";
    assert!(told.contains(&platform.account) && told.contains(step), "{told}");
    let (code, told, complaint) = end_span(&platform.as_partner(&["partner", "list"]));
    assert_eq!((code, told.as_str()), (1, ""));
    assert!(complaint.contains("[FORBIDDEN, HTTP 403, request "), "{complaint}");
    let (code, _, complaint) = end_span(&platform.as_partner(&["partner", "status", "ptr_ffffffffffffffff"]));
    assert_eq!(code, 1);
    assert!(complaint.contains("FORBIDDEN"), "{complaint}");

    // Its own findings, without naming itself; nobody else's.
    let (code, told, _) = end_span(&platform.as_partner(&["partner", "findings", "--severity", "strike"]));
    assert_eq!((code, told), (0, format!("nothing of that kind was found against {}\n", platform.account)));
    let output = platform.as_partner(&["partner", "findings", "--summary", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&told["partner"], &told["counts"]), (&json!(platform.account), &json!([])), "{told}");
    let (code, _, complaint) = end_span(&platform.as_partner(&["partner", "findings", "ptr_ffffffffffffffff"]));
    assert!(code == 1 && complaint.contains("FORBIDDEN"), "{complaint}");
}

#[test]
fn a_partner_uploads_a_document_and_the_team_reads_it() {
    let platform = Platform::start();
    platform.write("licence.pdf", "%PDF-1.7 the licence");
    platform.write("page.pdf", "<html>");
    let add = |file| end_span(&platform.as_partner(&["partner", "document", "add", file, "--kind", "shop"]));
    assert!(matches!(add("page.pdf"), (2, _, complaint) if complaint.contains("is no PDF, PNG or JPEG")));
    let (code, told, complaint) = add("licence.pdf");
    assert_eq!(code, 0, "{complaint}");
    let id = told.split_whitespace().find(|word| word.starts_with("doc_")).expect("an identifier");
    let id = id.trim_end_matches(':').to_owned();
    let (_, listed, _) = end_span(&platform.as_partner(&["partner", "document", "list"]));
    assert!(listed.lines().any(|row| row.starts_with(&id) && row.contains("licence.pdf")), "{listed}");

    let fetch = ["partner", "document", "fetch", &platform.account, &id, "--output", "seen.pdf"];
    assert_eq!(end_span(&platform.as_partner(&fetch)).0, 1, "not even its own");
    let (code, _, complaint) = end_span(&platform.as_admin(&fetch));
    assert_eq!(code, 0, "{complaint}");
    let seen = platform.folder.path().join("seen.pdf");
    assert_eq!(std::fs::read(&seen).expect("written"), b"%PDF-1.7 the licence");
    assert_eq!(end_span(&platform.as_admin(&fetch)).0, 2, "nothing is written over");
    let (code, told, _) = end_span(&platform.as_partner(&["partner", "document", "remove", &id]));
    assert_eq!((code, told), (0, format!("{id} is removed\n")));
}

#[test]
fn a_partner_names_itself_by_a_profile() {
    use std::os::unix::fs::PermissionsExt as _;

    let platform = Platform::start();
    let [(_, id), (_, secret)] = &platform.credentials;
    let profile =
        format!("[shop]\ngateway = \"{}\"\nclient_id = \"{id}\"\nclient_secret = \"{secret}\"\n", platform.url);
    platform.write("profiles.toml", &profile);
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(platform.folder.path().join("profiles.toml"), mode).expect("set");
    let asked =
        |arguments: &[&str]| end_span(&run(platform.folder.path(), &[arguments, &["--profile", "shop"]].concat()));
    let (code, told, complaint) = asked(&["partner", "status"]);
    assert_eq!(code, 0, "{complaint}");
    assert!(told.contains(&platform.account), "{told}");
    let (code, told, complaint) = asked(&["statement"]);
    assert_eq!((code, complaint.as_str()), (0, ""));
    assert_eq!(told, format!("{} has no statement yet\n", platform.account));
    let (code, told, _) = asked(&["statement", "2026-05", "--format", "json"]);
    assert!(code == 0 && told.contains("\"month\":\"2026-05\""), "{told}");
    // Another's are refused by the gateway itself.
    let (code, _, complaint) = asked(&["statement", "--partner", "ptr_ffffffffffffffff"]);
    assert!(code == 1 && complaint.contains("FORBIDDEN"), "{complaint}");
    // The team names whose it wants; out of the store it is the same.
    let (code, _, complaint) = end_span(&platform.as_admin(&["statement"]));
    assert!(code == 2 && complaint.contains("--partner"), "{complaint}");
    let of = ["statement", "2026-05", "--format", "csv", "--partner", &platform.account];
    let (code, sent, _) = end_span(&platform.as_admin(&of));
    let (_, read, complaint) = end_span(&platform.as_admin(&[&of[..], &["--state-dir", "state"]].concat()));
    assert_eq!((code, sent.as_str()), (0, read.as_str()), "{complaint}");
    let (code, told, _) = end_span(&platform.as_admin(&["findings", &platform.account]));
    assert_eq!((code, told), (0, format!("nothing was found against {}\n", platform.account)));
}

/// What both answer, which has to be the same. Reads are noted by a task of their own, so that an entry may come between
/// two questions; they are asked anew then.
fn agree<T: PartialEq + std::fmt::Debug>(one: impl Fn() -> T, other: impl Fn() -> T) -> T {
    for _ in 0..9 {
        let told = one();
        if told == other() {
            return told;
        }
    }
    let told = one();
    assert_eq!(told, other());
    told
}

#[test]
fn the_platform_team_looks_at_partners_and_at_the_log() {
    let platform = Platform::start();
    let account = platform.account.as_str();
    let (code, told, _) = end_span(&platform.as_admin(&["partner", "list"]));
    assert_eq!(code, 0, "{told}");
    assert!(told.lines().nth(1).is_some_and(|row| row.starts_with(account) && row.ends_with("missing")), "{told}");
    let output = platform.as_admin(&["partner", "list", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(told["accounts"][0]["account_id"], account);
    assert_eq!(end_span(&platform.as_admin(&["partner", "list", "--state", "live"])).0, 0);
    assert_eq!(end_span(&platform.as_admin(&["review", "list"])).0, 0);
    assert_eq!(end_span(&platform.as_admin(&["partner", "findings", account])).0, 0);
    let (code, _, complaint) = end_span(&platform.as_admin(&["partner", "findings"]));
    assert!(code == 2 && complaint.contains("name the account"), "{complaint}");
    let (code, _, complaint) = end_span(&platform.as_admin(&["partner", "probe", account]));
    assert_eq!(code, 1);
    assert!(complaint.contains("[NOT_FOUND, HTTP 404"), "{complaint}");
    let output = platform.as_admin(&["partner", "probe", account, "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((output.status.code(), &told["error"]["code"]), (Some(1), &json!("NOT_FOUND")), "{told}");

    // The store beside the gateway and the gateway itself say the same of the log, but for the anchors: the gateway
    // knows what it has anchored itself.
    let verified = |arguments: &[&str]| {
        let (code, told, complaint) = end_span(&platform.as_admin(&[&["audit", "verify"], arguments].concat()));
        let told: Vec<_> = told.lines().filter(|line| !line.starts_with("anchors")).map(str::to_owned).collect();
        (code, told, complaint)
    };
    let shown = |arguments: &[&str]| -> Value {
        let output = platform.as_admin(&[&["audit", "show", "--json", "--subject", account], arguments].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
    };
    let (beside, asked) = (["--state-dir", "state"], ["--gateway", &platform.url]);
    let (code, _, complaint) = agree(|| verified(&beside), || verified(&asked));
    assert_eq!((code, complaint.as_str()), (0, ""));
    agree(|| shown(&beside), || shown(&asked));
    assert_eq!(shown(&[])[0]["action"], "account.opened");
    assert_eq!(shown(&["--after", "1"])[0]["seq"], 2);
    let (_, told, _) = end_span(&platform.as_admin(&["audit", "show", "--limit", "1"]));
    assert_eq!(told.lines().count(), 2, "{told}");
}

#[test]
fn a_backup_comes_back_whole_or_not_at_all() {
    let platform = Platform::start();
    let folder = platform.folder.path();
    let at = |state: &'static str| {
        move |arguments: &[&str]| end_span(&run(folder, &[arguments, &["--state-dir", state]].concat()))
    };
    let (there, elsewhere, third) = (at("state"), at("restored"), at("third"));
    let (code, told, complaint) = there(&["store", "backup", "b.jsonl"]);
    assert_eq!((code, complaint.as_str()), (0, ""), "{told}");
    assert!(told.contains("accounts") && told.contains("b.jsonl backed up"), "{told}");
    let (code, _, complaint) = there(&["store", "backup", "b.jsonl"]);
    assert_eq!(code, 1, "a backup is not written over: {complaint}");
    let (code, _, complaint) = there(&["store", "restore", "b.jsonl"]);
    assert_eq!(code, 1);
    assert!(complaint.contains("not empty"), "{complaint}");

    // The links are checked with the key, which is no part of the backup.
    let (code, _, complaint) = at("keyless")(&["store", "restore", "b.jsonl"]);
    assert_eq!(code, 0);
    assert!(complaint.contains("were not checked"), "{complaint}");
    let (code, told, complaint) = at("keyless")(&["audit", "verify"]);
    assert!(told.contains("3 NOT CHECKED: their keys are not at hand"), "{told}");
    assert_eq!((code, complaint.contains("not checked in whole")), (1, true), "{complaint}");
    for state in ["restored", "third"] {
        std::fs::create_dir(folder.join(state)).expect("a new folder");
        let copied = std::fs::copy(folder.join("state/dev-master-key"), folder.join(state).join("dev-master-key"));
        copied.expect("the key is there");
    }
    assert_eq!(elsewhere(&["store", "restore", "b.jsonl"]).0, 0);
    // What the gateway has anchored lies in its own state folder.
    let without_anchors = |(code, told, complaint): (i32, String, String)| {
        let told: Vec<_> = told.lines().filter(|line| !line.starts_with("anchors")).map(str::to_owned).collect();
        (code, told, complaint)
    };
    assert_eq!(without_anchors(elsewhere(&["audit", "verify"])), without_anchors(there(&["audit", "verify"])));
    let (code, told, _) = elsewhere(&["store", "check"]);
    assert_eq!(code, 0, "{told}");
    let has_accounts =
        |told: &str, count| told.lines().any(|line| line.split_whitespace().eq(["accounts", count, "sound"]));
    assert!(has_accounts(&told, "1") && told.ends_with("sound\n"), "{told}");
    let told: Value = serde_json::from_str(&elsewhere(&["store", "check", "--json"]).1).expect("JSON");
    let seen = |name: &str| {
        let parts = told["parts"].as_array().expect("parts");
        parts.iter().find(|part| part["name"] == name).map(|part| part["seen"].clone())
    };
    assert_eq!(
        (&told["sound"], seen("accounts"), seen("audit_log")),
        (&json!(true), Some(json!(1)), Some(json!(3))),
        "{told}"
    );

    let backup = std::fs::read_to_string(folder.join("b.jsonl")).expect("a text");
    platform.write("forged.jsonl", &backup.replace("CoolCar", "HotCar"));
    let (code, _, complaint) = third(&["store", "restore", "forged.jsonl"]);
    assert_eq!(code, 1);
    assert!(complaint.contains("nothing was restored"), "{complaint}");
    assert!(has_accounts(&third(&["store", "check"]).1, "0"));
    let (code, _, complaint) = at("nowhere")(&["audit", "verify"]);
    assert_eq!((code, folder.join("nowhere").exists()), (1, false), "{complaint}");
    assert_eq!(platform.serving.stop().0, Some(0));
}

#[test]
fn a_gateway_that_cannot_be_asked_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let asked = |arguments: &[&str]| end_span(&run(folder.path(), arguments));
    let (code, _, complaint) = asked(&["partner", "list", "--gateway", "http://127.0.0.1:9", "--token", "x"]);
    assert_eq!(code, 1);
    assert!(complaint.contains("no answer from http://127.0.0.1:9/api/v1/admin/accounts"), "{complaint}");
    let (code, _, complaint) = asked(&["partner", "list", "--gateway", "gateway.example", "--token", "x"]);
    assert_eq!(code, 2, "{complaint}");
    let (code, _, complaint) = asked(&["partner", "list", "--gateway", "http://127.0.0.1:9"]);
    assert_eq!(code, 2);
    assert!(complaint.contains("INTENT_GATEWAY_TOKEN"), "{complaint}");
    // A token in the environment is no reason to be asked for a gateway.
    let output = gateway(folder.path())
        .args(["plugin", "check", "none.wasm"])
        .env("INTENT_GATEWAY_TOKEN", "x")
        .output()
        .expect("the binary runs");
    assert!(text(&output.stderr).contains("cannot read none.wasm"), "{}", text(&output.stderr));
}
