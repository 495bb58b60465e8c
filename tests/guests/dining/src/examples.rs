//! An accepted and a refused case of each function, without which no version goes live.

use contract_sdk::bindings::Example;
use contract_sdk::example;

const REQUEST: &str = r#"{"intent": "food.dine_in", "request_id": "r-1", "city": "Bengaluru", "party_size": 2}"#;
const TABLE: &str = r#"{"table_id": "t-1", "restaurant": "Udupi", "price_inr": 300, "seats": 4}"#;
const SMALL: &str = r#"{"table_id": "t-2", "restaurant": "Udupi", "price_inr": 200, "seats": 1}"#;
const ARGUMENTS: &str = r#"{"request_id": "r-1", "table_id": "t-1", "party_size": 2}"#;
const BOOKING: &str = r#"{"order_id": "o-1", "table_id": "t-1"}"#;
const REPORT: &str = r#"{
    "intent": "food.dine_in", "external_id": "o-1", "request_id": "r-1", "amount_inr": 600, "gst_inr": 30, "tips_inr": 0,
    "pass_through_inr": 0, "closed_at": "2026-01-05T21:00:00+05:30", "status": "completed", "guests": 2
}"#;

pub(crate) fn examples() -> Vec<Example> {
    let quoted = || Some(TABLE.to_owned());
    vec![
        example::classify("what it is for", "a table for two").accepts(),
        example::classify("something else", "a chair").refuses(&[]),
        example::request("a sound request", "search_tables", REQUEST).accepts(),
        example::request("nobody comes", "search_tables", REQUEST.replace("\"party_size\": 2", "\"party_size\": 0"))
            .refuses(&["OUT_OF_RANGE"]),
        example::search("too small a table is not shown", REQUEST, [TABLE.to_owned(), SMALL.to_owned()])
            .ranks(&["t-1"], &["TOO_SMALL"]),
        example::search("a request that is none", "{}", []).refuses(&["REQUIRED"]),
        example::exchange("a booking", "book_table", ARGUMENTS, BOOKING, quoted()).accepts(),
        example::exchange("another table", "book_table", ARGUMENTS, BOOKING.replace("t-1", "t-2"), quoted())
            .refuses(&["UNEXPECTED_VALUE"]),
        example::exchange("no order was made", "list_orders", ARGUMENTS, r#"{"orders": []}"#, None).accepts(),
        example::completion("a sound report", REPORT, quoted()).accepts(),
        example::completion("an amount below a paisa", REPORT.replace("600", "0.001"), None).refuses(&["BAD_FORMAT"]),
    ]
}
