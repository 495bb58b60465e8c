//! What operators see: one trace from the orchestrator through the gateway to the partner, metrics whose number does not
//! grow with what is asked, and nothing about a user in any of it.

mod collector;
mod personal;
mod recorder;
mod series;

use std::time::{Duration, Instant};

use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use self::collector::{Collector, Span};
use self::recorder::Recorder;
use self::series::Series;
use crate::calls::booking;
use crate::harness::{Gateway, GatewayOptions, PartnerEntry, Server, ac_contract, client, request, rust_partner};

const SEARCH: &str = "/api/v1/intents/auto.book_ac_service/search";
const CREATE: &str = "/api/v1/intents/auto.book_ac_service/tools/create_ac_service_booking";
const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT_ID: &str = "00f067aa0ba902b7";
/// How long the gateway waits for a collector.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// With a collector that never answers, a gateway may take this long to stop: a flush and a little.
const STOP_MAX: Duration = Duration::from_secs(8);

/// A gateway with one real partner, whose calls are recorded.
struct Observed {
    gateway: Gateway,
    recorder: Recorder,
    client: reqwest::Client,
    _partner: Server,
    _folder: tempfile::TempDir,
}

impl Observed {
    async fn start(extra: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let partner = rust_partner("oem", folder.path());
        let recorder = Recorder::before(&partner.url).await;
        let gateway = Gateway::start(&GatewayOptions {
            partners: vec![PartnerEntry::new("oem", &recorder.url)],
            contracts: vec![ac_contract()],
            extra: extra.to_owned(),
            ..GatewayOptions::default()
        });
        Self { gateway, recorder, client: client(), _partner: partner, _folder: folder }
    }

    async fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> (HeaderMap, Value) {
        let mut request = self.client.post(format!("{}{path}", self.gateway.server.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.bearer_auth(self.gateway.orchestrator_token()).json(body).send().await.expect("an answer");
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body: Value = answer.json().await.expect("JSON");
        assert_eq!(status, 200, "{body}\n{}", self.gateway.log());
        (headers, body)
    }

    /// Searches and books the first option that can be had, under the same headers; the booking's answer.
    async fn search_and_book(&self, headers: &[(&str, &str)], search: &Value, booking: Value) -> Value {
        let (_, found) = self.post(SEARCH, headers, search).await;
        let options = found["options"].as_array().expect("a list");
        let option = options.iter().find(|option| option["bookable"] == true).expect("a bookable option");
        let call = json!({"reference": option["reference"], "arguments": booking});
        self.post(CREATE, headers, &call).await.1
    }

    /// What a scraper gets, without any token.
    async fn scraped(&self) -> Series {
        let log = self.gateway.log();
        let line = log.lines().find(|line| line.contains("metrics are shown")).expect("it is told");
        let line: Value = serde_json::from_str(line).expect("JSON");
        let url = format!("http://{}/metrics", line["address"].as_str().expect("an address"));
        let answer = self.client.get(url).send().await.expect("an answer");
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
        Series::parse(&answer.text().await.expect("text"))
    }
}

/// Settings that a test with a collector needs.
fn exporting(endpoint: &str) -> String {
    format!(
        "[telemetry]\nmetrics_address = \"127.0.0.1:0\"\notlp_endpoint = {endpoint:?}\nservice_name = \
         \"gateway-under-test\"\n[log]\nformat = \"json\"\n"
    )
}

fn parent_of(traceparent: &str) -> (&str, &str, &str) {
    let parts: Vec<&str> = traceparent.split('-').collect();
    assert_eq!((parts.len(), parts[0]), (4, "00"), "{traceparent}");
    (parts[1], parts[2], parts[3])
}

#[tokio::test(flavor = "multi_thread")]
async fn one_trace_leads_from_the_orchestrator_through_the_gateway_to_the_partner() {
    let collector = Collector::start().await;
    let observed = Observed::start(&exporting(&collector.url)).await;
    let traceparent = format!("00-{TRACE_ID}-{PARENT_ID}-01");
    let headers = [("traceparent", traceparent.as_str()), ("tracestate", "vendor=x"), ("x-request-id", "trip-42")];
    observed.search_and_book(&headers, &request(), booking("r1")).await;

    let spans = collector
        .until(|spans| {
            let ends = |what: &str| spans.iter().filter(|span| span.name.starts_with(what)).count();
            ends("POST /api/v1/intents") >= 2 && ends("tools/call") >= 2 && ends("respond") >= 2
        })
        .await;
    let spans: Vec<Span> = spans.into_iter().filter(|span| span.trace == TRACE_ID).collect();
    let named =
        |name: &str| spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{name}: {spans:#?}"));
    for (route, tool, stages) in [
        (
            "POST /api/v1/intents/{intent}/search",
            "search_ac_service_slots",
            &["check", "select", "call", "scan", "evaluate", "respond"][..],
        ),
        (
            "POST /api/v1/intents/{intent}/tools/{tool}",
            "create_ac_service_booking",
            &["check", "call", "scan", "evaluate", "respond"],
        ),
    ] {
        let server = named(route);
        assert_eq!(
            (server.parent.as_str(), server.attributes["http.response.status_code"].as_str()),
            (PARENT_ID, "200")
        );
        assert_eq!(server.attributes["request_id"], "trip-42");
        let call = named(&format!("tools/call {tool}"));
        assert_eq!((&call.parent, call.attributes["outcome"].as_str()), (&server.id, "ok"));
        assert_eq!((call.attributes["partner"].as_str(), call.attributes["tool"].as_str()), ("oem", tool));
        for stage in stages {
            let mut of_request = spans.iter().filter(|span| span.name == *stage && span.parent == server.id);
            let span = of_request.next().unwrap_or_else(|| panic!("{stage} of {route}: {spans:#?}"));
            assert_eq!(span.attributes["intent"], "auto.book_ac_service", "{stage}");
            assert_eq!(span.attributes.contains_key("partner"), ["call", "scan"].contains(stage), "{stage}");
            assert!(span.took_ns <= server.took_ns, "{stage}");
        }

        // The partner was told of just this span, so that its own spans hang below it.
        let seen = observed.recorder.seen(tool);
        let [seen] = &seen[..] else { panic!("{seen:#?}") };
        assert_eq!(parent_of(seen.header("traceparent")), (TRACE_ID, call.id.as_str(), "01"));
        assert_eq!((seen.header("tracestate"), seen.header("x-request-id")), ("vendor=x", "trip-42"));
        let arguments = seen.arguments.to_string();
        assert!(!arguments.contains(TRACE_ID) && !arguments.contains("vendor=x"), "{arguments}");
    }
    let log = observed.gateway.log();
    assert!(!log.contains("the collector takes no traces"), "{log}");
    assert!(observed.gateway.server.stop());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_is_passed_on_where_nothing_is_exported_and_a_malformed_one_is_not() {
    let observed = Observed::start("").await;
    let traceparent = format!("00-{TRACE_ID}-{PARENT_ID}-01");
    observed.post(SEARCH, &[("traceparent", &traceparent)], &request()).await;
    observed
        .post(SEARCH, &[("traceparent", &traceparent.to_uppercase()), ("tracestate", "a=1")], &other_search(1))
        .await;
    observed.post(SEARCH, &[("x-request-id", "not one word")], &other_search(2)).await;
    let seen = observed.recorder.seen("search_ac_service_slots");
    let sent: Vec<_> = seen.iter().map(|seen| parent_of(seen.header("traceparent"))).collect();
    let [passed, malformed, absent] = sent[..] else { panic!("{sent:?}") };
    assert_eq!((passed.0, passed.2), (TRACE_ID, "01"));
    assert_ne!(passed.1, PARENT_ID);
    assert!(![TRACE_ID, absent.0].contains(&malformed.0) && malformed.2 == "00" && absent.2 == "00", "{sent:?}");
    assert!(seen.iter().all(|seen| !seen.headers.contains_key("tracestate")), "{seen:?}");
    let made = seen[2].header("x-request-id");
    assert!(!made.is_empty() && !made.contains(' '), "{made}");
}

/// A search that is not answered from the cache.
fn other_search(number: u32) -> Value {
    let mut search = request();
    search["ac_issue"]["last_serviced_months_ago"] = json!(number);
    search
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_never_answers_slows_nothing_and_holds_nothing_up() {
    // Connections are taken by the kernel, and nobody ever reads.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let endpoint = format!("http://{}", silent.local_addr().expect("bound"));
    let observed = Observed::start(&exporting(&endpoint)).await;
    // The first one opens the partner's session.
    observed.post(SEARCH, &[], &other_search(0)).await;
    for number in 1..=50 {
        let start = Instant::now();
        observed.post(SEARCH, &[], &other_search(number)).await;
        assert!(start.elapsed() < EXPORT_TIMEOUT, "a search took {:?}", start.elapsed());
    }
    let start = Instant::now();
    assert!(observed.gateway.server.stop(), "a clean stop");
    assert!(start.elapsed() < STOP_MAX, "the stop took {:?}", start.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_stage_is_timed_and_odd_requests_make_no_new_series() {
    let observed = Observed::start("[telemetry]\nmetrics_address = \"127.0.0.1:0\"\n[log]\nformat = \"json\"\n").await;
    observed.search_and_book(&[("x-user-id", "user-1")], &request(), booking("r1")).await;

    let series = observed.scraped().await;
    let labels = [("intent", "auto.book_ac_service")];
    for stage in ["check", "select", "call", "scan", "evaluate", "respond"] {
        let found = series.of("intent_gateway_stage_seconds_count", &[("stage", stage), labels[0]]);
        let partner = ["call", "scan"].contains(&stage).then_some("oem");
        assert!(!found.is_empty() && found.iter().all(|one| one.label("partner") == partner), "{stage}: {found:?}");
        assert!(found.iter().all(|one| one.label("version").is_some() && one.value >= 1.0), "{stage}: {found:?}");
    }
    let calls = [("tool", "create_ac_service_booking"), ("partner", "oem"), ("outcome", "ok")];
    assert_eq!(series.one("intent_gateway_partner_call_seconds_count", &calls), 1.0);
    assert_eq!(series.one("intent_gateway_searches_total", &[labels[0], ("outcome", "ok")]), 1.0);
    assert_eq!(series.one("intent_gateway_tool_calls_total", &[labels[0], ("outcome", "ok")]), 1.0);
    let route = ("route", "/api/v1/intents/{intent}/search");
    let searches = [("method", "POST"), route, ("status", "2xx")];
    assert_eq!(series.one("intent_gateway_http_request_seconds_count", &searches), 1.0);
    assert_eq!(series.one("intent_gateway_live_intents", &[]), 1.0);
    assert_eq!(series.one("intent_gateway_http_requests_in_flight", &[]), 0.0);
    assert_eq!(series.one("intent_gateway_build_info", &[]), 1.0);
    assert!(series.one("process_resident_memory_bytes", &[]) > 1e6);

    // The same is shown to an admin, and to nobody else, on the gateway's own port.
    let admin = observed.gateway.call("GET", "/api/v1/admin/metrics", Some(observed.gateway.admin_token()), None).await;
    let text = admin.body.as_str().expect("text");
    assert!(Series::parse(text).one("intent_gateway_searches_total", &[labels[0]]) >= 1.0);
    let orchestrator = observed.gateway.orchestrator_token();
    for (token, status) in [(None, 401), (Some(orchestrator), 403)] {
        assert_eq!(observed.gateway.call("GET", "/api/v1/admin/metrics", token, None).await.status, status);
    }
    assert_eq!(observed.gateway.call("GET", "/metrics", Some(orchestrator), None).await.status, 404);

    for number in 0..20 {
        observed.odd_request(number).await;
    }
    let before = observed.scraped().await;
    for number in 20..1_020 {
        observed.odd_request(number).await;
    }
    let after = observed.scraped().await;
    // Whether a request ever waits for its turn is a matter of load; that series has no labels.
    let of_requests = |series: &Series| {
        let names = series.names().into_iter();
        names.filter(|name| !name.starts_with("intent_gateway_admission_wait_seconds")).collect::<Vec<_>>()
    };
    assert_eq!(of_requests(&after), of_requests(&before));
    let counted = |series: &Series| series.sum("intent_gateway_http_request_seconds_count", &[]);
    assert_eq!(counted(&after) - counted(&before), 1_000.0);
    assert!(!after.text.contains("odd"), "{}", after.text);
}

impl Observed {
    /// A request that differs from all others in every place where a caller can write something.
    async fn odd_request(&self, number: usize) {
        let odd = format!("odd{number}");
        let url = |path: String| format!("{}{path}", self.gateway.server.url);
        let search = |intent: &str| self.client.post(url(format!("/api/v1/intents/{intent}/search"))).json(&request());
        let request = match number % 6 {
            0 => self.client.get(url(format!("/{odd}/{odd}"))),
            1 => search(&format!("auto.{odd}")),
            2 => self.client.request(odd.to_uppercase().parse().expect("a method"), url(SEARCH.to_owned())),
            3 => search("auto.book_ac_service").body(format!("{{\"{odd}\": 1}}")),
            4 => self
                .client
                .post(url(format!("/api/v1/intents/auto.book_ac_service/tools/{odd}")))
                .json(&json!({"reference": odd, "arguments": {}})),
            _ => self.client.post(url(format!("/api/v1/cpc/mcp_provider/{odd}"))).body(odd.clone()),
        };
        let request = request.header("x-request-id", &odd).header("x-user-id", &odd).header("tracestate", &odd);
        let answer = request.bearer_auth(self.gateway.orchestrator_token()).send().await.expect("an answer");
        assert!(answer.status().is_client_error(), "{number}: {}", answer.status());
    }
}
