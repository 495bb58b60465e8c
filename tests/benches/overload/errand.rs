//! What a user asks for: a search, and for some users a booking of the first option, which the partner reports.

use std::time::{SystemTime, UNIX_EPOCH};

use intent_gateway_domain::secret::Secret;
use intent_gateway_ledger::completion::signature::Signer;
use serde_json::{Value, json};

use crate::generator::{Call, contains};
use crate::measures::Step;

/// Users who come again and again.
const USERS: usize = 20_000;
/// Stands in prepared texts for what differs from user to user.
const KEY: &str = "KEY-OF-THE-USER";
/// What comes before the reference of an option.
const REFERENCE: &[u8] = b"\"reference\":\"";
/// What comes before the partner's name for a booking.
const BOOKING: &[u8] = b"\"booking_id\":\"";

/// Whom users ask, on whose behalf, and for what.
pub(crate) struct Place {
    pub(crate) address: String,
    pub(crate) intent: &'static str,
    pub(crate) partner: &'static str,
    /// What the partner signs its reports with.
    pub(crate) signing_key: &'static str,
    /// Of each caller.
    pub(crate) tokens: Vec<String>,
}

/// Requests of all users, prepared.
pub(crate) struct Errands {
    place: Place,
    /// Of so many users one books; none where it is absent.
    books_one_in: Option<usize>,
    /// JSON texts, with [`KEY`] for identifiers of the request.
    search: String,
    arguments: String,
    report: String,
    signer: Signer,
}

impl Errands {
    /// From the contract's samples: a request, arguments of a booking, and a report.
    pub(crate) fn new(place: Place, books_one_in: Option<usize>, samples: [Value; 3]) -> Self {
        let [mut search, mut arguments, mut report] = samples;
        search["request_id"] = json!(KEY);
        // What the reference says is not said twice.
        if let Some(arguments) = arguments.as_object_mut() {
            arguments.remove("slot_id");
        }
        arguments["request_id"] = json!(KEY);
        report["request_id"] = json!(KEY);
        report["external_id"] = json!(format!("BK-{KEY}"));
        let signer = Signer::new(&Secret::new(place.signing_key));
        let [search, arguments, report] = [search, arguments, report].map(|json| json.to_string());
        Self { place, books_one_in, search, arguments, report, signer }
    }

    /// The search of a user.
    pub(crate) fn search(&self, caller: usize, user: usize) -> Call {
        let path = format!("/api/v1/intents/{}/search", self.place.intent);
        Call::post(&path, &self.place.address, &self.headers(caller, user), &self.search.replace(KEY, &key(user)))
    }

    /// What a user asks for next, once the step before was answered as it should.
    pub(crate) fn after(&self, step: Step, caller: usize, user: usize, answer: &[u8]) -> Option<(Step, Call)> {
        let is_booked = self.books_one_in.is_some_and(|of| user.is_multiple_of(of));
        match step {
            Step::Search if is_booked => Some((Step::Book, self.book(caller, user, answer))),
            Step::Book => Some((Step::Report, self.report(user, answer))),
            Step::Search | Step::Report => None,
        }
    }

    fn book(&self, caller: usize, user: usize, answer: &[u8]) -> Call {
        let reference = text_after(REFERENCE, answer).expect("options have references");
        let arguments = self.arguments.replace(KEY, &key(user));
        let body = format!("{{\"reference\":\"{reference}\",\"arguments\":{arguments}}}");
        let path = format!("/api/v1/intents/{}/tools/create_ac_service_booking", self.place.intent);
        Call::post(&path, &self.place.address, &self.headers(caller, user), &body)
    }

    fn report(&self, user: usize, answer: &[u8]) -> Call {
        let body = self.report.replace(KEY, &key(user));
        let booked = text_after(BOOKING, answer).expect("a booking has a name");
        assert!(contains(body.as_bytes(), booked.as_bytes()), "{booked} is not what {body} is about");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_millis();
        let now = u64::try_from(now).expect("it is before the year 500 million");
        let signature = self.signer.sign(now, body.as_bytes());
        let headers = format!("x-platform-timestamp: {now}\r\nx-platform-signature: {signature}\r\n");
        Call::post(&format!("/api/v1/cpc/mcp_provider/{}", self.place.partner), &self.place.address, &headers, &body)
    }

    fn headers(&self, caller: usize, user: usize) -> String {
        let token = &self.place.tokens[caller];
        format!("authorization: Bearer {token}\r\nx-user-id: user-{}\r\n", user % USERS)
    }
}

/// What names a user's request.
fn key(user: usize) -> String {
    format!("req-{user:016x}")
}

/// A text of JSON by what comes before it.
fn text_after<'a>(before: &[u8], answer: &'a [u8]) -> Option<&'a str> {
    let begin = answer.windows(before.len()).position(|bytes| bytes == before)? + before.len();
    let length = answer[begin..].iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&answer[begin..begin + length]).ok()
}
