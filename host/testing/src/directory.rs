//! A directory of the partners that a test gives.

use std::sync::{Arc, Mutex, MutexGuard};

use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::contract::{Axes, Need};
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::id::{IntentId, PartnerId};
use intent_gateway_domain::partner::{Listing, Partner};
use intent_gateway_domain::ports::{LeftOut, PartnerDirectory, Selection};

/// A partner with an MCP server that lists these intents, everywhere and at every hour.
#[must_use]
pub fn partner(id: &str, intents: &[&str]) -> Partner {
    let listing = |intent: &&str| Listing {
        intent: IntentId::parse(intent).expect("well formed"),
        service_area: vec!["IN_ALL".to_owned()],
        availability: String::new(),
        declared: Axes::UNDECLARED,
        prices: None,
    };
    Partner {
        id: PartnerId::parse(id).expect("well formed"),
        name: format!("Partner {id}"),
        endpoint: Endpoint::mcp(format!("https://{id}.example/mcp")),
        mappings: Mappings::new(),
        listings: intents.iter().map(listing).collect(),
        token: None,
        sign_in: None,
    }
}

/// The partners that a test gives. Whatever is searched for, all of those who list the intent are called, but those that
/// the test leaves out.
#[derive(Default)]
pub struct GivenPartners(Mutex<DirectoryState>);

type Select = Arc<dyn Fn(&Need, &[Arc<Partner>]) -> Selection + Send + Sync>;

#[derive(Default)]
struct DirectoryState {
    partners: Vec<Arc<Partner>>,
    known: Vec<Arc<Partner>>,
    left_out: Vec<(Arc<Partner>, LeftOut)>,
    left_out_more: usize,
    selections: Vec<(String, Need, Timestamp)>,
    script: Option<Select>,
}

impl GivenPartners {
    /// These partners, in this order.
    pub fn of(partners: impl IntoIterator<Item = Partner>) -> Arc<Self> {
        let given = Self::default();
        given.given().partners = partners.into_iter().map(Arc::new).collect();
        Arc::new(given)
    }

    /// From here on, searches report this partner as left out.
    pub fn leave_out(&self, partner: Partner, reason: LeftOut) {
        self.given().left_out.push((Arc::new(partner), reason));
    }

    /// From here on, searches report that so many more were left out.
    pub fn leave_out_more(&self, count: usize) {
        self.given().left_out_more = count;
    }

    /// From here on, the script decides by a search's need who of all partners is called.
    pub fn select_with(&self, script: impl Fn(&Need, &[Arc<Partner>]) -> Selection + Send + Sync + 'static) {
        self.given().script = Some(Arc::new(script));
    }

    /// From here on, the partner is not there.
    pub fn remove(&self, id: &str) {
        self.given().partners.retain(|partner| partner.id.as_str() != id);
    }

    /// From here on, nothing is routed to the partner, though its server is known.
    pub fn stop_routing(&self, id: &str) {
        let mut given = self.given();
        let known: Vec<_> = given.partners.extract_if(.., |partner| partner.id.as_str() == id).collect();
        given.known.extend(known);
    }

    /// What was searched for so far: the intent, the need, and the time.
    pub fn selections(&self) -> Vec<(String, Need, Timestamp)> {
        self.given().selections.clone()
    }

    fn given(&self) -> MutexGuard<'_, DirectoryState> {
        self.0.lock().expect("no test panics in it")
    }
}

impl PartnerDirectory for GivenPartners {
    fn select(&self, intent: &str, need: &Need, now: Timestamp) -> Selection {
        let mut given = self.given();
        given.selections.push((intent.to_owned(), need.clone(), now));
        if let Some(script) = &given.script {
            return script(need, &given.partners);
        }
        let chosen = given.partners.iter().filter(|partner| partner.listing(intent).is_some()).cloned().collect();
        Selection { chosen, left_out: given.left_out.clone(), left_out_more: given.left_out_more }
    }

    fn find_known(&self, id: &PartnerId) -> Option<Arc<Partner>> {
        let known = self.given().known.iter().find(|partner| partner.id == *id).cloned();
        known.or_else(|| self.find(id))
    }

    fn all(&self) -> Vec<Arc<Partner>> {
        self.given().partners.clone()
    }
}
