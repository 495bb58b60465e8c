//! The configuration in force at the gateway that answers, setting by setting, with where each was given. No secret is in it.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::RawQuery;
use axum::response::Response;
use axum::routing::get;
use intent_gateway_api::settings::{SettingBody, SettingList};
use serde_json::Value;

use crate::Console;
use crate::failure::Failed;
use crate::frame::{Frame, show};
use crate::view::{Chip, Tone, count};
use crate::visitor::{Fields, Team};

const PLACE: &str = "/console/settings";
/// In the navigation.
const GATEWAYS: &str = "/console/gateways";
const SETTINGS_API: &str = "/api/v1/admin/settings";

pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new().route(PLACE, get(show_settings))
}

/// The settings of a section.
struct Section {
    name: String,
    settings: Vec<SettingBody>,
}

#[derive(Template)]
#[template(path = "team/settings.html")]
struct SettingsPage {
    frame: Frame,
    /// What is looked for in the names.
    find: String,
    /// Whether those alone are shown that somebody has given.
    given: bool,
    sections: Vec<Section>,
    shown: usize,
    all: usize,
}

impl SettingsPage {
    /// The answer in one line.
    fn lead(&self) -> String {
        let all = count(self.all as u64);
        if self.shown == self.all {
            return format!("{all} settings are in force.");
        }
        format!("{} of {all} settings are shown.", count(self.shown as u64))
    }
}

/// A value as it is written; texts stand without quotation marks.
fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn secret_chip(setting: &SettingBody) -> Chip {
    if setting.value == "set" { Chip::new(Tone::Good, "set") } else { Chip::new(Tone::Idle, "not set") }
}

/// Where a setting was given, in words.
fn origin_text(setting: &SettingBody) -> String {
    match (setting.origin.kind.as_str(), &setting.origin.place) {
        ("default", _) => "default".to_owned(),
        ("flag", _) => "command line".to_owned(),
        (_, Some(place)) => place.clone(),
        (kind, None) => kind.to_owned(),
    }
}

/// The name by which a setting is looked for.
fn name_of(setting: &SettingBody) -> String {
    if setting.section.is_empty() { setting.key.clone() } else { format!("{}.{}", setting.section, setting.key) }
}

async fn show_settings(RawQuery(query): RawQuery, Team(visitor): Team) -> Result<Response, Failed> {
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    let (find, given) = (asked.text("find").to_lowercase(), asked.is_ticked("given"));
    let SettingList { settings } = visitor.api.get(SETTINGS_API).await?;
    let all = settings.len();
    let is_asked_for = |setting: &SettingBody| {
        name_of(setting).contains(find.as_str()) && (!given || setting.origin.kind != "default")
    };
    let (mut sections, mut shown) = (Vec::<Section>::new(), 0);
    for setting in settings.into_iter().filter(is_asked_for) {
        shown += 1;
        match sections.last_mut().filter(|section| section.name == setting.section) {
            Some(section) => section.settings.push(setting),
            None => sections.push(Section { name: setting.section.clone(), settings: vec![setting] }),
        }
    }
    let frame = visitor.frame(GATEWAYS, "Settings").json(SETTINGS_API);
    let find = asked.text("find").to_owned();
    Ok(show(&SettingsPage { frame, find, given, sections, shown, all }))
}
