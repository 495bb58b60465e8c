//! A booking that failed, and nobody knows whether the table is booked: the partner's orders are read before the call is
//! made again (spec 1, Endpoints, rule 6). The contract is a small one of the tests' own.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::harness::{Answer, Gateway, GatewayOptions, PartnerEntry, built};

const INTENT: &str = "food.dine_in";

/// How a call goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// The order is made, and the answer is lost.
    Landed,
    /// Nothing is made.
    Lost,
}

/// What the restaurant has done, and what goes wrong next.
#[derive(Default)]
struct Books {
    /// Trouble of the next bookings, in order; then there is none.
    bookings: Vec<Trouble>,
    /// Whether the orders cannot be read.
    unreadable: bool,
    /// Request and table of each order.
    orders: Vec<(String, String)>,
    /// Names of the tools that were called.
    calls: Vec<String>,
}

/// A restaurant on a port of its own, stopped when dropped.
struct Restaurant {
    url: String,
    books: Arc<Mutex<Books>>,
    task: JoinHandle<()>,
}

impl Restaurant {
    async fn open(books: Books) -> Self {
        let books = Arc::new(Mutex::new(books));
        let router = axum::Router::new().route("/mcp", post(answer)).with_state(books.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("bound"));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.expect("serves") });
        Self { url, books, task }
    }

    /// The tools that were called since a search, and the orders that were made.
    fn seen(&self) -> (Vec<String>, usize) {
        let books = self.books.lock().expect("no test panics in it");
        let calls = books.calls.iter().filter(|name| *name != "search_tables").cloned().collect();
        (calls, books.orders.len())
    }
}

impl Drop for Restaurant {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(books): State<Arc<Mutex<Books>>>, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).expect("the gateway sends JSON");
    let id = message["id"].clone();
    let result = |result: Value| Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response();
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => result(json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "restaurant", "version": "1.0.0"}
        })),
        "tools/call" => {
            let mut books = books.lock().expect("no test panics in it");
            match call(&mut books, &message["params"]) {
                Some(payload) => result(json!({"content": [{"type": "text", "text": payload.to_string()}]})),
                None => StatusCode::BAD_GATEWAY.into_response(),
            }
        }
        method if method.starts_with("notifications/") => StatusCode::ACCEPTED.into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A tool's payload; `None` where the answer is lost.
fn call(books: &mut Books, params: &Value) -> Option<Value> {
    let (name, arguments) = (params["name"].as_str().expect("a name"), &params["arguments"]);
    let text = |member: &str| arguments[member].as_str().expect("a text").to_owned();
    books.calls.push(name.to_owned());
    match name {
        "search_tables" => Some(json!({
            "result_token": "token-1", "expires_at": "2099-01-01T00:00:00Z",
            "tables": [{"table_id": "t-1", "restaurant": "Udupi", "price_inr": 300, "seats": 4}],
        })),
        "book_table" => {
            let trouble = (!books.bookings.is_empty()).then(|| books.bookings.remove(0));
            if trouble != Some(Trouble::Lost) {
                books.orders.push((text("request_id"), text("table_id")));
            }
            let booked = json!({"order_id": format!("o-{}", books.orders.len()), "table_id": text("table_id")});
            trouble.is_none().then_some(booked)
        }
        "list_orders" => {
            // What the tool's own request names is sent, and nothing else.
            assert_eq!(arguments.as_object().map(|sent| sent.keys().collect::<Vec<_>>().len()), Some(2), "{arguments}");
            let made = books.orders.iter().enumerate().filter(|(_, made)| made.0 == text("request_id"));
            let orders = made.map(|(at, made)| json!({"order_id": format!("o-{}", at + 1), "table_id": made.1}));
            (!books.unreadable).then(|| json!({"orders": orders.collect::<Vec<_>>()}))
        }
        _ => None,
    }
}

/// Searches for a table and books it.
async fn book(restaurant: &Restaurant) -> Answer {
    let gateway = Gateway::start(&GatewayOptions {
        partners: vec![PartnerEntry {
            intents: vec![INTENT.to_owned()],
            ..PartnerEntry::new("udupi", &restaurant.url)
        }],
        contracts: vec![built("test-contracts/dining-contract.wasm")],
        ..GatewayOptions::default()
    });
    let request = json!({"intent": INTENT, "city": "Bengaluru", "party_size": 2});
    let found = gateway.post(&format!("/api/v1/intents/{INTENT}/search"), &request).await;
    let reference = found.body["options"][0]["reference"].as_str().unwrap_or_else(|| panic!("{}", found.body));
    let arguments = json!({"request_id": "req-1", "table_id": "t-1", "party_size": 2});
    let body = json!({"reference": reference, "arguments": arguments});
    gateway.post(&format!("/api/v1/intents/{INTENT}/tools/book_table"), &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_booking_is_made_again_once_the_orders_were_read() {
    let restaurant = Restaurant::open(Books { bookings: vec![Trouble::Lost], ..Books::default() }).await;
    let booked = book(&restaurant).await;
    assert_eq!((booked.status, &booked.body["payload"]["order_id"]), (200, &json!("o-1")), "{}", booked.body);
    assert_eq!(restaurant.seen(), (["book_table", "list_orders", "book_table"].map(str::to_owned).into(), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_booking_that_landed_is_not_made_again() {
    let restaurant = Restaurant::open(Books { bookings: vec![Trouble::Landed], ..Books::default() }).await;
    let found = book(&restaurant).await;
    assert_eq!((found.status, &found.body["tool"]), (200, &json!("list_orders")), "{}", found.body);
    assert_eq!(found.body["payload"]["orders"][0]["order_id"], "o-1");
    assert!(found.body["reference"].is_string(), "what landed can be called about");
    assert_eq!(restaurant.seen(), (["book_table", "list_orders"].map(str::to_owned).into(), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_made_again_where_the_orders_cannot_be_read() {
    let books = Books { bookings: vec![Trouble::Lost], unreadable: true, ..Books::default() };
    let restaurant = Restaurant::open(books).await;
    let failed = book(&restaurant).await;
    assert!(failed.status >= 500, "{}", failed.body);
    let (calls, orders) = restaurant.seen();
    assert_eq!((calls.iter().filter(|name| *name == "book_table").count(), orders), (1, 0), "{calls:?}");
}
