//! Whether the catalogue is as it must be: its records, and that every version has its component.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use intent_gateway_domain::check::{CheckedPart, Inspect, Tell, check_records, read_record};
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::store::{Kind, StoreError};
use intent_gateway_signing::Revocations;

use crate::component::{self, ComponentPart, NoComponent};
use crate::entry::Entry;
use crate::names::ContractName;
use crate::promotion::SeenRollout;
use crate::state::GatewayState;

/// Parts of components that are read at once: each is large.
const PARTS_AT_ONCE: u32 = 4;
/// Entries that are read at once.
const ENTRIES_AT_ONCE: u32 = 100;

/// Looks at everything that the catalogue keeps. What is wrong is not an error.
///
/// # Errors
/// [`StoreError`] when the store fails.
pub async fn check(store: &dyn Inspect, tell: Tell<'_>) -> Result<[CheckedPart; 6], StoreError> {
    Ok([
        check_records::<Entry>(store, tell).await?,
        check_records::<ContractName>(store, tell).await?,
        check_components(store, tell).await?,
        check_records::<GatewayState>(store, tell).await?,
        check_records::<Revocations>(store, tell).await?,
        check_records::<SeenRollout>(store, tell).await?,
    ])
}

async fn check_components(store: &dyn Inspect, tell: Tell<'_>) -> Result<CheckedPart, StoreError> {
    let (mut part, mut after) = (CheckedPart::new(Kind::ComponentParts.name()), None::<String>);
    let mut seen = HashSet::new();
    let mut current: Option<(Digest, Vec<u8>)> = None;
    loop {
        let page = store.whole(Kind::ComponentParts, after.as_deref(), PARTS_AT_ONCE).await?;
        for document in &page {
            part.seen += 1;
            let Some(read) = read_record::<ComponentPart>(document, &mut part) else { continue };
            // Parts of one component follow each other.
            if current.as_ref().is_none_or(|(digest, _)| *digest != read.digest) {
                end(current.replace((read.digest, Vec::new())), &mut seen, &mut part);
            }
            if let Some((_, bytes)) = &mut current
                && STANDARD.decode_vec(&read.bytes, bytes).is_err()
            {
                bytes.clear();
            }
        }
        tell(Kind::ComponentParts.name(), part.seen);
        match page.into_iter().next_back() {
            Some(last) => after = Some(last.key),
            None => break,
        }
    }
    end(current, &mut seen, &mut part);
    let mut after = None::<String>;
    loop {
        let page = store.whole(Kind::Contracts, after.as_deref(), ENTRIES_AT_ONCE).await?;
        // One that cannot be read is told as such where the entries are checked.
        for Entry { versions, retired, .. } in page.iter().filter_map(|entry| serde_json::from_str(&entry.body).ok()) {
            let mut digests: Vec<Digest> = versions.iter().map(|version| version.digest).collect();
            digests.extend(retired.iter().map(|version| version.digest));
            digests.retain(|digest| !seen.contains(digest));
            for digest in digests {
                // It may have come since.
                if let Err(NoComponent::Missing) = component::get(store, digest).await {
                    part.add("COMPONENT_MISSING", digest.to_string(), "a version has no component");
                }
            }
        }
        match page.into_iter().next_back() {
            Some(last) => after = Some(last.key),
            None => break,
        }
    }
    Ok(part)
}

/// A component has been read to its end.
fn end(component: Option<(Digest, Vec<u8>)>, seen: &mut HashSet<Digest>, part: &mut CheckedPart) {
    let Some((digest, bytes)) = component else { return };
    if Digest::of(&bytes) != digest {
        part.add("COMPONENT_DAMAGED", digest.to_string(), "what is kept is not the content of this digest");
    }
    seen.insert(digest);
}
