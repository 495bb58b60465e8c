//! A component and its signatures: together in one file on the way, apart in the catalogue, where the content has its own name.

use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::sections::{self, SIGNATURES_SECTION};

use crate::statement::{InvalidSignatures, Signatures};

/// A component, apart from its signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedComponent {
    /// Without signatures: what is loaded, and what the digest names.
    pub component: Vec<u8>,
    pub digest: Digest,
    pub signatures: Option<Signatures>,
}

impl SignedComponent {
    /// Takes a file apart. What is no component has no signatures: whoever runs it says so.
    ///
    /// # Errors
    /// [`InvalidSignatures`] where there are some that cannot be read.
    pub fn split(file: &[u8]) -> Result<Self, InvalidSignatures> {
        let (component, found) = sections::take_out(file, SIGNATURES_SECTION);
        let signatures = match &found[..] {
            [] => None,
            [only] => Some(Signatures::read(only)?),
            _ => return Err(InvalidSignatures::Several),
        };
        let digest = Digest::of(&component);
        Ok(Self { component, digest, signatures })
    }

    /// Puts it together again.
    ///
    /// # Errors
    /// [`InvalidSignatures::NotRead`], which does not happen.
    pub fn join(&self) -> Result<Vec<u8>, InvalidSignatures> {
        match &self.signatures {
            Some(signatures) => {
                Ok(sections::append(&self.component, SIGNATURES_SECTION, signatures.to_json()?.as_bytes()))
            }
            None => Ok(self.component.clone()),
        }
    }
}
