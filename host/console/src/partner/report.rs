//! A completion report, written from what an order says of it: the body, what is signed, and the commands that sign and send it.
//!
//! Nothing is signed here. The key that signs reports is the partner's proof that a report is its own; a page that signed would be one more
//! place from which a report can be booked, and would test this gateway's signing in the place of the partner's.

use askama::Template;
use axum::extract::RawQuery;
use axum::response::Response;
use serde_json::{Map, Number, Value};

use crate::api::with_query;
use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::visitor::{Business, Fields};

pub(super) const ADDRESS: &str = "/dashboard/report";
/// In the navigation.
const ORDERS: &str = "/dashboard/orders";
/// Bytes of the members that an intent adds, as JSON.
const MORE_MAX_BYTES: usize = 16 * 1024;

/// Members that are texts, and those that are amounts.
const TEXTS: [&str; 5] = ["intent", "external_id", "request_id", "closed_at", "status"];
const AMOUNTS: [&str; 4] = ["amount_inr", "gst_inr", "tips_inr", "pass_through_inr"];

/// What somebody has put into the form.
struct Typed {
    texts: [String; TEXTS.len()],
    amounts: [String; AMOUNTS.len()],
    /// Members that the intent adds, as a JSON object.
    more: String,
}

impl Typed {
    fn of(fields: &Fields) -> Self {
        let text = |name: &str| fields.text(name).to_owned();
        Self { texts: TEXTS.map(text), amounts: AMOUNTS.map(text), more: text("more") }
    }

    fn is_empty(&self) -> bool {
        self.texts.iter().chain(&self.amounts).all(String::is_empty)
    }

    /// The report, or what is wrong with the form. What is wrong with the report, the gateway says when it gets it.
    fn write(&self) -> Result<String, String> {
        let mut members = Map::new();
        for (name, text) in TEXTS.iter().zip(&self.texts) {
            members.insert((*name).to_owned(), text.as_str().into());
        }
        for (name, text) in AMOUNTS.iter().zip(&self.amounts) {
            let text = if text.is_empty() { "0" } else { text };
            let amount = text.parse::<Number>().map_err(|_| format!("{name} is no number: {text}"))?;
            members.insert((*name).to_owned(), Value::Number(amount));
        }
        if self.more.len() > MORE_MAX_BYTES {
            return Err(format!("the further members have more than {MORE_MAX_BYTES} bytes"));
        }
        if !self.more.is_empty() {
            match serde_json::from_str::<Value>(&self.more) {
                Ok(Value::Object(more)) => members.extend(more),
                Ok(_) => return Err("the further members are no JSON object".to_owned()),
                Err(error) => return Err(format!("the further members are no JSON: {error}")),
            }
        }
        // A value can be written as it was read.
        serde_json::to_string(&Value::Object(members)).map_err(|error| error.to_string())
    }
}

/// A text for a shell, as one word.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[derive(Template)]
#[template(path = "partner/report.html")]
struct ReportPage {
    frame: Frame,
    typed: Typed,
    account: String,
    /// None where nothing was typed.
    written: Option<Result<String, String>>,
}

impl ReportPage {
    fn texts(&self) -> impl Iterator<Item = (&'static str, &String)> {
        TEXTS.into_iter().zip(&self.typed.texts)
    }

    fn amounts(&self) -> impl Iterator<Item = (&'static str, &String)> {
        AMOUNTS.into_iter().zip(&self.typed.amounts)
    }

    /// Puts the report into a file, byte for byte, without a line break at its end.
    fn save(&self, body: &str) -> String {
        format!("printf '%s' {} > report.json", quote(body))
    }

    /// Where it goes.
    fn callback(&self) -> String {
        format!("$GATEWAY/api/v1/cpc/mcp_provider/{}", self.account)
    }
}

/// The page's address with what an order says of its report.
pub(super) fn link_to(intent: &str, external_id: &str, request_id: &str, amount: &str) -> String {
    let parts = [("intent", intent), ("external_id", external_id), ("request_id", request_id), ("amount_inr", amount)];
    with_query(ADDRESS, &parts)
}

pub(super) async fn show_report(Business(visitor): Business, RawQuery(query): RawQuery) -> Result<Response, Failed> {
    let typed = Typed::of(&Fields::parse(query.unwrap_or_default().as_bytes()));
    let written = (!typed.is_empty()).then(|| typed.write());
    let account = visitor.session.record.who.clone();
    Ok(show(&ReportPage { frame: visitor.frame(ORDERS, "Completion report"), typed, account, written }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(form: &str) -> Result<String, String> {
        Typed::of(&Fields::parse(form.as_bytes())).write()
    }

    #[test]
    fn a_form_becomes_a_report() {
        let form = "intent=auto.fix&external_id=BK-1&request_id=r&amount_inr=1499.50&status=completed\
                    &closed_at=2026-05-04T10%3A00%3A00%2B05%3A30&more=%7B%22scope%22%3A%5B%22full%22%5D%7D";
        let report: Value = serde_json::from_str(&written(form).expect("a report")).expect("JSON");
        assert_eq!((&report["external_id"], &report["amount_inr"]), (&"BK-1".into(), &serde_json::json!(1499.5)));
        assert_eq!((&report["gst_inr"], &report["scope"]), (&0.into(), &serde_json::json!(["full"])));
        for (bad, says) in [
            ("amount_inr=much", "amount_inr is no number"),
            ("more=%5B1%5D", "no JSON object"),
            ("more=%7B", "no JSON"),
            (&format!("more={}", "1".repeat(MORE_MAX_BYTES + 1)), "more than"),
        ] {
            let told = written(bad).expect_err("refused");
            assert!(told.contains(says), "{told}");
        }
    }

    #[test]
    fn a_text_is_one_word_for_a_shell() {
        assert_eq!(quote("a'b $(x) \"c\""), r#"'a'\''b $(x) "c"'"#);
    }

    #[test]
    fn an_order_fills_the_form() {
        assert_eq!(
            link_to("auto.fix", "BK 1", "r", ""),
            "/dashboard/report?intent=auto.fix&external_id=BK%201&request_id=r"
        );
    }
}
