//! Components as the store keeps them: in parts, for a record has a bound that a component may exceed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::store::{Change, Kind, List, Record, Store, StoreError, Versioned, page};
use serde::{Deserialize, Serialize};

/// Bytes of a part: as text it stays well below the bound of a record.
const PART_BYTES: usize = 8 * 1024 * 1024;
/// Parts of a component, at most. A contract has at most eight.
const PARTS_MAX: u32 = 16;

/// A part of a component.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ComponentPart {
    pub(crate) digest: Digest,
    /// From 0.
    number: u32,
    /// How many there are.
    of: u32,
    /// Base64.
    pub(crate) bytes: String,
}

impl Record for ComponentPart {
    const KIND: Kind = Kind::ComponentParts;

    fn key(&self) -> String {
        part_key(self.digest, self.number)
    }
}

/// Parts of one component follow each other.
fn part_key(digest: Digest, number: u32) -> String {
    format!("{digest}/{number:03}")
}

/// Why a component cannot be had from the store.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoComponent {
    /// It is not there.
    #[error("the store does not have the component")]
    Missing,
    /// What is there is another content.
    #[error("the component in the store is damaged")]
    Damaged,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Adds a component to a change, unless the store has it already.
///
/// # Errors
/// [`StoreError`].
pub(crate) async fn put(
    store: &dyn Store,
    change: &mut Change,
    digest: Digest,
    component: &[u8],
) -> Result<(), StoreError> {
    // One that is damaged is written anew.
    let kept = parts(store, digest).await?;
    if read(digest, &kept).is_ok() {
        return Ok(());
    }
    let of = u32::try_from(component.len().div_ceil(PART_BYTES)).unwrap_or(u32::MAX);
    for (number, bytes) in (0..).zip(component.chunks(PART_BYTES)) {
        let value = ComponentPart { digest, number, of, bytes: STANDARD.encode(bytes) };
        let revision = kept.iter().find(|part| part.value.number == number).map_or(0, |part| part.revision);
        change.put(&Versioned { revision, value });
    }
    Ok(())
}

/// Reads a component.
///
/// # Errors
/// [`NoComponent`].
pub(crate) async fn get(store: &dyn Store, digest: Digest) -> Result<Bytes, NoComponent> {
    read(digest, &parts(store, digest).await?)
}

/// Removes a component with a change.
///
/// # Errors
/// [`StoreError`].
pub(crate) async fn remove(store: &dyn Store, change: &mut Change, digest: Digest) -> Result<(), StoreError> {
    for part in parts(store, digest).await? {
        change.delete(&part);
    }
    Ok(())
}

async fn parts(store: &dyn Store, digest: Digest) -> Result<Vec<Versioned<ComponentPart>>, StoreError> {
    // No part has this key, and all of them are greater.
    let after = format!("{digest}/");
    let parts = page::<ComponentPart>(store, List { status: None, after: Some(&after), limit: PARTS_MAX }).await?;
    Ok(parts.into_iter().take_while(|part| part.value.digest == digest).collect())
}

fn read(digest: Digest, parts: &[Versioned<ComponentPart>]) -> Result<Bytes, NoComponent> {
    let Some(first) = parts.first() else { return Err(NoComponent::Missing) };
    let mut component = Vec::with_capacity(parts.len() * PART_BYTES.min(first.value.bytes.len()));
    for part in parts {
        STANDARD.decode_vec(&part.value.bytes, &mut component).map_err(|_| NoComponent::Damaged)?;
    }
    if Digest::of(&component) == digest { Ok(component.into()) } else { Err(NoComponent::Damaged) }
}

#[cfg(test)]
mod tests {
    use futures_executor::block_on;
    use intent_gateway_testing::store::MemoryStore;

    use super::*;

    fn keep(store: &MemoryStore, component: &[u8]) -> Digest {
        let (digest, mut change) = (Digest::of(component), Change::default());
        block_on(put(store, &mut change, digest, component)).expect("it is read");
        block_on(store.commit(change)).expect("it is kept");
        digest
    }

    #[test]
    fn a_component_of_any_size_comes_back_and_goes() {
        let store = MemoryStore::default();
        for bytes in [1, PART_BYTES, 2 * PART_BYTES + 1] {
            let component: Vec<u8> = (0..bytes).map(|at| u8::try_from(at % 251).expect("a byte")).collect();
            let other = keep(&store, b"other");
            let digest = keep(&store, &component);
            assert_eq!(block_on(get(&store, digest)).expect("it is there"), component);
            let mut change = Change::default();
            block_on(remove(&store, &mut change, digest)).expect("it is read");
            block_on(store.commit(change)).expect("it is removed");
            assert!(matches!(block_on(get(&store, digest)), Err(NoComponent::Missing)));
            assert!(block_on(get(&store, other)).is_ok());
        }
    }

    #[test]
    fn a_damaged_component_is_no_component_and_is_written_anew() {
        let store = MemoryStore::default();
        let digest = keep(&store, b"component");
        let [mut part]: [Versioned<ComponentPart>; 1] =
            block_on(parts(&store, digest)).expect("it is read").try_into().unwrap_or_else(|_| panic!("one part"));
        part.value.bytes = STANDARD.encode("something else");
        let mut change = Change::default();
        change.put(&part);
        block_on(store.commit(change)).expect("it is damaged");
        assert!(matches!(block_on(get(&store, digest)), Err(NoComponent::Damaged)));
        keep(&store, b"component");
        assert_eq!(&block_on(get(&store, digest)).expect("it is whole")[..], b"component");
    }
}
