//! What lies outside: partners, issuers of tokens, registries of contracts, the mail server. Each is asked for what costs it least.

use std::net::IpAddr;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _};
use intent_gateway_domain::clock::{Clock as _, SystemClock};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::endpoint::{Endpoint, Mappings};
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::{Contract, Contracts, PartnerProbe as _};
use intent_gateway_domain::probe::ProbeRequest;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::{StoreError, all};
use intent_gateway_mail::{MailMode, try_server};
use intent_gateway_onboarding::connection::ConnectionState;
use intent_gateway_onboarding::records::Connection;
use intent_gateway_partners::PartnerClient;
use intent_gateway_registry::{Reference, Registry, Selector, Source};
use intent_gateway_store::SqlStore;

use crate::Order;
use crate::finding::{Area, Code, Finding};
use crate::gateway::{Certificate, get_json};
use crate::store::within;

/// Partners, issuers or sources that are asked at once.
const AT_ONCE: usize = 8;
/// Partners of the store that are asked, at most: a gateway that runs looks at all of them, one after the other.
const PARTNERS_MAX: usize = 100;
/// Why nobody was asked.
const OFFLINE: &str = "nobody was asked, because of --offline";

/// A partner that is asked.
struct Asked {
    id: PartnerId,
    endpoint: Endpoint,
    token: Option<Secret>,
}

/// The partners of the configuration and those that are live in the store.
pub(crate) async fn ask_partners(order: Order<'_>, store: Option<&SqlStore>) -> Vec<Finding> {
    let mut asked: Vec<Asked> = order.config.partners.iter().cloned().map(Partner::from).map(Asked::from).collect();
    let mut found = Vec::new();
    let mut unasked = 0;
    if let Some(store) = store {
        match within(order.wait, read_connections(store)).await {
            Ok(Ok(connections)) => {
                found.extend(connections.iter().filter_map(tell_out));
                let live = connections.into_iter().filter(|one| one.state == ConnectionState::Live);
                asked.extend(live.map(|one| Asked { id: one.account, endpoint: one.endpoint, token: None }));
                unasked = asked.len().saturating_sub(PARTNERS_MAX);
                asked.truncate(PARTNERS_MAX);
            }
            Ok(Err(error)) => found.push(Finding::skipped(Area::Partners, chain(&error))),
            Err(late) => found.push(Finding::skipped(Area::Partners, late)),
        }
    }
    if asked.is_empty() {
        found.push(Finding::skipped(Area::Partners, "there is none to ask"));
        return found;
    }
    if order.is_offline {
        found.push(Finding::skipped(Area::Partners, OFFLINE));
        return found;
    }
    let client = match PartnerClient::new(&order.config.partner_client) {
        Ok(client) => client,
        Err(error) => {
            found.push(Finding::of(Area::Partners, Code::PartnerUnreachable, chain(&error)));
            return found;
        }
    };
    let looks = asked.iter().map(|one| look_at_partner(order, &client, one));
    found.extend(stream::iter(looks).buffered(AT_ONCE).collect::<Vec<_>>().await);
    if unasked > 0 {
        found.push(Finding::skipped(Area::Partners, format!("{unasked} more were not asked")));
    }
    found
}

impl From<Partner> for Asked {
    fn from(partner: Partner) -> Self {
        Self { id: partner.id, endpoint: partner.endpoint, token: partner.token }
    }
}

async fn read_connections(store: &SqlStore) -> Result<Vec<Connection>, StoreError> {
    Ok(all::<Connection>(store, None).await?.into_iter().map(|kept| kept.value).collect())
}

/// One that was to be live and is not.
fn tell_out(connection: &Connection) -> Option<Finding> {
    let message = match connection.state {
        ConnectionState::Suspended => "the platform team has suspended it",
        ConnectionState::ProbeFailed => "its last probe failed before it went live",
        ConnectionState::Sandbox | ConnectionState::Live => return None,
    };
    Some(Finding::of(Area::Partners, Code::PartnerOut, message).about(&connection.account))
}

async fn look_at_partner(order: Order<'_>, client: &PartnerClient, Asked { id, endpoint, token }: &Asked) -> Finding {
    if let Some(unresolved) = resolve(order, Area::Partners, endpoint.url()).await {
        return unresolved.about(id);
    }
    let unreachable = |why: String| Finding::of(Area::Partners, Code::PartnerUnreachable, why).about(id);
    if let Err(refused) = client.admits(endpoint) {
        return unreachable(refused.to_string());
    }
    let Endpoint::Mcp { url } = endpoint else {
        let resolved = format!("{} leads to an address; an API is asked when a search needs it", endpoint.url());
        return Finding::ok(Area::Partners, resolved).about(id);
    };
    let request = ProbeRequest {
        partner: id,
        endpoint,
        mappings: &Mappings::new(),
        contracts: &NoContracts,
        bearer: token.as_ref(),
        now: SystemClock.now(),
    };
    match within(order.wait, client.probe(request)).await {
        Err(late) => unreachable(format!("{url}: {late}")),
        Ok(record) => match record.failure {
            None => Finding::ok(Area::Partners, format!("{url} lists {} tools", record.tools.len())).about(id),
            Some(failure) => unreachable(format!("{url}: {} ({})", failure.message, failure.code)),
        },
    }
}

/// An MCP server lists its tools whatever contracts there are.
struct NoContracts;

impl Contracts for NoContracts {
    fn live(&self, _intent: &str) -> Option<Arc<dyn Contract>> {
        None
    }

    fn find_loaded(&self, _digest: Digest) -> Option<Arc<dyn Contract>> {
        None
    }

    fn all(&self) -> Vec<Arc<dyn Contract>> {
        Vec::new()
    }

    fn select_by_cues(&self, _utterance: &str) -> Vec<Arc<dyn Contract>> {
        Vec::new()
    }
}

/// Whether the name in an address leads anywhere; what is found where it does not.
async fn resolve(order: Order<'_>, area: Area, url: &str) -> Option<Finding> {
    // An address that is none is told by whoever uses it.
    let uri: http::Uri = url.parse().ok()?;
    let name = uri.host()?;
    if name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok() {
        return None;
    }
    let unresolved = |why: String| Some(Finding::of(area, Code::NameUnresolved, format!("`{name}`: {why}")));
    match within(order.wait, tokio::net::lookup_host((name, 0))).await {
        Ok(Ok(mut addresses)) => match addresses.next() {
            Some(_) => None,
            None => unresolved("it leads to no address".to_owned()),
        },
        Ok(Err(error)) => unresolved(error.to_string()),
        Err(late) => unresolved(late),
    }
}

/// Whoever's tokens are accepted besides the gateway's own: whether their keys can be fetched.
pub(crate) async fn ask_issuers(order: Order<'_>) -> Vec<Finding> {
    let issuers = &order.config.auth.issuers;
    if issuers.is_empty() {
        return vec![Finding::skipped(Area::Issuers, "the gateway accepts its own tokens alone")];
    }
    if order.is_offline {
        return vec![Finding::skipped(Area::Issuers, OFFLINE)];
    }
    let looks = issuers.iter().map(|issuer| issuer.config()).map(async |issuer| {
        let (name, url) = (issuer.issuer, issuer.jwks_url);
        if let Some(unresolved) = resolve(order, Area::Issuers, &url).await {
            return unresolved.about(name);
        }
        match get_json(url.clone(), Certificate::Verified, order.wait).await.map(|(_, keys)| count_keys(&keys)) {
            Ok(Some(keys)) => Finding::ok(Area::Issuers, format!("{url} has {keys} keys")).about(name),
            Ok(None) => {
                Finding::of(Area::Issuers, Code::IssuerUnreachable, format!("{url} answers no key set")).about(name)
            }
            Err(why) => Finding::of(Area::Issuers, Code::IssuerUnreachable, format!("{url}: {why}")).about(name),
        }
    });
    stream::iter(looks).buffered(AT_ONCE).collect().await
}

/// Keys of a key set (RFC 7517); none where it is no set, or an empty one.
fn count_keys(answer: &serde_json::Value) -> Option<usize> {
    answer.get("keys")?.as_array().map(Vec::len).filter(|keys| *keys > 0)
}

/// The registries and layouts that new contracts come from.
pub(crate) async fn ask_sources(order: Order<'_>) -> Vec<Finding> {
    let sources = match order.config.contracts.sources() {
        Ok(sources) if sources.is_empty() => {
            return vec![Finding::skipped(Area::Registry, "no source of contracts is followed")];
        }
        Ok(sources) => sources,
        Err(error) => return vec![Finding::of(Area::Registry, Code::SourceUnreachable, error)],
    };
    if order.is_offline {
        return vec![Finding::skipped(Area::Registry, OFFLINE)];
    }
    let looks = sources.iter().map(async |source| {
        let name = source.name.to_string();
        match within(order.wait, look_at_source(source)).await {
            Ok(Ok(what)) => Finding::ok(Area::Registry, what).about(name),
            Ok(Err(why)) | Err(why) => Finding::of(Area::Registry, Code::SourceUnreachable, why).about(name),
        }
    });
    stream::iter(looks).buffered(AT_ONCE).collect().await
}

/// What is followed there now. Nothing is pulled.
async fn look_at_source(source: &Source) -> Result<String, String> {
    let told = |error| chain(&error);
    let registry = Registry::open(&source.name, &source.options).map_err(told)?;
    match &source.selector {
        Selector::Tag(tag) => {
            let digest = registry.resolve(&Reference::Tag(tag.clone())).await.map_err(told)?;
            Ok(format!("the tag `{tag}` is sha256:{digest}"))
        }
        range @ Selector::Range(wanted) => {
            let tags = registry.tags().await.map_err(told)?;
            let chosen = range.choose(&tags).ok_or_else(|| format!("it has no version within `{wanted}`"))?;
            Ok(format!("`{}` is the latest within `{wanted}`", chosen.tag))
        }
    }
}

/// The mail server. It is greeted and, where a user is configured, signed in at; no mail is sent.
pub(crate) async fn ask_mail_server(order: Order<'_>) -> Vec<Finding> {
    let mail = &order.config.mail;
    vec![match mail.mode {
        MailMode::Outbox => Finding::of(Area::Mail, Code::MailToFile, "mails are written to a file"),
        MailMode::Smtp if order.is_offline => Finding::skipped(Area::Mail, OFFLINE),
        MailMode::Smtp => match within(order.wait, try_server(mail, Arc::new(SystemClock))).await {
            Ok(Ok(())) => Finding::ok(Area::Mail, format!("{} takes mail", mail.host)),
            Ok(Err(error)) => {
                Finding::of(Area::Mail, Code::MailUnreachable, format!("{}: {}", mail.host, chain(&error)))
            }
            Err(late) => Finding::of(Area::Mail, Code::MailUnreachable, format!("{}: {late}", mail.host)),
        },
    }]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use intent_gateway_config::Config;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_set_has_keys() {
        assert_eq!(count_keys(&json!({"keys": [{}, {}]})), Some(2));
        for broken in [json!({"keys": []}), json!({"keys": {}}), json!([]), json!({"error": "x"})] {
            assert_eq!(count_keys(&broken), None, "{broken}");
        }
    }

    #[tokio::test]
    async fn names_that_lead_nowhere_are_found_and_addresses_need_none() {
        let config = Config::default();
        let order = Order { config: &config, gateway: None, is_offline: false, wait: Duration::from_secs(10) };
        for address in ["http://127.0.0.1:9/mcp", "https://[::1]:9", "http://localhost:9/mcp", "no address"] {
            assert_eq!(resolve(order, Area::Partners, address).await, None, "{address}");
        }
        // No name ends so (RFC 6761).
        let found = resolve(order, Area::Partners, "https://u@partner.invalid:9/mcp?x").await.expect("found");
        assert_eq!(found.code, Some("NAME_UNRESOLVED"));
        assert!(found.message.starts_with("`partner.invalid`: "), "{found:?}");
    }
}
