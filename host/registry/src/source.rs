//! A source of contracts: a tag, or a range of versions, of a repository or a layout, looked at again and again. What is new there is
//! taken as a file of the watched folder is.

use std::sync::Arc;

use bytes::Bytes;
use intent_gateway_domain::audit::Actor;
use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::id::IntentId;
use intent_gateway_domain::intake::{Look, goes_live};
use intent_gateway_domain::ports::ContractIntake;
use intent_gateway_domain::succession::Removal;
use intent_gateway_domain::versions::{ContractAdminError, LoadOrder, Origin, RefusedComponent};

use crate::error::RegistryError;
use crate::name::{ArtifactName, Reference};
use crate::place::{Options, Pulled, Registry};
use crate::selector::Selector;

/// The artifact is of another intent than the source is to have.
const OTHER_INTENT: &str = "SOURCE_OTHER_INTENT";
/// The artifact is older than what serves: a tag was moved back, or a newer one is gone.
const OLDER: &str = "SOURCE_OLDER";

/// What is followed.
#[derive(Clone, Debug)]
pub struct Source {
    /// The one intent whose contracts are taken from there.
    pub intent: IntentId,
    /// The repository or the layout.
    pub name: ArtifactName,
    pub selector: Selector,
    pub options: Options,
}

/// Looks at a source.
pub struct SourceFollower {
    source: Source,
    registry: Registry,
    intake: Arc<dyn ContractIntake>,
    /// The manifest that was dealt with last.
    seen: Option<Digest>,
    /// The code that was told last; none while all is well.
    told: Option<String>,
    look: Look,
}

impl SourceFollower {
    /// Nothing is asked yet.
    ///
    /// # Errors
    /// [`RegistryError::Setup`], for example where the file of authorities cannot be read.
    pub fn new(source: Source, intake: Arc<dyn ContractIntake>) -> Result<Self, RegistryError> {
        let registry = Registry::open(&source.name, &source.options)?;
        Ok(Self { source, registry, intake, seen: None, told: None, look: Look::First })
    }

    /// The source, as it is told.
    #[must_use]
    pub fn name(&self) -> String {
        self.source.name.to_string()
    }

    /// Looks once. What cannot be had now changes nothing, and is told once until something else is to be told.
    ///
    /// # Errors
    /// Why the source could not be read.
    pub async fn look(&mut self) -> Result<(), RegistryError> {
        match self.find_new().await {
            Ok(Some(pulled)) => {
                self.told = None;
                let manifest = pulled.manifest;
                if self.take(pulled).await {
                    self.seen = Some(manifest);
                }
            }
            Ok(None) => self.told = None,
            Err(error) => {
                self.tell(error.code(), chain(&error), None);
                return Err(error);
            }
        }
        self.look = Look::Later;
        Ok(())
    }

    /// What is followed now; none where it was dealt with before.
    async fn find_new(&self) -> Result<Option<Pulled>, RegistryError> {
        let reference = match &self.source.selector {
            Selector::Tag(tag) => Reference::Tag(tag.clone()),
            range @ Selector::Range(wanted) => {
                let tags = self.registry.tags().await?;
                let chosen = range.choose(&tags).ok_or_else(|| RegistryError::NotFound {
                    place: self.name(),
                    what: format!("a version within `{wanted}`"),
                })?;
                Reference::Tag(chosen.tag)
            }
        };
        let manifest = self.registry.resolve(&reference).await?;
        if self.seen == Some(manifest) {
            return Ok(None);
        }
        // By its digest: the tag may move meanwhile.
        self.registry.pull(&Reference::Digest(manifest)).await.map(Some)
    }

    /// Takes what was pulled. Whether it was dealt with: what failed for the store's sake is tried again.
    async fn take(&mut self, pulled: Pulled) -> bool {
        if self.intake.find(pulled.component).is_some() {
            // What is known goes live by an explicit act alone.
            return true;
        }
        let said = pulled.intent.as_deref();
        if said.is_some_and(|said| said != self.source.intent.as_str()) {
            self.refuse_intent(said.unwrap_or_default(), pulled.component);
            return true;
        }
        let origin = Origin::Registry(self.name());
        let (file, by) = (Bytes::from(pulled.file), Actor::gateway());
        // A refusal is noted where it arises.
        let contract = match self.intake.examine(file.clone(), &origin, &by).await {
            Ok(contract) => contract,
            Err(ContractAdminError::Rejected(_)) => return true,
            Err(error) => {
                tracing::warn!(source = %self.source.name, %error, "a contract of a source is examined later");
                return false;
            }
        };
        let descriptor = contract.descriptor();
        if descriptor.intent != self.source.intent {
            self.refuse_intent(descriptor.intent.as_str(), pulled.component);
            return true;
        }
        if let Some(live) = self.intake.live_version(&descriptor.intent).filter(|live| descriptor.version < *live) {
            let message = format!(
                "the source has version {}, and {live} serves: it is not gone back to an older version unasked",
                descriptor.version
            );
            self.tell(OLDER, message, Some(pulled.component));
            return true;
        }
        let activate = goes_live(descriptor, self.intake.standing(&descriptor.intent), self.look);
        // A source cannot say that values may go; who means it uploads the version and says so.
        let order = LoadOrder { origin, by, activate, removal: Removal::Refused };
        match self.intake.take(contract.clone(), file, order).await {
            Ok(loaded) => {
                tracing::info!(
                    source = %self.source.name, manifest = %pulled.manifest, version = loaded.version.version,
                    waits_for = ?loaded.waits_for, "a contract was taken from a source"
                );
                true
            }
            Err(error @ (ContractAdminError::Store { .. } | ContractAdminError::Overloaded)) => {
                tracing::error!(source = %self.source.name, %error, "a contract of a source could not be taken; it is tried again");
                false
            }
            Err(_) => true,
        }
    }

    fn refuse_intent(&mut self, found: &str, component: Digest) {
        let message = format!("the source is to have contracts of {}, and has one of {found}", self.source.intent);
        self.tell(OTHER_INTENT, message, Some(component));
    }

    fn tell(&mut self, code: &str, message: String, digest: Option<Digest>) {
        if self.told.as_deref() == Some(code) {
            tracing::debug!(source = %self.source.name, code, message, "a source still gives no contract");
            return;
        }
        tracing::warn!(source = %self.source.name, code, message, "a source gives no contract");
        self.told = Some(code.to_owned());
        let refused = RefusedComponent { digest, identity: None, code: code.to_owned(), message };
        self.intake.note_unreadable(refused, Origin::Registry(self.name()));
    }
}
