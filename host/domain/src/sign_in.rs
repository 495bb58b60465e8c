//! Where a partner sends users to sign in: what its server names, and what the platform has approved of it.
//!
//! A partner's server says itself which authorization server guards it, and could name one that belongs to somebody else. So
//! what it names holds once it is approved, and a token that was obtained at one place is used for no other.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// An authorization server and the resource for which it gives tokens (RFC 8414; RFC 9728).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInServer {
    /// The issuer, to the letter.
    pub issuer: String,
    /// The resource, to the letter. Absent where whatever covers the partner's address will do, as with partners of a
    /// configuration.
    pub resource: Option<String>,
    /// Scheme, host and port of the issuer and of every endpoint that it names: an issuer that is the partner's own may have
    /// endpoints of another one. Empty where the issuer's own word on them will do.
    pub origins: BTreeSet<String>,
}

impl SignInServer {
    /// Whether this, which is approved, is what was named, with no endpoint that was not looked at.
    #[must_use]
    pub fn admits(&self, named: &Self) -> bool {
        let resource = self.resource.is_none() || self.resource == named.resource;
        let origins = self.origins.is_empty() || named.origins.is_subset(&self.origins);
        self.issuer == named.issuer && resource && origins
    }

    /// Whether both have something in common: the issuer, a host that gives tokens, or the resource.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let resource = self.resource.is_some() && self.resource == other.resource;
        self.issuer == other.issuer || resource || !self.origins.is_disjoint(&other.origins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(issuer: &str, resource: Option<&str>, origins: &[&str]) -> SignInServer {
        let origins = origins.iter().map(|&origin| origin.to_owned()).collect();
        SignInServer { issuer: issuer.to_owned(), resource: resource.map(str::to_owned), origins }
    }

    #[test]
    fn what_was_approved_is_admitted_and_nothing_beyond() {
        let approved = server("https://id.a", Some("https://a/mcp"), &["https://id.a", "https://t.a"]);
        assert!(approved.admits(&approved));
        assert!(approved.admits(&server("https://id.a", Some("https://a/mcp"), &["https://id.a"])));
        for other in [
            server("https://id.b", Some("https://a/mcp"), &["https://id.a"]),
            server("https://id.a", Some("https://a/"), &["https://id.a"]),
            server("https://id.a", None, &["https://id.a"]),
            server("https://id.a", Some("https://a/mcp"), &["https://id.a", "https://id.b"]),
        ] {
            assert!(!approved.admits(&other), "{other:?}");
        }
        let configured = server("https://id.a", None, &[]);
        assert!(configured.admits(&approved) && !configured.admits(&server("https://id.b", None, &[])));
    }

    #[test]
    fn one_thing_in_common_is_enough_to_overlap() {
        let one = server("https://id.a", Some("https://a/mcp"), &["https://id.a"]);
        for other in [
            server("https://id.a", Some("https://b/mcp"), &["https://id.b"]),
            server("https://id.b", Some("https://a/mcp"), &["https://id.b"]),
            server("https://id.b", Some("https://b/mcp"), &["https://id.a", "https://id.b"]),
        ] {
            assert!(one.overlaps(&other) && other.overlaps(&one), "{other:?}");
        }
        assert!(!one.overlaps(&server("https://id.b", None, &["https://id.b"])));
        assert!(!server("https://id.a", None, &[]).overlaps(&server("https://id.b", None, &[])));
    }
}
