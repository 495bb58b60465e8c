//! The rest of an order's way: booked at the partner of the best option, reported by that partner when the work is done,
//! and on its statement.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use jiff::Zoned;
use serde_json::{Value, json};

use super::shown::{array, show_inr, text};
use super::{Timings, request};
use crate::command::output;
use crate::gateway::{AC_SERVICE, Gateway, binary, signing_key};
use crate::table::Side::{Left, Right};
use crate::table::Table;

const TIMESTAMP_HEADER: &str = "X-PLATFORM-Timestamp";
const SIGNATURE_HEADER: &str = "X-PLATFORM-Signature";

pub(super) fn run(gateway: &Gateway, search: &Value, folder: &Path, timings: &mut Timings) -> anyhow::Result<()> {
    let best = array(search, "options").first().context("the search found no option")?;
    let booked = timings.measure("booking", || book(gateway, best, "demo-booking-1"))?;
    let (partner, booking) = (text(&booked, "partner"), &booked["payload"]);
    println!(
        "   booked at {partner}: {} for {} INR, as {}",
        text(&best["card"], "header"),
        show_inr(&booking["total_estimate_inr"]),
        text(booking, "booking_id")
    );
    let report = report(search, best, booking);
    let receipt =
        timings.measure("completion report", || send_report(gateway, partner, &report, &folder.join("report.json")))?;
    println!(
        "   {partner} reports {} INR of its own and signs it; the gateway books {} INR commission, {}",
        show_inr(&report["amount_inr"]),
        show_inr(&receipt["commission_inr"]),
        text(&receipt, "receipt_id")
    );
    show_statement(gateway, partner)
}

/// Books an option by its reference; the slot is in it.
fn book(gateway: &Gateway, option: &Value, request_id: &str) -> anyhow::Result<Value> {
    let (status, answer) = try_booking(gateway, option, request_id)?;
    if status != 200 {
        bail!("the booking answered {status}: {answer}");
    }
    Ok(answer)
}

/// The same, whatever the answer is.
pub(crate) fn try_booking(gateway: &Gateway, option: &Value, request_id: &str) -> anyhow::Result<(u16, Value)> {
    let request = request();
    let body = json!({
        "reference": option["reference"],
        "arguments": {
            "request_id": request_id,
            "vehicle": request["vehicle"],
            "ac_issue": request["ac_issue"],
            "contact_phone": "+919876543210"
        }
    });
    let path = format!("/api/v1/intents/{AC_SERVICE}/tools/create_ac_service_booking");
    gateway.post(&path, &body)
}

/// What the workshop reports: labour and fee are its own revenue, parts and refrigerant are not.
pub(crate) fn report(search: &Value, option: &Value, booking: &Value) -> Value {
    let price = &option["option"]["estimated_price"];
    json!({
        "intent": AC_SERVICE,
        "external_id": booking["booking_id"],
        "request_id": search["request_id"],
        "amount_inr": price["labour_inr"],
        "gst_inr": price["gst_inr"],
        "tips_inr": 0,
        "pass_through_inr": 0,
        "closed_at": Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        "status": "completed",
        "service_scope_performed": option["option"]["service_scope"]["code"],
        "warranty_card_issued": true
    })
}

/// Signs as a partner would, with the sample that partners are given, and posts what was signed byte for byte, by way of a file.
pub(crate) fn send_report(gateway: &Gateway, partner: &str, report: &Value, path: &Path) -> anyhow::Result<Value> {
    std::fs::write(path, serde_json::to_vec(report)?)?;
    let mut sign = Command::new(binary("debug", "signing-sample"));
    let headers = output(sign.arg(path).env("INTENT_GATEWAY_WEBHOOK_KEY", signing_key(partner)))?;
    let header = |name: &str| {
        let line = headers.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.map(str::to_owned).with_context(|| format!("the signing sample printed no {name}"))
    };
    let signed = [(TIMESTAMP_HEADER, header(TIMESTAMP_HEADER)?), (SIGNATURE_HEADER, header(SIGNATURE_HEADER)?)];
    let (status, answer) =
        gateway.post_signed(&format!("/api/v1/cpc/mcp_provider/{partner}"), &signed, std::fs::read(path)?)?;
    if status != 200 {
        bail!("the report answered {status}: {answer}");
    }
    Ok(answer)
}

/// The partner's latest statement, as the platform team sees it.
fn show_statement(gateway: &Gateway, partner: &str) -> anyhow::Result<()> {
    let months = gateway.get(&format!("/api/v1/admin/partners/{partner}/statements"))?;
    let month = months["months"].as_array().and_then(|months| months.first());
    let month = month.and_then(|one| one.as_str().or_else(|| one["month"].as_str()));
    let month = month.with_context(|| format!("{partner} has no statement: {months}"))?;
    let statement = gateway.get(&format!("/api/v1/admin/partners/{partner}/statements/{month}"))?;
    println!("\n   the statement of {partner} for {month}:\n");
    let mut table = Table::new([("order", Left), ("status", Left), ("INR", Right), ("commission", Right)]);
    for line in array(&statement, "lines") {
        table.row([
            text(line, "external_id").to_owned(),
            text(line, "status").to_owned(),
            show_inr(&line["amount_inr"]),
            show_inr(&line["commission_inr"]),
        ]);
    }
    table.print();
    Ok(())
}
