//! The load: users who search, book, and whose partners report, begun at a rate whatever the answers are (open loop).
//!
//! Who has no answer, or a refusal that may pass, asks again under the same key, now and then at the other gateway of the
//! store; who has one asks again all the same at times, and must be told the same.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use intent_gateway_domain::secret::Secret;
use intent_gateway_ledger::completion::signature::Signer;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::client::{Answer, Client};
use crate::gateway::{Gateway, signing_key};
use crate::known::{Booking, Known, Report};
use crate::partners::{CREATE_TOOL, FAULTY, INTENT, Samples, WELL};
use crate::plan::ON_SQLITE;
use crate::record::{Attempt, Call, Outcome};

/// How often the same is asked, at most.
const TRIES: u32 = 5;
/// How long one waits before asking again, where nothing says how long, and at most.
const ASK_AGAIN: Duration = Duration::from_secs(1);
const ASK_AGAIN_MAX: Duration = Duration::from_secs(5);
/// What a user thinks between two steps, at most, milliseconds.
const THINKS_MS: u64 = 1_500;
/// Shares, percent: users who book; at a partner that has faults; bookings that are
/// reported; answers that are asked for once more.
const BOOK_PERCENT: u32 = 60;
const AT_FAULTY_PERCENT: u32 = 15;
const REPORT_PERCENT: u32 = 80;
const ONCE_MORE_PERCENT: u32 = 25;
/// How many times the load a burst is.
const BURST_TIMES: u64 = 8;
/// Users under way at once; whoever would come beyond them is not begun, and that is told.
const USERS_MAX: usize = 5_000;

/// The load of a run.
pub struct Load {
    gateways: Arc<Vec<Gateway>>,
    samples: Arc<Samples>,
    token: String,
    client: Client,
    seed: u64,
    began: Instant,
    /// Users of the gateway with SQLite, percent.
    on_sqlite_percent: u32,
    /// How many times the rate.
    times: AtomicU64,
    is_over: AtomicBool,
    attempts: Mutex<Vec<Attempt>>,
    known: Mutex<Known>,
}

/// One user's way.
struct User<'a> {
    load: &'a Load,
    number: u64,
    id: String,
    random: fastrand::Rng,
    /// The gateways of the user's store.
    gateways: &'static [usize],
}

impl Load {
    /// Prepares it; time is counted from now. So many percent of the users go to the gateway with SQLite.
    #[must_use]
    pub fn new(
        gateways: Arc<Vec<Gateway>>,
        samples: Arc<Samples>,
        token: String,
        seed: u64,
        on_sqlite_percent: u32,
    ) -> Self {
        let (client, times, began) = (Client::default(), AtomicU64::new(1), Instant::now());
        let (is_over, attempts, known) = (AtomicBool::new(false), Mutex::default(), Mutex::default());
        Self { gateways, samples, token, client, seed, began, on_sqlite_percent, times, is_over, attempts, known }
    }

    /// Milliseconds since the load began.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Makes the load a burst, or what it was.
    pub fn burst(&self, is_burst: bool) {
        self.times.store(if is_burst { BURST_TIMES } else { 1 }, Ordering::Relaxed);
    }

    /// Begins no more users.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// How many bookings and reports were acknowledged so far.
    #[must_use]
    pub fn count_acknowledged(&self) -> (usize, usize) {
        let known = self.known();
        (known.bookings.len(), known.reports.len())
    }

    /// Begins so many users a second for so long, and waits until all have gone.
    pub async fn run(self: &Arc<Self>, users_per_second: f64, time: Duration) {
        let mut users = JoinSet::new();
        let mut next = Instant::now();
        let end = next + time;
        for number in 0.. {
            tokio::time::sleep_until(next).await;
            if Instant::now() >= end || self.is_over.load(Ordering::Relaxed) {
                break;
            }
            let times = self.times.load(Ordering::Relaxed) as f64;
            next += Duration::from_secs_f64(1.0 / (users_per_second * times));
            while users.try_join_next().is_some() {}
            if users.len() >= USERS_MAX {
                self.known().turned_away += 1;
                continue;
            }
            let load = Arc::clone(self);
            users.spawn(async move { User::new(&load, number).go().await });
        }
        while users.join_next().await.is_some() {}
    }

    /// How many requests there were so far, and how many of them had all that they asked for.
    #[must_use]
    pub fn progress(&self) -> (usize, usize) {
        let attempts = self.attempts();
        (attempts.len(), attempts.iter().filter(|attempt| attempt.outcome == Outcome::Full).count())
    }

    /// All requests, in the order in which they began, and what callers know.
    #[must_use]
    pub fn take(&self) -> (Vec<Attempt>, Known) {
        let mut attempts = std::mem::take(&mut *self.attempts());
        attempts.sort_by_key(|attempt| attempt.began_ms);
        (attempts, std::mem::take(&mut *self.known()))
    }

    fn attempts(&self) -> MutexGuard<'_, Vec<Attempt>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> User<'a> {
    fn new(load: &'a Load, number: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(load.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let on_sqlite = random.u32(0..100) < load.on_sqlite_percent;
        let gateways: &'static [usize] = if on_sqlite { &[ON_SQLITE] } else { &[0, 1] };
        Self { load, number, id: format!("user-{number}"), random, gateways }
    }

    async fn go(mut self) {
        let gateway = self.choose_gateway();
        let Some(found) = self.search(gateway).await else { return };
        let partner = if self.has(AT_FAULTY_PERCENT) {
            FAULTY[self.random.usize(0..FAULTY.len())]
        } else {
            WELL[self.random.usize(0..WELL.len())]
        };
        if !self.has(BOOK_PERCENT) {
            return;
        }
        let options = found["options"].as_array().map(Vec::as_slice).unwrap_or_default();
        // A partner that has faults may have none.
        let Some(option) = options.iter().find(|option| option["partner"] == partner) else { return };
        self.think().await;
        let Some(booking) = self.book(partner, option).await else { return };
        if self.has(REPORT_PERCENT) {
            self.think().await;
            self.report(&booking, option).await;
        }
    }

    fn has(&mut self, percent: u32) -> bool {
        self.random.u32(0..100) < percent
    }

    fn choose_gateway(&mut self) -> usize {
        self.gateways[self.random.usize(0..self.gateways.len())]
    }

    async fn think(&mut self) {
        tokio::time::sleep(Duration::from_millis(self.random.u64(0..THINKS_MS))).await;
    }

    async fn search(&mut self, gateway: usize) -> Option<Value> {
        let mut request = self.load.samples.request.clone();
        request["request_id"] = format!("search-{}", self.number).into();
        let began_ms = self.load.now_ms();
        let url = format!("{}/api/v1/intents/{INTENT}/search", self.load.gateways[gateway].url());
        let mut answer = self.load.client.post(&url, &self.load.token, &self.id, &request).await;
        let options = answer.body["options"].as_array().map(Vec::as_slice).unwrap_or_default();
        let has_options = |partner: &&str| options.iter().any(|option| option["partner"] == **partner);
        if answer.outcome == Outcome::Full && !WELL.iter().all(has_options) {
            answer.outcome = Outcome::InPart;
        }
        let attempt = Attempt {
            call: Call::Search,
            gateway,
            faulty_partner: None,
            began_ms,
            ended_ms: self.load.now_ms(),
            outcome: answer.outcome.clone(),
            says_when: answer.retry_after.is_some(),
            is_first: true,
            is_in_doubt: false,
        };
        self.load.attempts().push(attempt);
        matches!(answer.outcome, Outcome::Full | Outcome::InPart).then_some(answer.body)
    }

    /// Books an option until there is an answer, and sometimes once more.
    async fn book(&mut self, partner: &'static str, option: &Value) -> Option<Booking> {
        let key = format!("book-{}", self.number);
        let request = &self.load.samples.request;
        let body = json!({
            "reference": option["reference"],
            "arguments": {
                "request_id": key,
                "vehicle": request["vehicle"],
                "ac_issue": request["ac_issue"],
                "contact_phone": "+919876543210"
            }
        });
        let path = format!("/api/v1/intents/{INTENT}/tools/{CREATE_TOOL}");
        let mut series = Series::new(Call::Book, partner, path, Asked::Tool { user: self.id.clone(), body });
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let booked = |answer: &Answer| Booking {
            partner,
            key: key.clone(),
            on_sqlite: self.gateways == [ON_SQLITE],
            order: text(&answer.body["order"]["id"]),
            booking: text(&answer.body["payload"]["booking_id"]),
            option: text(&option["option"]["slot_id"]),
        };
        let is_repeated = self.random.u32(0..100) < ONCE_MORE_PERCENT;
        let load = self.load;
        let first = series.ask(load, &mut self.random, self.gateways).await;
        let Some(first) = first else {
            load.known().unbooked.push((booked(&Answer::without(Outcome::TimedOut)), series.may_have_done));
            return None;
        };
        let booking = booked(&first);
        load.known().bookings.push(booking.clone());
        if is_repeated && let Some(again) = series.ask(load, &mut self.random, self.gateways).await {
            load.known().compare(&booking, &booked(&again));
        }
        Some(booking)
    }

    /// Reports a booking until there is an answer, and sometimes once more.
    async fn report(&mut self, booking: &Booking, option: &Value) {
        let quoted = &option["option"];
        let mut body = self.load.samples.report.clone();
        body["external_id"] = booking.booking.as_str().into();
        body["request_id"] = booking.key.as_str().into();
        let labour = quoted["estimated_price"]["labour_inr"].as_u64().unwrap_or_default();
        // No two orders in a row have the same amount.
        let paise = labour * 100 + self.number % 1_000;
        body["amount_inr"] = (paise as f64 / 100.0).into();
        body["service_scope_performed"] = quoted["service_scope"]["code"].clone();
        let body = body.to_string();
        let path = format!("/api/v1/cpc/mcp_provider/{}", booking.partner);
        let signer = Signer::new(&Secret::new(signing_key(booking.partner)));
        let mut series = Series::new(Call::Report, booking.partner, path, Asked::Report { signer, body });
        let reported = |answer: &Answer| Report {
            booking: booking.clone(),
            receipt: answer.body["receipt_id"].as_str().unwrap_or_default().to_owned(),
            commission_paise: answer.body["commission_inr"].as_f64().map(|inr| (inr * 100.0).round() as i64),
        };
        let is_repeated = self.has(ONCE_MORE_PERCENT);
        let load = self.load;
        let first = series.ask(load, &mut self.random, self.gateways).await;
        let Some(first) = first else {
            load.known().unreported.push((booking.clone(), series.may_have_done));
            return;
        };
        let report = reported(&first);
        load.known().reports.push(report.clone());
        if is_repeated && let Some(again) = series.ask(load, &mut self.random, self.gateways).await {
            load.known().compare(&report, &reported(&again));
        }
    }
}

/// What is asked.
enum Asked {
    /// A call of a tool, by a user.
    Tool { user: String, body: Value },
    /// A report, signed anew each time.
    Report { signer: Signer, body: String },
}

/// Requests under one key.
struct Series {
    call: Call,
    path: String,
    asked: Asked,
    faulty_partner: Option<usize>,
    is_first: bool,
    /// Whether one of them may have done something without an answer that says so.
    may_have_done: bool,
}

impl Series {
    fn new(call: Call, partner: &str, path: String, asked: Asked) -> Self {
        let faulty_partner = FAULTY.iter().position(|faulty| *faulty == partner && call == Call::Book);
        Self { call, path, asked, faulty_partner, is_first: true, may_have_done: false }
    }

    /// Asks until there is a success, at most [`TRIES`] times.
    async fn ask(&mut self, load: &Load, random: &mut fastrand::Rng, gateways: &[usize]) -> Option<Answer> {
        for tried in 1..=TRIES {
            let gateway = gateways[random.usize(0..gateways.len())];
            let began_ms = load.now_ms();
            let url = format!("{}{}", load.gateways[gateway].url(), self.path);
            let answer = match &self.asked {
                Asked::Tool { user, body } => load.client.post(&url, &load.token, user, body).await,
                Asked::Report { signer, body } => load.client.report(&url, signer, body).await,
            };
            let attempt = Attempt {
                call: self.call,
                gateway,
                faulty_partner: self.faulty_partner,
                began_ms,
                ended_ms: load.now_ms(),
                outcome: answer.outcome.clone(),
                says_when: answer.retry_after.is_some(),
                is_first: std::mem::replace(&mut self.is_first, false),
                is_in_doubt: self.may_have_done,
            };
            load.attempts().push(attempt);
            if answer.outcome == Outcome::Full {
                return Some(answer);
            }
            self.may_have_done |= !answer.outcome.did_nothing();
            if tried < TRIES {
                tokio::time::sleep(answer.retry_after.unwrap_or(ASK_AGAIN).min(ASK_AGAIN_MAX)).await;
            }
        }
        None
    }
}
