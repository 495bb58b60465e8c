//! A gateway that is killed in the middle of its work: what it had acknowledged is there afterwards, and of what it had
//! not, all or nothing is.
//!
//! The audit log, which is written in the same transaction as what it tells of, is the witness of what came through.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::vault::{Sealed, Vault};
use intent_gateway_testing::entropy::NoRandomness;
use serde_json::{Value, json};
use test_servers::smtp::{SmtpOptions, SmtpServer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::{Business, LOOK, MASTER_KEY, Platform, SOON, manifest, settings, stores};
use crate::harness::{Gateway, GatewayOptions, ac_contract, built};

/// Times that each gateway is killed, at least.
const ROUNDS: usize = 8;
/// And at most: a machine that has much else to do may acknowledge too little before it is killed, and gets more time from
/// round to round.
const ROUNDS_MAX: usize = 3 * ROUNDS;
/// Accounts whose records are written at the same time.
const ACCOUNTS: usize = 3;
/// The gateway is killed about so many milliseconds after the writes have begun, at random.
const KILL_AFTER_MS: std::ops::Range<u64> = 10..250;
/// Codes that are asked for before each kill, at most.
const SIGN_UPS_MAX: usize = 10;
/// How long what a gateway sends to the SMTP server is on its way, line by line.
const LINE_DELAY: Duration = Duration::from_millis(5);
/// Bytes that are passed on at once.
const CHUNK_BYTES: usize = 16 * 1024;
/// How long a mail may be a gateway's own to send, milliseconds.
const LEASE_MAX_MS: u64 = 2 * 60 * 1_000;
/// Entries of the audit log that are read at once.
const AUDIT_PAGE: usize = 500;

/// A gateway that is about to be killed: by the first acknowledgement that comes after a moment. Whoever acknowledges
/// before it has kept what it acknowledges is caught best right then.
struct Victim<'a> {
    gateway: &'a Gateway,
    moment: Instant,
    /// Set before the kill: from then on, an answer may be missing.
    killed: AtomicBool,
}

impl<'a> Victim<'a> {
    fn new(gateway: &'a Gateway, after: Duration) -> Self {
        Self { gateway, moment: Instant::now() + after, killed: AtomicBool::new(false) }
    }

    /// The answer of a write that must succeed; `None` when the kill came first, and nobody knows whether it was done.
    async fn write(&self, method: &str, path: &str, token: Option<&str>, body: &Value) -> Option<Value> {
        match self.gateway.try_call(method, path, token, Some(body)).await {
            Ok(answer) => {
                if Instant::now() >= self.moment && !self.killed.swap(true, Ordering::AcqRel) {
                    self.gateway.server.kill();
                }
                assert!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.body);
                Some(answer.body)
            }
            Err(error) => {
                assert!(self.killed.load(Ordering::Acquire), "{method} {path}: {error}; {}", self.gateway.log());
                None
            }
        }
    }
}

/// Writes of one kind to one account, one after the other.
#[derive(Default)]
struct Series {
    /// Acknowledged, in all rounds.
    acknowledged: usize,
    /// One is under way: it may be done, too.
    open: bool,
}

impl Series {
    /// How many were done, as the audit log says, held against what is known; whether the open one was.
    fn settle(&mut self, done: usize, what: &str) -> bool {
        let may_be = self.acknowledged..=self.acknowledged + usize::from(self.open);
        assert!(may_be.contains(&done), "{what}: {done} are in the audit log; expected {may_be:?}");
        let more = done > self.acknowledged;
        *self = Self { acknowledged: done, open: false };
        more
    }
}

/// An account under writes, and what its owner knows of it.
struct Account {
    business: Business,
    client_id: String,
    /// The secret of the last acknowledged rotation; `None` when a later one was done and its answer lost.
    secret: Option<String>,
    rotations: Series,
    /// Address and key's identifier of the last acknowledged write.
    webhook: (String, String),
    /// The address that was sent last.
    webhook_sent: String,
    webhooks: Series,
    /// What each submission said, the first at the front.
    descriptions: Vec<String>,
    submissions: Series,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// Address and current key of a webhook.
fn shown_webhook(body: &Value) -> (String, String) {
    (text(&body["webhook_url"]), text(&body["webhook_signing_keys"][0]["key_id"]))
}

impl Account {
    async fn open(platform: &Platform, number: usize) -> Self {
        let business = platform.sign_up(&format!("ops@business-{number}.example")).await;
        let issued = platform.post(&business.path("credentials"), &business.token, json!({})).await;
        assert_eq!(issued.status, 201, "{}", issued.body);
        Self {
            client_id: text(&issued.body["client_id"]),
            secret: Some(text(&issued.body["client_secret"])),
            business,
            rotations: Series::default(),
            webhook: Default::default(),
            webhook_sent: String::new(),
            webhooks: Series::default(),
            descriptions: Vec::new(),
            submissions: Series::default(),
        }
    }

    /// Writes of all three kinds side by side, until the gateway is gone.
    async fn write(&mut self, victim: &Victim<'_>) {
        let Self { business, secret, rotations, webhook, webhook_sent, webhooks, descriptions, submissions, .. } = self;
        let (token, credentials) = (Some(business.token.as_str()), business.path("credentials"));
        let at_once = json!({"at_once": true});

        let rotate = async {
            let path = format!("{credentials}/rotate");
            loop {
                rotations.open = true;
                let Some(rotated) = victim.write("POST", &path, token, &at_once).await else { return };
                *secret = Some(text(&rotated["client_secret"]));
                *rotations = Series { acknowledged: rotations.acknowledged + 1, open: false };
            }
        };
        let save = async {
            let path = format!("{credentials}/webhook");
            loop {
                // A new address and a new key in turn; the latter ends the keys before, of which there may be but a few.
                let address = webhooks.acknowledged.is_multiple_of(2);
                webhooks.open = true;
                let saved = if address {
                    *webhook_sent = format!("https://coolcar.example/hook/{}", webhooks.acknowledged);
                    victim.write("PUT", &path, token, &json!({"webhook_url": webhook_sent})).await
                } else {
                    victim.write("POST", &format!("{path}/rotate"), token, &at_once).await
                };
                let Some(saved) = saved else { return };
                *webhook = shown_webhook(&saved);
                *webhooks = Series { acknowledged: webhooks.acknowledged + 1, open: false };
            }
        };
        let submit = async {
            let path = business.path("manifest");
            loop {
                let mut body = manifest(true);
                let description = format!("Submission {} of a car AC service.", descriptions.len() + 1);
                body["intents"][0]["description"] = description.as_str().into();
                descriptions.push(description);
                submissions.open = true;
                let Some(sent) = victim.write("POST", &path, token, &body).await else { return };
                assert_eq!(sent["number"], descriptions.len(), "{sent}");
                *submissions = Series { acknowledged: submissions.acknowledged + 1, open: false };
            }
        };
        tokio::join!(rotate, save, submit);
    }

    /// Holds what is there after the kill against what was acknowledged before it.
    async fn check(&mut self, gateway: &Gateway) {
        let log = audit(gateway, &self.business.id).await;
        let of = |kind: &str| log.iter().filter(|entry| text(&entry["action"]).starts_with(kind)).collect::<Vec<_>>();
        self.check_secret(gateway, of("credentials.rotated").len()).await;
        self.check_webhook(gateway, &of("webhook.")).await;
        self.check_manifest(gateway, of("manifest.submitted").len()).await;
    }

    async fn check_secret(&mut self, gateway: &Gateway, done: usize) {
        let ended = self.rotations.settle(done, "rotations");
        let Some(secret) = self.secret.clone() else { return };
        let body = json!({"client_id": self.client_id, "client_secret": secret});
        let answer = gateway.call("POST", "/api/v1/business/token", None, Some(&body)).await;
        assert_eq!(answer.status, if ended { 401 } else { 200 }, "{ended}: {}", answer.body);
        if ended {
            self.secret = None;
        }
    }

    async fn check_webhook(&mut self, gateway: &Gateway, log: &[&Value]) {
        let later = self.webhooks.settle(log.len(), "webhooks");
        let Some(last) = log.last() else { return };
        let shown = gateway.call("GET", &self.business.path("credentials"), Some(&self.business.token), None).await;
        let shown = shown_webhook(&shown.body);
        assert_eq!(shown, (text(&last["detail"]["url"]), text(&last["detail"]["key"])), "record and audit log");
        if later {
            assert_eq!(shown.0, self.webhook_sent);
            self.webhook = shown;
        } else {
            assert_eq!(shown, self.webhook);
        }
    }

    /// The latest submission, and that it and its review came together: of all reviews of the account, this one is open.
    async fn check_manifest(&mut self, gateway: &Gateway, done: usize) {
        self.submissions.settle(done, "submissions");
        self.descriptions.truncate(done);
        let Some(description) = self.descriptions.last() else { return };
        let kept = gateway.call("GET", &self.business.path("manifest"), Some(&self.business.token), None).await.body;
        assert_eq!((&kept["latest"]["number"], &kept["latest"]["status"]), (&json!(done), &json!("pending_review")));
        assert_eq!(kept["latest"]["manifest"]["intents"][0]["description"], description.as_str(), "{kept}");
        let open = gateway.admin_get("/reviews?status=open&limit=500").await;
        let open = open["reviews"].as_array().expect("a list");
        let of_account: Vec<&Value> =
            open.iter().filter(|review| review["account_id"] == self.business.id.as_str()).collect();
        assert_eq!(of_account.len(), 1, "{of_account:?}");
        assert_eq!(of_account[0]["id"], kept["review"], "{of_account:?}");
    }
}

/// All entries of the audit log that concern an account.
async fn audit(gateway: &Gateway, account: &str) -> Vec<Value> {
    let (mut entries, mut after) = (Vec::new(), json!(0));
    while !after.is_null() {
        let path = format!("/audit?subject={account}&limit={AUDIT_PAGE}&after={after}");
        let mut page = gateway.admin_get(&path).await;
        entries.append(page["entries"].as_array_mut().expect("a list"));
        after = page["next"].take();
    }
    entries
}

/// Strangers who sign up, and whose codes must come.
#[derive(Default)]
struct SignUps {
    sent: usize,
    acknowledged: Vec<String>,
}

impl SignUps {
    /// So many that a gateway has some left to send when it is killed.
    async fn write(&mut self, victim: &Victim<'_>) {
        for _ in 0..SIGN_UPS_MAX {
            let email = format!("ops@stranger-{}.example", self.sent);
            self.sent += 1;
            let body = json!({"email": email, "business_name": "CoolCar"});
            if victim.write("POST", "/api/v1/business/sign-up", None, &body).await.is_none() {
                return;
            }
            self.acknowledged.push(email);
        }
    }
}

/// A line to the SMTP server that takes its time, so that a kill often finds a mail under way.
struct SlowLine {
    port: u16,
    task: JoinHandle<()>,
}

impl SlowLine {
    async fn start(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let task = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                // Whatever ends on one side ends on the other; who is cut off tries again.
                tokio::spawn(async move {
                    let far = TcpStream::connect(("127.0.0.1", to)).await?;
                    let ((mut sent, mut answers_out), (mut answers, mut sent_on)) =
                        (near.into_split(), far.into_split());
                    let mut chunk = vec![0; CHUNK_BYTES];
                    let there = async {
                        loop {
                            let read = sent.read(&mut chunk).await?;
                            if read == 0 {
                                return sent_on.shutdown().await;
                            }
                            tokio::time::sleep(LINE_DELAY).await;
                            sent_on.write_all(&chunk[..read]).await?;
                        }
                    };
                    let back = tokio::io::copy(&mut answers, &mut answers_out);
                    tokio::try_join!(there, back).map(|_| ())
                });
            }
        });
        Self { port, task }
    }
}

impl Drop for SlowLine {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Waits until every code that was promised has come. What a gateway was sending when it was killed stays its own for a
/// few minutes, lest it be sent twice; that much is not waited for, but it must be there to be sent. How many those are.
async fn check_mails(platform: &Platform, promised: &[String]) -> usize {
    let deadline = Instant::now() + SOON;
    let mut missed = promised.len();
    loop {
        let mails = platform.smtp.mails().expect("readable");
        let came: BTreeSet<String> = mails.into_iter().flat_map(|mail| mail.recipients).collect();
        let missing: Vec<&String> = promised.iter().filter(|email| !came.contains(*email)).collect();
        if missing.is_empty() {
            return 0;
        }
        // As long as more come, there is no need to look into the store.
        if missing.len() < missed {
            missed = missing.len();
            tokio::time::sleep(LOOK).await;
            continue;
        }
        let held = held_mails(platform);
        let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).expect("after 1970");
        let leased = now + 1..=now + LEASE_MAX_MS;
        if missing.iter().all(|email| held.get(*email).is_some_and(|due_ms| leased.contains(due_ms))) {
            return missing.len();
        }
        assert!(Instant::now() < deadline, "mails are lost: {missing:?}; held: {held:?}");
        tokio::time::sleep(LOOK).await;
    }
}

/// The mails that the store still holds, out of a backup: to whom, and not before when.
fn held_mails(platform: &Platform) -> BTreeMap<String, u64> {
    let folder = platform.gateway.folder.path();
    let backup = folder.join("held-mails.jsonl");
    let mut command = Command::new(built("debug/intent-gateway"));
    command.args(["store", "backup"]).arg(&backup).arg("--config").arg(folder.join("gateway.toml"));
    let output = command.output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&backup).expect("the backup is there");
    std::fs::remove_file(&backup).expect("it goes");

    let vault = Vault::new(&Secret::new(MASTER_KEY), &[], Arc::new(NoRandomness));
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mails = lines.filter(|line| line["table"] == "mail").map(|line| {
        let [id, sealed, not_before_ms] = [0, 1, 2].map(|column| line["row"][column].clone());
        let sealed = Sealed::from_text(sealed.as_str().expect("a text").to_owned());
        let mail = vault.open(&format!("mail/{}", id.as_str().expect("a text")), &sealed).expect("it opens");
        let mail: Value = serde_json::from_str(mail.expose()).expect("JSON");
        (mail["to"].as_str().expect("an address").to_owned(), not_before_ms.as_u64().expect("a time"))
    });
    mails.collect()
}

/// A moment within the range, another each time.
fn random_moment() -> Duration {
    let span = KILL_AFTER_MS.end - KILL_AFTER_MS.start;
    Duration::from_millis(KILL_AFTER_MS.start + RandomState::new().hash_one("kill") % span)
}

async fn kill_again_and_again(store: Option<&str>) {
    let mails = tempfile::tempdir().expect("a temporary folder");
    let smtp = SmtpServer::start(mails.path(), &SmtpOptions::default()).expect("the SMTP server starts");
    let line = SlowLine::start(smtp.port()).await;
    let extra = settings(store, line.port);
    let options = GatewayOptions { contracts: vec![ac_contract()], extra, ..GatewayOptions::default() };
    let mut platform = Platform { gateway: Gateway::start(&options), smtp, mails };
    let mut accounts = Vec::new();
    for number in 0..ACCOUNTS {
        accounts.push(Account::open(&platform, number).await);
    }
    let mut strangers = SignUps::default();
    let mut known = [0; 4];
    for round in 0..ROUNDS_MAX {
        if round >= ROUNDS && known.iter().all(|series| *series > 0) {
            break;
        }
        let patience = u32::try_from(round / ROUNDS + 1).expect("few").pow(3);
        let moment = random_moment() * patience;
        let victim = Victim::new(&platform.gateway, moment);
        let writes = join_all(accounts.iter_mut().map(|account| account.write(&victim)));
        tokio::join!(writes, strangers.write(&victim));
        platform.gateway = platform.gateway.revive();

        let count = |series: fn(&Account) -> &Series| -> usize {
            accounts.iter().map(|account| series(account).acknowledged).sum()
        };
        known = [
            count(|account| &account.rotations),
            count(|account| &account.webhooks),
            count(|account| &account.submissions),
            strangers.acknowledged.len(),
        ];
        eprintln!("round {round}: killed after {moment:?}; acknowledged so far: {known:?}");
        for account in &mut accounts {
            account.check(&platform.gateway).await;
        }
        let verdict = platform.gateway.admin_get("/audit/verify").await;
        assert_eq!(verdict["ok"], true, "{verdict}");
    }
    assert!(known.iter().all(|series| *series > 0), "hardly anything was under way: {known:?}");
    let held = check_mails(&platform, &strangers.acknowledged).await;
    eprintln!("{} codes were promised; {held} of them are still held", strangers.acknowledged.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_outlives_a_kill() {
    for (name, store) in stores() {
        let begun = Instant::now();
        eprintln!("on {name}");
        kill_again_and_again(store.as_deref()).await;
        eprintln!("on {name}: {:?}", begun.elapsed());
    }
}
