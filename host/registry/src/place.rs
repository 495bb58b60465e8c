//! Where artifacts are, a repository or a layout, and how they are pushed to and pulled from either.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use intent_gateway_domain::digest::Digest;
use intent_gateway_signing::{Signatures, SignedComponent};

use crate::artifact::{Contract, SignedArtifact, check_statement, has_all, merge, signatures_artifact};
use crate::credentials::{CredentialFiles, Credentials};
use crate::error::RegistryError;
use crate::layout::Layout;
use crate::manifest::{Descriptor, INTENT_ANNOTATION, Manifest, VERSION_ANNOTATION, as_u64};
use crate::name::{ArtifactName, InvalidName, Location, Reference, Tag};
use crate::remote::Remote;
use crate::session::Session;
use crate::transport::{PlainHttp, Transport};

/// Tags of one repository or layout.
pub(crate) const TAGS_MAX: usize = 10_000;
/// Manifests of signatures of one artifact: a component has at most eight signatures, and each signer pushes now and then anew.
pub(crate) const SIGNATURES_MANIFESTS_MAX: usize = 32;
/// How long a pull or a push may take, all requests of it together, where nothing else is said.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// How a registry is asked.
#[derive(Clone, Debug)]
pub struct Options {
    pub credentials: Credentials,
    pub plain_http: PlainHttp,
    /// PEM file of authorities that are trusted beside the usual ones.
    pub authorities: Option<PathBuf>,
    /// How long one pull, push or look may take as a whole.
    pub timeout: Duration,
}

impl Default for Options {
    /// With the credentials that Docker and Podman keep for this user, over TLS but for this machine.
    fn default() -> Self {
        Self {
            credentials: Credentials::Files(CredentialFiles::of_this_user()),
            plain_http: PlainHttp::default(),
            authorities: None,
            timeout: TIMEOUT,
        }
    }
}

impl Options {
    /// As people set it: a file of credentials in the place of the usual ones, authorities beside the usual ones, and whether plain
    /// HTTP is spoken also to other machines.
    #[must_use]
    pub fn of_files(credentials: Option<&Path>, authorities: Option<&Path>, insecure: bool) -> Self {
        let usual = Self::default();
        let credentials = credentials.map(|file| Credentials::Files(CredentialFiles::new(vec![file.to_owned()])));
        Self {
            credentials: credentials.unwrap_or(usual.credentials),
            plain_http: if insecure { PlainHttp::Insecure } else { usual.plain_http },
            authorities: authorities.map(Path::to_owned),
            timeout: usual.timeout,
        }
    }
}

/// What a push came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// Names the artifact.
    pub manifest: Digest,
    /// Names the component without its signatures.
    pub component: Digest,
    pub tag: Tag,
    /// Whether the file had signatures.
    pub signed: bool,
    /// Whether all of it was there already, under this tag: nothing was written.
    pub was_there: bool,
}

/// A contract that was pulled. Every digest was compared with what was fetched; nobody has looked who signed it.
#[derive(Clone, PartialEq, Eq)]
pub struct Pulled {
    /// The component with its signatures, as it is loaded.
    pub file: Vec<u8>,
    pub manifest: Digest,
    pub component: Digest,
    /// What the artifact says of itself, which the component may not.
    pub intent: Option<String>,
    /// Likewise.
    pub version: Option<String>,
}

impl fmt::Debug for Pulled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pulled")
            .field("file_bytes", &self.file.len())
            .field("manifest", &self.manifest)
            .field("component", &self.component)
            .field("intent", &self.intent)
            .field("version", &self.version)
            .finish()
    }
}

/// A place of artifacts. Opening it asks nothing of anybody.
pub struct Registry {
    place: Place,
    name: String,
    timeout: Duration,
}

enum Place {
    Remote(Box<Remote>),
    Layout(Layout),
}

impl Registry {
    /// Opens the repository or the layout of a name, whatever its reference is.
    ///
    /// # Errors
    /// [`RegistryError::Setup`], for example where the file of authorities cannot be read.
    pub fn open(name: &ArtifactName, options: &Options) -> Result<Self, RegistryError> {
        let place = match name.location() {
            Location::Layout(path) => Place::Layout(Layout::new(path.clone())),
            Location::Repository(repository) => {
                let transport = Transport::new(repository, options.plain_http, options.authorities.as_deref())?;
                let session = Session::new(transport, repository.clone(), options.credentials.clone());
                Place::Remote(Box::new(Remote::new(session)))
            }
        };
        Ok(Self { place, name: name.location().to_string(), timeout: options.timeout })
    }

    /// The digest of the manifest that a reference names now. Cheap: no content is fetched where a registry does as it should.
    ///
    /// # Errors
    /// [`RegistryError::NotFound`], and all that a registry may answer.
    pub async fn resolve(&self, reference: &Reference) -> Result<Digest, RegistryError> {
        let found = self.in_time(self.place.resolve(reference)).await?;
        found.ok_or_else(|| self.not_found(reference))
    }

    /// All tags, in no order, without those that stand for lists of signatures.
    ///
    /// # Errors
    /// [`RegistryError::TooLarge`] where there are more than 10,000.
    pub async fn tags(&self) -> Result<Vec<Tag>, RegistryError> {
        self.in_time(self.place.tags()).await
    }

    /// Fetches a contract, with all signatures that were pushed of it.
    ///
    /// # Errors
    /// [`RegistryError`]; nothing of what was fetched is given out then.
    pub async fn pull(&self, reference: &Reference) -> Result<Pulled, RegistryError> {
        self.in_time(self.pull_all(reference)).await
    }

    /// Pushes a contract, and its signatures beside it, under a tag; under that of its version where none is given. Signatures that
    /// others have pushed stay.
    ///
    /// # Errors
    /// [`RegistryError`]. A push that failed has moved no tag; content may be left that nothing names.
    pub async fn push(&self, contract: &Contract<'_>, tag: Option<&Tag>) -> Result<Pushed, RegistryError> {
        self.in_time(self.push_all(contract, tag)).await
    }

    async fn pull_all(&self, reference: &Reference) -> Result<Pulled, RegistryError> {
        let json = self.place.manifest(reference).await?.ok_or_else(|| self.not_found(reference))?;
        let (digest, manifest) = (Digest::of(&json), Manifest::read(&json)?);
        let layer = manifest.component()?;
        let component = self.place.blob(layer, "the component").await?;
        let signatures = self.signatures(digest, layer.digest).await?;
        let signed = SignedComponent { component, digest: layer.digest, signatures };
        let said = |name: &str| manifest.annotations.get(name).cloned();
        Ok(Pulled {
            file: signed.join()?,
            manifest: digest,
            component: signed.digest,
            intent: said(INTENT_ANNOTATION),
            version: said(VERSION_ANNOTATION),
        })
    }

    /// All signatures of an artifact as one; none where it has none.
    async fn signatures(&self, artifact: Digest, component: Digest) -> Result<Option<Signatures>, RegistryError> {
        let mut found = self.place.signatures(artifact).await?;
        // In whatever order they are listed, the same file comes out.
        found.sort_by_key(|one| one.digest);
        found.dedup_by_key(|one| one.digest);
        let mut all = None;
        for one in found {
            let by_digest = Reference::Digest(one.digest);
            let json = self.place.manifest(&by_digest).await?.ok_or_else(|| self.not_found(&by_digest))?;
            let manifest = Manifest::read(&json)?;
            let layer = manifest.signatures_of(artifact)?;
            let signatures = Signatures::read(&self.place.blob(layer, "the signatures").await?)?;
            check_statement(&signatures, component)?;
            all = Some(merge(all, signatures)?);
        }
        Ok(all)
    }

    async fn push_all(&self, contract: &Contract<'_>, tag: Option<&Tag>) -> Result<Pushed, RegistryError> {
        let tag = tag.map_or_else(|| Tag::of_version(contract.version), |tag| Ok(tag.clone()))?;
        let SignedArtifact { artifact, component, signatures } = SignedArtifact::of(contract)?;
        let digest = artifact.manifest.descriptor.digest;
        let known = match self.place.resolve(&Reference::Digest(digest)).await {
            Ok(found) => found.is_some(),
            // A layout that is made by this push.
            Err(RegistryError::NotFound { .. }) => false,
            Err(error) => return Err(error),
        };
        let before = if known { self.signatures(digest, component).await? } else { None };
        let is_new = |signatures: &Signatures| !before.as_ref().is_some_and(|before| has_all(before, signatures));
        let to_push = match &signatures {
            Some(signatures) if is_new(signatures) => {
                // What could not be read again as one is not pushed.
                merge(before.clone(), signatures.clone())?;
                Some(signatures_artifact(signatures, &artifact.manifest.descriptor)?)
            }
            _ => None,
        };
        let was_there =
            to_push.is_none() && known && self.place.resolve(&Reference::Tag(tag.clone())).await? == Some(digest);
        if !was_there {
            self.place.publish(artifact, to_push, &tag).await?;
        }
        Ok(Pushed { manifest: digest, component, tag, signed: signatures.is_some(), was_there })
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T, RegistryError>>) -> Result<T, RegistryError> {
        let late = |_| RegistryError::TimedOut { place: self.name.clone(), limit: self.timeout };
        tokio::time::timeout(self.timeout, work).await.map_err(late)?
    }

    fn not_found(&self, reference: &Reference) -> RegistryError {
        RegistryError::NotFound { place: self.name.clone(), what: reference.to_string() }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Each of these does the same in both, by the rules of the one and of the other.
impl Place {
    async fn resolve(&self, reference: &Reference) -> Result<Option<Digest>, RegistryError> {
        match self {
            Self::Remote(remote) => remote.resolve(reference).await,
            Self::Layout(layout) => layout.resolve(reference).await,
        }
    }

    async fn manifest(&self, reference: &Reference) -> Result<Option<Vec<u8>>, RegistryError> {
        match self {
            Self::Remote(remote) => remote.manifest(reference).await,
            Self::Layout(layout) => layout.manifest(reference).await,
        }
    }

    async fn blob(&self, described: &Descriptor, what: &'static str) -> Result<Vec<u8>, RegistryError> {
        match self {
            Self::Remote(remote) => remote.blob(described, what).await,
            Self::Layout(layout) => layout.blob(described, what).await,
        }
    }

    async fn tags(&self) -> Result<Vec<Tag>, RegistryError> {
        match self {
            Self::Remote(remote) => remote.tags().await,
            Self::Layout(layout) => layout.tags().await,
        }
    }

    async fn signatures(&self, artifact: Digest) -> Result<Vec<Descriptor>, RegistryError> {
        match self {
            Self::Remote(remote) => remote.signatures(artifact).await,
            Self::Layout(layout) => layout.signatures(artifact).await,
        }
    }

    async fn publish(
        &self,
        artifact: crate::artifact::Artifact,
        signatures: Option<crate::artifact::Artifact>,
        tag: &Tag,
    ) -> Result<(), RegistryError> {
        match self {
            Self::Remote(remote) => remote.publish(&artifact, signatures.as_ref(), tag).await,
            Self::Layout(layout) => layout.publish(artifact, signatures, tag.clone()).await,
        }
    }
}

impl ArtifactName {
    /// The tag that a push to this name is made under; none for that of the version.
    ///
    /// # Errors
    /// [`InvalidName::PushToDigest`].
    pub fn push_tag(&self) -> Result<Option<&Tag>, InvalidName> {
        match self.reference() {
            None => Ok(None),
            Some(Reference::Tag(tag)) => Ok(Some(tag)),
            Some(digest @ Reference::Digest(_)) => Err(InvalidName::PushToDigest(digest.to_string())),
        }
    }
}

pub(crate) fn too_many_tags() -> RegistryError {
    RegistryError::TooLarge { what: "the list of tags", limit: as_u64(TAGS_MAX), unit: "tags" }
}

pub(crate) fn too_many_signatures() -> RegistryError {
    let limit = as_u64(SIGNATURES_MANIFESTS_MAX);
    RegistryError::TooLarge { what: "the list of signatures", limit, unit: "manifests" }
}
