//! What the compliance review looks at: a form for the profile, and the documents that show it.

use askama::Template;
use axum::response::Response;
use http::{HeaderValue, Method, StatusCode};
use intent_gateway_api::account::OverviewBody;
use intent_gateway_api::documents::{DocumentBody, DocumentList};
use serde_json::{Map, Value, json};

use super::PLACE;
use crate::api::with_query;
use crate::failure::{Failed, Problem};
use crate::frame::{Frame, lead_to, show_with};
use crate::notices::with_notice;
use crate::partner::{own, take, take_refusal};
use crate::view::{Ident, Moment};
use crate::visitor::{Business, Fields, Paper, Sent, SentWithFile, Visitor};

const ADDRESS: &str = "/dashboard/go-live/profile";

/// Rows for licences, at least; one more than there are, where there are as many.
const ROWS_MIN: usize = 5;

/// The legal forms, as the API and as people call them.
const LEGAL_FORMS: [(&str, &str); 5] = [
    ("private_limited", "Private limited company"),
    ("llp", "Limited liability partnership"),
    ("partnership", "Partnership"),
    ("proprietorship", "Sole proprietorship"),
    ("individual", "Individual"),
];

/// The kinds of licences, likewise.
const LICENCE_KINDS: [(&str, &str); 6] = [
    ("fssai", "Food business (FSSAI)"),
    ("rera", "Real estate (RERA)"),
    ("shop", "Shop or establishment"),
    ("refrigerant_handling", "Refrigerant handling"),
    ("insurance_agent", "Insurance agent"),
    ("insurance_broker", "Insurance broker"),
];

/// The kinds of documents, likewise.
const DOCUMENT_KINDS: [(&str, &str); 12] = [
    ("legal_entity", "Registration of the business"),
    ("tax_registration", "Tax registration (GSTIN)"),
    ("privacy_policy", "Privacy policy"),
    ("fssai", "Food business (FSSAI)"),
    ("rera", "Real estate (RERA)"),
    ("shop", "Shop or establishment"),
    ("refrigerant_handling", "Refrigerant handling"),
    ("insurance_agent", "Insurance agent"),
    ("insurance_broker", "Insurance broker"),
    ("grievance_officer", "Grievance officer"),
    ("service_area", "Where it serves"),
    ("other", "Something else"),
];

/// What a file is sent as where the browser does not say what it is.
const NO_MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// What stands in the form.
#[derive(Default)]
struct ProfileForm {
    legal_name: String,
    legal_entity_type: String,
    gstin: String,
    licences: Vec<LicenceRow>,
    privacy_policy_url: String,
    officer_name: String,
    officer_email: String,
    officer_phone: String,
}

#[derive(Default)]
struct LicenceRow {
    kind: String,
    number: String,
    valid_until: String,
}

impl ProfileForm {
    /// As the account has it.
    fn of(account: &OverviewBody) -> Self {
        let Some(profile) = &account.profile else { return Self::default() };
        let licences = profile.licences.iter().map(|licence| LicenceRow {
            kind: licence.kind.as_str().to_owned(),
            number: licence.number.clone(),
            valid_until: licence.valid_until.clone().unwrap_or_default(),
        });
        let officer = profile.grievance_officer.as_ref();
        Self {
            legal_name: profile.legal_name.clone(),
            legal_entity_type: profile.legal_entity_type.as_str().to_owned(),
            gstin: profile.gstin.clone(),
            licences: licences.collect(),
            privacy_policy_url: profile.privacy_policy_url.clone(),
            officer_name: officer.map(|officer| officer.name.clone()).unwrap_or_default(),
            officer_email: officer.map(|officer| officer.email.clone()).unwrap_or_default(),
            officer_phone: officer.map(|officer| officer.phone.clone()).unwrap_or_default(),
        }
    }

    /// As it was typed. Rows that say nothing are left out, so that the places of licences are those of the rows shown again.
    fn read(fields: &Fields) -> Self {
        let text = |name: &str| fields.text(name).to_owned();
        let [kinds, numbers, ends] = ["licence_kind", "licence_number", "licence_until"].map(|name| fields.all(name));
        let rows = kinds.zip(numbers).zip(ends).map(|((kind, number), end)| LicenceRow {
            kind: kind.trim().to_owned(),
            number: number.trim().to_owned(),
            valid_until: end.trim().to_owned(),
        });
        Self {
            legal_name: text("legal_name"),
            legal_entity_type: text("legal_entity_type"),
            gstin: text("gstin"),
            licences: rows.filter(|row| !row.is_empty()).collect(),
            privacy_policy_url: text("privacy_policy_url"),
            officer_name: text("officer_name"),
            officer_email: text("officer_email"),
            officer_phone: text("officer_phone"),
        }
    }

    /// With rows for more licences.
    fn with_room(mut self) -> Self {
        let rows = ROWS_MIN.max(self.licences.len() + 1);
        self.licences.resize_with(rows, LicenceRow::default);
        self
    }

    /// As the API takes it.
    fn write(&self) -> Value {
        let licences: Vec<_> = self.licences.iter().map(LicenceRow::write).collect();
        let mut document = json!({
            "legal_name": self.legal_name,
            "legal_entity_type": self.legal_entity_type,
            "gstin": self.gstin,
            "licences": licences,
            "privacy_policy_url": self.privacy_policy_url,
        });
        let officer = [("name", &self.officer_name), ("email", &self.officer_email), ("phone", &self.officer_phone)];
        if officer.iter().any(|(_, text)| !text.is_empty()) {
            let members = officer.map(|(name, text)| (name.to_owned(), Value::from(text.as_str())));
            document["grievance_officer"] = Value::Object(Map::from_iter(members));
        }
        document
    }
}

impl LicenceRow {
    fn is_empty(&self) -> bool {
        self.kind.is_empty() && self.number.is_empty() && self.valid_until.is_empty()
    }

    fn write(&self) -> Value {
        let mut document = json!({"kind": self.kind, "number": self.number});
        if !self.valid_until.is_empty() {
            document["valid_until"] = self.valid_until.as_str().into();
        }
        document
    }
}

#[derive(Template)]
#[template(path = "partner/profile.html")]
struct ProfilePage {
    frame: Frame,
    form: ProfileForm,
    /// Whether the account has one already.
    is_given: bool,
    documents: DocumentList,
    problem: Option<Problem>,
}

pub(super) async fn show_profile(Business(visitor): Business) -> Result<Response, Failed> {
    profile_page(&visitor, None).await
}

pub(super) async fn save_profile(Sent(Business(visitor), fields): Sent<Business>) -> Result<Response, Failed> {
    let form = ProfileForm::read(&fields);
    let address = format!("{}/profile", own(&visitor, "accounts"));
    let saved = visitor.api.send::<OverviewBody>(Method::PUT, &address, &form.write()).await.and_then(take);
    match saved {
        Ok(_) => Ok(lead_to(&with_notice(ADDRESS, "saved"))),
        Err(error) => profile_page(&visitor, Some((form, take_refusal(error)?))).await,
    }
}

/// A document for the review. The gateway looks whether the file is what it is said to be.
pub(super) async fn add_document(
    SentWithFile { visitor: Business(visitor), fields, file, .. }: SentWithFile<Business, Paper>,
) -> Result<Response, Failed> {
    let Some(file) = file else { return Err(Failed::Form(StatusCode::UNPROCESSABLE_ENTITY)) };
    let media_type = file.media_type.as_deref().and_then(|given| HeaderValue::from_str(given).ok());
    let parts = [("kind", fields.text("kind")), ("name", file.name.as_str())];
    let address = with_query(&format!("{}/documents", own(&visitor, "accounts")), &parts);
    let media_type = media_type.unwrap_or(NO_MEDIA_TYPE);
    let sent = visitor.api.send_file::<DocumentBody>(Method::POST, &address, media_type, file.content).await;
    match sent.and_then(take) {
        Ok(_) => Ok(lead_to(&with_notice(ADDRESS, "saved"))),
        Err(error) => {
            let problem = take_refusal(error)?;
            // What the account has stands in the other form.
            let form = ProfileForm::of(&visitor.api.get::<OverviewBody>(&own(&visitor, "accounts")).await?);
            profile_page(&visitor, Some((form, problem))).await
        }
    }
}

/// For whoever opens the address of an upload again.
pub(super) async fn lead_to_profile(Business(_visitor): Business) -> Response {
    lead_to(ADDRESS)
}

/// The page with what the account has, or with what was typed and why it was refused.
async fn profile_page(visitor: &Visitor, refused: Option<(ProfileForm, Problem)>) -> Result<Response, Failed> {
    let address = own(visitor, "accounts");
    let account = visitor.api.get::<OverviewBody>(&address).await?;
    let documents = visitor.api.get::<DocumentList>(&format!("{address}/documents")).await?;
    let is_given = account.profile.is_some();
    let (form, problem) = match refused {
        Some((form, problem)) => (form, Some(problem)),
        None => (ProfileForm::of(&account), None),
    };
    let status = problem.as_ref().map_or(StatusCode::OK, |problem| problem.status);
    let frame = visitor.frame(PLACE, "Profile").json(address);
    Ok(show_with(status, &ProfilePage { frame, form: form.with_room(), is_given, documents, problem }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_becomes_the_document_that_the_api_takes() {
        let form = ProfileForm::read(&Fields::parse(
            b"legal_name=+Cool+&legal_entity_type=llp&gstin=G&privacy_policy_url=https%3A%2F%2Fa.example&officer_name=&officer_email=\
              &officer_phone=&licence_kind=&licence_number=&licence_until=&licence_kind=shop&licence_number=K-1&licence_until=\
              &licence_kind=fssai&licence_number=2&licence_until=2027-03-31",
        ));
        let licences =
            json!([{"kind": "shop", "number": "K-1"}, {"kind": "fssai", "number": "2", "valid_until": "2027-03-31"}]);
        assert_eq!(
            form.write(),
            json!({"legal_name": "Cool", "legal_entity_type": "llp", "gstin": "G", "licences": licences,
                   "privacy_policy_url": "https://a.example"})
        );
        assert_eq!(form.with_room().licences.len(), ROWS_MIN);
        let officer = ProfileForm::read(&Fields::parse(b"officer_phone=1"));
        assert_eq!(officer.write()["grievance_officer"], json!({"name": "", "email": "", "phone": "1"}));
    }
}
