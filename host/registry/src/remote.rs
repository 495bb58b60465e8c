//! A repository of a registry, by the OCI distribution specification 1.1.

use http::{Method, StatusCode};
use intent_gateway_domain::digest::Digest;
use serde::Deserialize;
use url::Url;

use crate::artifact::{Artifact, Blob};
use crate::error::{BrokenRule, RegistryError};
use crate::manifest::{Descriptor, INDEX_TYPE, Index, MANIFEST_MAX_BYTES, MANIFEST_TYPE, SIGNATURES_TYPE};
use crate::name::{Reference, SHA256, Tag, parse_digest};
use crate::place::{SIGNATURES_MANIFESTS_MAX, TAGS_MAX, too_many_signatures, too_many_tags};
use crate::session::{Action, Session};
use crate::transport::{Answer, Ask};

/// Tags that are asked for at once. A registry may send less, or all.
const TAGS_PER_PAGE: usize = 1_000;
/// Pages of tags, and bytes of one of them: as many as there may be tags, as long as they may be.
const TAG_PAGES_MAX: usize = 64;
const TAG_PAGE_MAX_BYTES: usize = 2 * 1024 * 1024;
/// Pages of referrers.
const REFERRER_PAGES_MAX: usize = 8;
/// How often the list of signatures is written when others write it at the same time.
const INDEX_WRITES_MAX: usize = 5;

const MANIFEST_ACCEPT: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json";
const INDEX_ACCEPT: &str = INDEX_TYPE;
const DIGEST_HEADER: &str = "docker-content-digest";
/// A registry that lists referrers itself says so with a manifest that is one.
const SUBJECT_HEADER: &str = "oci-subject";

/// A repository.
pub(crate) struct Remote {
    session: Session,
}

#[derive(Deserialize)]
struct TagsJson {
    tags: Option<Vec<String>>,
}

impl Remote {
    pub(crate) fn new(session: Session) -> Self {
        Self { session }
    }

    /// The digest of what a reference names; none where it names nothing.
    pub(crate) async fn resolve(&self, reference: &Reference) -> Result<Option<Digest>, RegistryError> {
        let Some(answer) = self.ask_manifest(Method::HEAD, reference).await? else { return Ok(None) };
        // A registry may leave the digest out.
        let Some(text) = answer.header(DIGEST_HEADER) else {
            return Ok(self.manifest(reference).await?.map(|json| Digest::of(&json)));
        };
        let digest = parse_digest(text).map_err(|_| self.session.transport.broken(BrokenRule::NoDigest))?;
        match reference {
            Reference::Digest(expected) if *expected != digest => Err(altered_manifest(*expected)),
            _ => Ok(Some(digest)),
        }
    }

    /// The manifest or index that a reference names; none where it names nothing. It has the digest that names it.
    pub(crate) async fn manifest(&self, reference: &Reference) -> Result<Option<Vec<u8>>, RegistryError> {
        let Some(answer) = self.ask_manifest(Method::GET, reference).await? else { return Ok(None) };
        let said = answer.header(DIGEST_HEADER).map(parse_digest).transpose();
        let said = said.map_err(|_| self.session.transport.broken(BrokenRule::NoDigest))?;
        let json = self.session.transport.read(answer, "the manifest", MANIFEST_MAX_BYTES).await?;
        let digest = Digest::of(&json);
        let expected = match reference {
            Reference::Digest(expected) => Some(*expected),
            Reference::Tag(_) => said,
        };
        match expected {
            Some(expected) if expected != digest => Err(altered_manifest(expected)),
            _ => Ok(Some(json)),
        }
    }

    /// What is answered about a manifest or index; none where the reference names nothing.
    async fn ask_manifest(&self, method: Method, reference: &Reference) -> Result<Option<Answer>, RegistryError> {
        let mut ask = self.ask(method, &format!("manifests/{reference}"));
        ask.accept = Some(MANIFEST_ACCEPT);
        let answer = self.session.ask(Action::Pull, &ask).await?;
        match answer.status() {
            StatusCode::OK => Ok(Some(answer)),
            StatusCode::NOT_FOUND => Ok(None),
            _ => Err(self.session.transport.refusal(answer, &reference.to_string()).await),
        }
    }

    /// A piece of content. Its size and digest are the descriptor's; nothing beyond its size is read.
    pub(crate) async fn blob(&self, described: &Descriptor, what: &'static str) -> Result<Vec<u8>, RegistryError> {
        let ask = self.ask(Method::GET, &format!("blobs/{SHA256}{}", described.digest));
        let answer = self.session.ask(Action::Pull, &ask).await?;
        if answer.status() != StatusCode::OK {
            return Err(self.session.transport.refusal(answer, what).await);
        }
        let altered = RegistryError::Altered { what, expected: described.digest };
        let size = usize::try_from(described.size).unwrap_or(usize::MAX);
        let content = match self.session.transport.read(answer, what, size).await {
            Ok(content) => content,
            // It is not too large for us, but for what was said of it.
            Err(RegistryError::TooLarge { .. }) => return Err(altered),
            Err(error) => return Err(error),
        };
        // A large component is compared where no other work of the runtime waits for it.
        let described = described.clone();
        let compare = move || if described.is_of(&content) { Ok(content) } else { Err(altered) };
        tokio::task::spawn_blocking(compare).await.map_err(|error| self.session.transport.unreachable(error))?
    }

    /// The tags, without those that stand for lists of signatures.
    pub(crate) async fn tags(&self) -> Result<Vec<Tag>, RegistryError> {
        let mut url = self.url("tags/list");
        url.query_pairs_mut().append_pair("n", &TAGS_PER_PAGE.to_string());
        let (mut tags, mut next) = (Vec::new(), Some(url));
        for _ in 0..TAG_PAGES_MAX {
            let Some(url) = next.take() else { return Ok(tags) };
            let answer = self.session.ask(Action::Pull, &Ask::new(Method::GET, url)).await?;
            if answer.status() != StatusCode::OK {
                return Err(self.session.transport.refusal(answer, "tags").await);
            }
            next = self.next_page(&answer)?;
            let body = self.session.transport.read(answer, "the list of tags", TAG_PAGE_MAX_BYTES).await?;
            let page: TagsJson =
                serde_json::from_slice(&body).map_err(|_| self.session.transport.broken(BrokenRule::Tags))?;
            // What is no tag can be asked for by nobody.
            let page = page.tags.unwrap_or_default().into_iter().filter_map(|text| text.parse::<Tag>().ok());
            tags.extend(page.filter(|tag| !is_list_of_signatures(tag)));
            if tags.len() > TAGS_MAX {
                return Err(too_many_tags());
            }
        }
        if next.is_some() { Err(too_many_tags()) } else { Ok(tags) }
    }

    /// The manifests of signatures of an artifact, from the registry's own list or, where it has none, from the tag that stands for it.
    pub(crate) async fn signatures(&self, artifact: Digest) -> Result<Vec<Descriptor>, RegistryError> {
        let found = match self.referrers(artifact).await? {
            Some(found) => found,
            None => self.fall_back_index(artifact).await?.manifests,
        };
        let found: Vec<Descriptor> =
            found.into_iter().filter(|one| one.artifact_type.as_deref() == Some(SIGNATURES_TYPE)).collect();
        if found.len() > SIGNATURES_MANIFESTS_MAX { Err(too_many_signatures()) } else { Ok(found) }
    }

    /// None where the registry has no such list.
    async fn referrers(&self, artifact: Digest) -> Result<Option<Vec<Descriptor>>, RegistryError> {
        let mut url = self.url(&format!("referrers/{SHA256}{artifact}"));
        url.query_pairs_mut().append_pair("artifactType", SIGNATURES_TYPE);
        let (mut found, mut next) = (Vec::new(), Some(url));
        for page in 0..REFERRER_PAGES_MAX {
            let Some(url) = next.take() else { return Ok(Some(found)) };
            let mut ask = Ask::new(Method::GET, url);
            ask.accept = Some(INDEX_ACCEPT);
            let answer = self.session.ask(Action::Pull, &ask).await?;
            match answer.status() {
                StatusCode::OK => {}
                // What registries answer that do not know the address.
                StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED if page == 0 => return Ok(None),
                _ => return Err(self.session.transport.refusal(answer, "referrers").await),
            }
            next = self.next_page(&answer)?;
            let json = self.session.transport.read(answer, "the list of referrers", MANIFEST_MAX_BYTES).await?;
            found.extend(Index::read(&json)?.manifests);
        }
        if next.is_some() { Err(too_many_signatures()) } else { Ok(Some(found)) }
    }

    async fn fall_back_index(&self, artifact: Digest) -> Result<Index, RegistryError> {
        match self.manifest(&fall_back(artifact)).await? {
            Some(json) => Ok(Index::read(&json)?),
            None => Ok(Index::default()),
        }
    }

    /// Uploads an artifact. Its tag moves last, so that whoever follows it finds all of it.
    pub(crate) async fn publish(
        &self,
        artifact: &Artifact,
        signatures: Option<&Artifact>,
        tag: &Tag,
    ) -> Result<(), RegistryError> {
        for blob in &artifact.blobs {
            self.upload(blob).await?;
        }
        self.put_manifest(&artifact.manifest, &by_digest(&artifact.manifest)).await?;
        if let Some(signatures) = signatures {
            for blob in &signatures.blobs {
                self.upload(blob).await?;
            }
            let is_listed = self.put_manifest(&signatures.manifest, &by_digest(&signatures.manifest)).await?;
            if !is_listed {
                self.list_signatures(&artifact.manifest, &signatures.manifest).await?;
            }
        }
        self.put_manifest(&artifact.manifest, &Reference::Tag(tag.clone())).await?;
        Ok(())
    }

    /// Adds a manifest to the list under the tag that stands for it. Registries know no condition for a change, so it is looked whether
    /// it was overwritten.
    async fn list_signatures(&self, artifact: &Blob, signatures: &Blob) -> Result<(), RegistryError> {
        let subject = artifact.descriptor.digest;
        for _ in 0..INDEX_WRITES_MAX {
            let mut index = self.fall_back_index(subject).await?;
            if index.manifests.iter().any(|one| one.digest == signatures.descriptor.digest) {
                return Ok(());
            }
            index.manifests.push(signatures.descriptor.clone());
            let list = Blob::new(INDEX_TYPE, index.to_json()?);
            self.put_manifest(&list, &fall_back(subject)).await?;
        }
        let index = self.fall_back_index(subject).await?;
        let is_there = index.manifests.iter().any(|one| one.digest == signatures.descriptor.digest);
        if is_there { Ok(()) } else { Err(self.session.transport.broken(BrokenRule::Overwritten)) }
    }

    async fn upload(&self, blob: &Blob) -> Result<(), RegistryError> {
        let name = format!("{SHA256}{}", blob.descriptor.digest);
        let there = self.session.ask(Action::Push, &self.ask(Method::HEAD, &format!("blobs/{name}"))).await?;
        match there.status() {
            StatusCode::OK => return Ok(()),
            StatusCode::NOT_FOUND => {}
            _ => return Err(self.session.transport.refusal(there, "blobs").await),
        }
        let begin = self.ask(Method::POST, "blobs/uploads/");
        let begun = self.session.ask(Action::Push, &begin).await?;
        if begun.status() != StatusCode::ACCEPTED {
            return Err(self.session.transport.refusal(begun, "uploads").await);
        }
        let location = begun.header("location");
        let location = location.ok_or_else(|| self.session.transport.broken(BrokenRule::Address("location")))?;
        let mut url = self.session.transport.own_address(&begin.url, location, "location")?;
        url.query_pairs_mut().append_pair("digest", &name);
        let mut put = Ask::new(Method::PUT, url);
        put.content_type = Some("application/octet-stream");
        put.body = blob.content.clone();
        let done = self.session.ask(Action::Push, &put).await?;
        match done.status() {
            StatusCode::CREATED => Ok(()),
            _ => Err(self.session.transport.refusal(done, "the upload").await),
        }
    }

    /// Puts a manifest; true where the registry lists it among the referrers of its subject.
    async fn put_manifest(&self, manifest: &Blob, at: &Reference) -> Result<bool, RegistryError> {
        let mut put = self.ask(Method::PUT, &format!("manifests/{at}"));
        put.content_type = Some(if manifest.descriptor.media_type == INDEX_TYPE { INDEX_TYPE } else { MANIFEST_TYPE });
        put.body = manifest.content.clone();
        let answer = self.session.ask(Action::Push, &put).await?;
        match answer.status() {
            StatusCode::CREATED => Ok(answer.header(SUBJECT_HEADER).is_some()),
            _ => Err(self.session.transport.refusal(answer, &at.to_string()).await),
        }
    }

    /// The next page of a list (RFC 8288), which must be at the registry.
    fn next_page(&self, answer: &Answer) -> Result<Option<Url>, RegistryError> {
        let Some(link) = answer.header("link") else { return Ok(None) };
        let target = link.trim().strip_prefix('<').and_then(|rest| rest.split_once('>'));
        match target {
            Some((target, parameters)) if parameters.replace('"', "").contains("rel=next") => {
                self.session.transport.own_address(&answer.url, target, "link").map(Some)
            }
            _ => Ok(None),
        }
    }

    fn ask(&self, method: Method, path: &str) -> Ask {
        Ask::new(method, self.url(path))
    }

    fn url(&self, path: &str) -> Url {
        self.session.transport.url(&format!("/v2/{}/{path}", self.session.path()))
    }
}

fn altered_manifest(expected: Digest) -> RegistryError {
    RegistryError::Altered { what: "the manifest", expected }
}

fn by_digest(manifest: &Blob) -> Reference {
    Reference::Digest(manifest.descriptor.digest)
}

/// The tag that stands for the list of what refers to an artifact, where a registry has no such list.
fn fall_back(artifact: Digest) -> Reference {
    Reference::Tag(Tag::of_referrers(artifact))
}

fn is_list_of_signatures(tag: &Tag) -> bool {
    tag.as_str().strip_prefix("sha256-").is_some_and(|rest| rest.parse::<Digest>().is_ok())
}
