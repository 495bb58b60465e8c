//! Partners of the car AC intent that take every booking, each behind a proxy that can be made to fail. The same key gives the
//! same booking, as the intent demands of them.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use jiff::civil::Date;
use jiff::{ToSpan as _, Zoned};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use crate::plan::{FAULTY_PARTNERS, Kind};
use crate::proxy::{Fault, Proxy};

/// What is asked for.
pub const INTENT: &str = "auto.book_ac_service";
/// The tool that searches.
const SEARCH_TOOL: &str = "search_ac_service_slots";
/// The tool that books.
pub const CREATE_TOOL: &str = "create_ac_service_booking";
/// Partners that are well all the while.
pub const WELL: [&str; 2] = ["well-1", "well-2"];
/// Partners that have faults.
pub const FAULTY: [&str; FAULTY_PARTNERS] = ["faulty-1", "faulty-2", "faulty-3"];
/// Options of a partner: few, so that a search is mostly calls.
const OPTIONS: usize = 3;
/// The days of the contract's samples, which stand for tomorrow and the day after.
const SAMPLE_DAYS: [&str; 2] = ["2026-05-04", "2026-05-05"];

/// A partner and the proxy before it.
pub struct Partner {
    /// Its identifier.
    pub id: &'static str,
    /// Through which it is called.
    pub proxy: Proxy,
    state: Arc<State>,
    task: JoinHandle<()>,
}

struct State {
    id: &'static str,
    samples: Arc<Samples>,
    /// The keys under which it was booked.
    booked: Mutex<BTreeSet<String>>,
}

/// The contract's samples, moved to the days to come.
pub struct Samples {
    /// What is searched with.
    pub request: Value,
    slots: Vec<Value>,
    booking: Value,
    /// What a report is made of.
    pub report: Value,
}

impl Samples {
    /// Reads them out of the contract's folder.
    ///
    /// # Errors
    /// Where one is not there, or not as it should be.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let today = Zoned::now().date();
        let read = |name: &str| read_sample(&folder.join(name), today);
        let mut payload = read("payload.json")?;
        let slots = payload["slots"].as_array_mut().context("the sample has slots")?;
        slots.truncate(OPTIONS);
        let slots = std::mem::take(slots);
        let (request, booking, report) =
            (read("request.json")?, read("booking.json")?, read("completion-report.json")?);
        Ok(Self { request, slots, booking, report })
    }
}

/// A sample of the contract, moved to the days after `today`.
///
/// # Errors
/// Where it cannot be read, or is not JSON.
pub fn read_sample(path: &Path, today: Date) -> anyhow::Result<Value> {
    let mut text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    for (days, sample) in (1_i64..).zip(SAMPLE_DAYS) {
        text = text.replace(sample, &today.checked_add(days.days())?.to_string());
    }
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

impl Partner {
    /// Starts one.
    ///
    /// # Errors
    /// Where there is no free port.
    pub async fn start(id: &'static str, samples: Arc<Samples>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let state = Arc::new(State { id, samples, booked: Mutex::default() });
        let task = tokio::spawn(accept(listener, Arc::clone(&state)));
        Ok(Self { id, proxy: Proxy::start(&address).await, state, task })
    }

    /// The keys under which it was booked.
    #[must_use]
    pub fn booked(&self) -> BTreeSet<String> {
        self.state.booked().clone()
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What the proxy before a partner does under a fault of this kind.
#[must_use]
pub fn fault_of(kind: Kind) -> Fault {
    match kind {
        Kind::PartnerLate => Fault::Delay(Duration::from_millis(400)),
        Kind::PartnerReset => Fault::Reset,
        Kind::PartnerResetInBody => Fault::ResetMidBody,
        Kind::PartnerSilent => Fault::Silent,
        Kind::PartnerHalf => Fault::StallMidBody,
        Kind::PartnerTrickle => Fault::Trickle(64, Duration::from_millis(40)),
        Kind::PartnerLimits => Fault::RateLimited(None),
        Kind::PartnerLimitsFor => Fault::RateLimited(Some(2)),
        Kind::PartnerFlaps => Fault::Flapping,
        _ => Fault::None,
    }
}

/// What a partner calls the booking under a key.
#[must_use]
pub fn booking_id(partner: &str, key: &str) -> String {
    format!("BK-{partner}-{key}")
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        connections.spawn(async move {
            let service = service_fn(|request| answer(Arc::clone(&state), request));
            // A client that goes away ends its connection; the next one is not concerned.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

/// The part of MCP that the gateway speaks.
async fn answer(state: Arc<State>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = message["method"].as_str().unwrap_or_default();
    if method.starts_with("notifications/") {
        let mut accepted = Response::new(Full::default());
        *accepted.status_mut() = StatusCode::ACCEPTED;
        return Ok(accepted);
    }
    let result = match method {
        "initialize" => Some(json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": state.id, "version": "1.0.0"}
        })),
        "tools/call" => state
            .call(&message["params"])
            .map(|payload| json!({"content": [{"type": "text", "text": payload.to_string()}]})),
        _ => None,
    };
    let id = &message["id"];
    let said = match result {
        Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        None => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "there is no such method"}}),
    };
    let mut response = Response::new(Full::from(said.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

impl State {
    fn call(&self, call: &Value) -> Option<Value> {
        let (samples, arguments) = (&self.samples, &call["arguments"]);
        match call["name"].as_str()? {
            SEARCH_TOOL => {
                let token = format!("token-of-{}", self.id);
                Some(json!({"result_token": token, "expires_at": "2099-01-01T00:00:00Z", "slots": samples.slots}))
            }
            CREATE_TOOL => {
                let key = arguments["request_id"].as_str()?;
                let slot = samples.slots.iter().find(|slot| slot["slot_id"] == arguments["slot_id"])?;
                let mut booking = samples.booking.clone();
                booking["booking_id"] = booking_id(self.id, key).into();
                booking["partner_booking_reference"] = format!("REF-{}-{key}", self.id).into();
                booking["slot_id"] = slot["slot_id"].clone();
                booking["total_estimate_inr"] = slot["estimated_price"]["total_estimate_inr"].clone();
                booking["service_scope_confirmed"] = slot["service_scope"]["code"].clone();
                self.booked().insert(key.to_owned());
                Some(booking)
            }
            _ => None,
        }
    }

    fn booked(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.booked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
