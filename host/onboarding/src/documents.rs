//! Documents that a business uploads for its review: kept sealed under the master key, listed to the business, read by the
//! platform team alone.
//!
//! The business replaces and removes them as long as no decision hangs on them: none while a review of its manifest is open,
//! and none that was there when the manifest in force was approved. More can be added at any time.
//!
//! What may be uploaded at all is in [`compliance`](crate::compliance).

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::OnboardingError;
use super::keeper::RecordKeeper;
use super::records::{Account, Manifests};
use crate::compliance::{DOCUMENT_MAX_BYTES, DOCUMENTS_MAX, DocumentKind, MediaType, clean_file_name};
use crate::manifest::Status;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::check::{self, CheckedPart, Inspect, check_records, read_record};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::reseal::{ResealStopped, Resealed, Tell, reseal_record};
use intent_gateway_domain::steps::Proposal;
use intent_gateway_domain::store::{Change, Kind, Pages, Record, Store, StoreError, Versioned, load};
use intent_gateway_domain::vault::{Sealed, Vault};

/// The file is not what its media type says.
const NOT_THAT_FORM: &str = "NOT_THAT_FORM";
/// A decision hangs on the document.
const DOCUMENT_IN_USE: &str = "DOCUMENT_IN_USE";
/// Lists of documents that are read at once for a check.
const LISTS_AT_ONCE: u32 = 100;
/// Documents that are read at once for a check: they may be large.
const CONTENTS_AT_ONCE: u32 = 4;
/// The account has as many documents as it may have.
const TOO_MANY_DOCUMENTS: &str = "TOO_MANY_DOCUMENTS";

/// What is known of a document without opening it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// `doc_<16 hex>`.
    pub id: String,
    /// What it is.
    pub kind: DocumentKind,
    /// Its file's name, cleaned.
    pub file_name: String,
    /// Its form.
    pub media_type: MediaType,
    /// Its size.
    pub size_bytes: u64,
    /// Of its bytes.
    pub digest: Digest,
    /// When it was uploaded, or last replaced, milliseconds since the epoch.
    pub uploaded_at_ms: Timestamp,
    /// By whom.
    pub uploaded_by: Actor,
}

/// The documents of an account.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DocumentList {
    account: PartnerId,
    pub(crate) documents: Vec<Document>,
}

impl Record for DocumentList {
    const KIND: Kind = Kind::Documents;

    fn key(&self) -> String {
        self.account.to_string()
    }
}

/// What stands in a document.
#[derive(Serialize, Deserialize)]
struct DocumentContent {
    id: String,
    sealed: Sealed,
}

impl Record for DocumentContent {
    const KIND: Kind = Kind::DocumentContents;

    fn key(&self) -> String {
        self.id.clone()
    }
}

/// A file as it comes in.
#[derive(Clone, Copy)]
pub struct Upload<'a> {
    /// What it is said to be.
    pub kind: DocumentKind,
    /// Its name, as it was given.
    pub file_name: &'a str,
    /// Its form, as it was given.
    pub media_type: MediaType,
    /// Itself.
    pub bytes: &'a [u8],
}

/// Documents of businesses.
pub struct Documents {
    pub(crate) keeper: RecordKeeper,
}

impl Documents {
    /// The documents of an account, oldest first.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when there is no such account.
    pub async fn list(&self, account: &PartnerId) -> Result<Vec<Document>, OnboardingError> {
        self.keeper.require::<Account>(account.as_str(), "account").await?;
        documents_of(&self.keeper, account).await
    }

    /// Keeps another document. One of the same kind and content that is there already is handed back: a repeated upload
    /// makes no second one.
    ///
    /// # Errors
    /// [`OnboardingError::Refused`] for a file that is empty, too large or not what its media type says;
    /// `TOO_MANY_DOCUMENTS` when the account has [`DOCUMENTS_MAX`].
    pub async fn add(
        &self,
        account: &PartnerId,
        upload: Upload<'_>,
        actor: &Actor,
    ) -> Result<Document, OnboardingError> {
        check(upload)?;
        let digest = Digest::of(upload.bytes);
        self.keeper
            .step(async || {
                self.keeper.require::<Account>(account.as_str(), "account").await?;
                let mut kept = self.find_list(account).await?;
                let same = |known: &&Document| known.digest == digest && known.kind == upload.kind;
                if let Some(same) = kept.value.documents.iter().find(same) {
                    return Ok(Proposal::nothing(same.clone()));
                }
                if kept.value.documents.len() >= DOCUMENTS_MAX {
                    let message = format!("the account has {DOCUMENTS_MAX} documents; remove or replace one");
                    return Err(OnboardingError::out_of_step(TOO_MANY_DOCUMENTS, message));
                }
                let document = self.describe(self.keeper.new_id("doc_")?, upload, digest, actor);
                let content = self.seal(account, &document, upload.bytes)?;
                kept.value.documents.push(document.clone());
                let mut change = Change::default();
                change.put(&kept);
                change.put(&Versioned::new(content));
                change.audit.push(self.keeper.audit_entry(actor, "document.added", account, detail(&document)));
                Ok(Proposal::new(change, document))
            })
            .await
    }

    /// Puts another file in a document's place.
    ///
    /// # Errors
    /// As [`add`](Self::add); [`OnboardingError::NotFound`] when there is no such document; `DOCUMENT_IN_USE` when a
    /// decision hangs on it.
    pub async fn replace(
        &self,
        account: &PartnerId,
        id: &str,
        upload: Upload<'_>,
        actor: &Actor,
    ) -> Result<Document, OnboardingError> {
        check(upload)?;
        let digest = Digest::of(upload.bytes);
        self.keeper
            .step(async || {
                let mut kept = self.find_list(account).await?;
                let place = find(&kept.value, id)?;
                self.refuse_in_use(account, id, actor).await?;
                let mut content = self.keeper.require::<DocumentContent>(id, "document").await?;
                let document = self.describe(id.to_owned(), upload, digest, actor);
                content.value = self.seal(account, &document, upload.bytes)?;
                kept.value.documents[place] = document.clone();
                let mut change = Change::default();
                change.put(&kept);
                change.put(&content);
                change.audit.push(self.keeper.audit_entry(actor, "document.replaced", account, detail(&document)));
                Ok(Proposal::new(change, document))
            })
            .await
    }

    /// Removes a document, with what stands in it.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when there is no such document; `DOCUMENT_IN_USE` when a decision hangs on it.
    pub async fn remove(&self, account: &PartnerId, id: &str, actor: &Actor) -> Result<(), OnboardingError> {
        self.keeper
            .step(async || {
                let mut kept = self.find_list(account).await?;
                let place = find(&kept.value, id)?;
                self.refuse_in_use(account, id, actor).await?;
                let content = self.keeper.require::<DocumentContent>(id, "document").await?;
                let document = kept.value.documents.remove(place);
                let mut change = Change::default();
                change.put(&kept);
                change.delete(&content);
                change.audit.push(self.keeper.audit_entry(actor, "document.removed", account, detail(&document)));
                Ok(Proposal::new(change, ()))
            })
            .await
    }

    /// Opens a document, for the platform team. That it was read is in the audit log before a byte of it is handed over.
    ///
    /// # Errors
    /// [`OnboardingError::NotFound`] when there is no such document; [`OnboardingError::Sealed`] when it cannot be opened.
    pub async fn read(
        &self,
        account: &PartnerId,
        id: &str,
        actor: &Actor,
    ) -> Result<(Document, Vec<u8>), OnboardingError> {
        self.keeper
            .step(async || {
                let kept = self.find_list(account).await?;
                let document = kept.value.documents[find(&kept.value, id)?].clone();
                let content = self.keeper.require::<DocumentContent>(id, "document").await?.value;
                let bytes = self.keeper.vault.open_bytes(&context(account, &document), &content.sealed)?;
                let mut change = Change::default();
                change.audit.push(self.keeper.audit_entry(actor, "document.read", account, detail(&document)));
                Ok(Proposal::new(change, (document, bytes)))
            })
            .await
    }

    async fn find_list(&self, account: &PartnerId) -> Result<Versioned<DocumentList>, OnboardingError> {
        let none = || Versioned::new(DocumentList { account: account.clone(), documents: Vec::new() });
        Ok(self.keeper.find::<DocumentList>(account.as_str()).await?.unwrap_or_else(none))
    }

    fn describe(&self, id: String, upload: Upload<'_>, digest: Digest, actor: &Actor) -> Document {
        let Upload { kind, file_name, media_type, bytes } = upload;
        Document {
            id,
            kind,
            file_name: clean_file_name(file_name, kind, media_type),
            media_type,
            size_bytes: bytes.len() as u64,
            digest,
            uploaded_at_ms: self.keeper.now(),
            uploaded_by: actor.clone(),
        }
    }

    fn seal(&self, account: &PartnerId, document: &Document, bytes: &[u8]) -> Result<DocumentContent, OnboardingError> {
        let sealed = self.keeper.vault.seal_bytes(&context(account, document), bytes)?;
        Ok(DocumentContent { id: document.id.clone(), sealed })
    }

    /// Refuses the business what a decision hangs on. The platform team may tidy up in its stead.
    async fn refuse_in_use(&self, account: &PartnerId, id: &str, actor: &Actor) -> Result<(), OnboardingError> {
        if actor.role == ADMIN {
            return Ok(());
        }
        let manifests = self.keeper.find::<Manifests>(account.as_str()).await?;
        let Some(Manifests { latest, approved, .. }) = manifests.map(|kept| kept.value) else { return Ok(()) };
        if latest.status == Status::PendingReview {
            let number = latest.number;
            let message =
                format!("the review of submission {number} is open; add another document, or wait for the decision");
            return Err(OnboardingError::out_of_step(DOCUMENT_IN_USE, message));
        }
        if let Some(approved) = approved.filter(|approved| approved.documents.iter().any(|used| used == id)) {
            let number = approved.number;
            let message = format!("submission {number} was approved with this document; add another one instead");
            return Err(OnboardingError::out_of_step(DOCUMENT_IN_USE, message));
        }
        Ok(())
    }
}

/// The role of the platform team, as the audit log has it.
const ADMIN: &str = "admin";

/// The documents of an account, oldest first; none where it has uploaded none.
pub(crate) async fn documents_of(keeper: &RecordKeeper, account: &PartnerId) -> Result<Vec<Document>, OnboardingError> {
    let kept: Result<_, StoreError> = load::<DocumentList>(&*keeper.store, account.as_str()).await;
    Ok(kept?.map(|kept| kept.value.documents).unwrap_or_default())
}

fn find(list: &DocumentList, id: &str) -> Result<usize, OnboardingError> {
    list.documents.iter().position(|document| document.id == id).ok_or(OnboardingError::NotFound("document"))
}

/// Refuses a file that is not what it is said to be. Nobody opens it to find out more.
fn check(Upload { media_type, bytes, .. }: Upload<'_>) -> Result<(), OnboardingError> {
    if bytes.len() > DOCUMENT_MAX_BYTES {
        let message = format!("the document has {} bytes, more than {DOCUMENT_MAX_BYTES}", bytes.len());
        return Err(OnboardingError::invalid("", "TOO_LONG", message));
    }
    if !media_type.fits(bytes) {
        let message = format!("the bytes do not begin as those of {} do", media_type.as_str());
        return Err(OnboardingError::invalid("", NOT_THAT_FORM, message));
    }
    Ok(())
}

/// Seals the documents of all accounts anew, under the current master key. Each is read by itself, for it may be large.
///
/// # Errors
/// [`ResealStopped`]; it can be run again, and goes on.
pub async fn reseal_documents(store: &dyn Store, vault: &Vault, tell: Tell<'_>) -> Result<Resealed, ResealStopped> {
    let (mut done, mut pages) = (Resealed::default(), Pages::<DocumentList>::of(None));
    while let Some(lists) = pages.next(store).await? {
        for DocumentList { account, documents } in lists.into_iter().map(|list| list.value) {
            for document in &documents {
                let context = context(&account, document);
                done += reseal_record::<DocumentContent>(store, vault, &document.id, &|content| {
                    vec![(context.clone(), &mut content.sealed)]
                })
                .await?;
                tell(Kind::DocumentContents.name(), done);
            }
        }
    }
    Ok(done)
}

/// Looks at the lists of documents and at each document: that it is there, opens, and is the one that the list names; and for
/// documents that no list names.
///
/// # Errors
/// [`StoreError`] when the store fails; what is wrong with a document is no error.
pub async fn check_documents(
    store: &dyn Inspect,
    vault: Option<&Vault>,
    tell: check::Tell<'_>,
) -> Result<[CheckedPart; 2], StoreError> {
    let lists = check_records::<DocumentList>(store, tell).await?;
    let mut contents = CheckedPart::new(Kind::DocumentContents.name());
    let (mut listed, mut after) = (HashSet::new(), None::<String>);
    loop {
        let page = store.whole(Kind::Documents, after.as_deref(), LISTS_AT_ONCE).await?;
        // A list that cannot be read was told of above.
        let readable = page.iter().filter_map(|document| serde_json::from_str::<DocumentList>(&document.body).ok());
        for DocumentList { account, documents } in readable {
            for document in &documents {
                listed.insert(document.id.clone());
                check_document(store, vault, &account, document, &mut contents).await?;
                tell(contents.name, contents.seen);
            }
        }
        match page.into_iter().next_back() {
            Some(last) => after = Some(last.key),
            None => break,
        }
    }
    let mut after = None::<String>;
    loop {
        let page = store.whole(Kind::DocumentContents, after.as_deref(), CONTENTS_AT_ONCE).await?;
        for content in page.iter().filter(|content| !listed.contains(&content.key)) {
            contents.seen += 1;
            contents.add("DOCUMENT_UNLISTED", content.key.as_str(), "no account's list names the document");
        }
        match page.into_iter().next_back() {
            Some(last) => after = Some(last.key),
            None => return Ok([lists, contents]),
        }
    }
}

async fn check_document(
    store: &dyn Inspect,
    vault: Option<&Vault>,
    account: &PartnerId,
    document: &Document,
    part: &mut CheckedPart,
) -> Result<(), StoreError> {
    part.seen += 1;
    let Some(kept) = store.get(Kind::DocumentContents, &document.id).await? else {
        part.add("DOCUMENT_MISSING", document.id.as_str(), format!("{account} has listed it, and it is not there"));
        return Ok(());
    };
    let Some(content) = read_record::<DocumentContent>(&kept, part) else { return Ok(()) };
    let opened = part.open(vault, &document.id, &context(account, document), &content.sealed);
    if opened.is_some_and(|bytes| Digest::of(&bytes) != document.digest) {
        part.add("DOCUMENT_DIFFERS", document.id.as_str(), "it is not the file that the list names");
    }
    Ok(())
}

/// What a document is sealed for: moved to another account, or put in the place of a later one, it does not open.
fn context(account: &PartnerId, document: &Document) -> String {
    format!("document/{account}/{}/{}", document.id, document.digest)
}

fn detail(document: &Document) -> serde_json::Value {
    json!({"document": document.id, "kind": document.kind, "digest": document.digest.to_string()})
}
