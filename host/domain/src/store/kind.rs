//! The kinds of records.

/// The kinds of records; each is a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Businesses that have signed up. Key: account; lookup: e-mail address.
    Accounts,
    /// Six-digit codes under way. Key: e-mail address.
    EmailCodes,
    /// Sandbox credentials. Key: account; lookup: `client_id`.
    Credentials,
    /// Webhook addresses and signing keys. Key: account.
    Webhooks,
    /// Submitted manifests. Key: account; status: that of the latest submission.
    Manifests,
    /// Entries for the platform team to decide. Key: review; lookup: none; status: open or how it was decided.
    Reviews,
    /// Connections to partners' servers. Key: account; status: the connection's state.
    Connections,
    /// Accounts at partners that users have linked. Key: the user's mark and the partner.
    Links,
    /// Links that a browser has begun. Key: mark of the request's state.
    PendingLinks,
    /// The gateway's registrations at partners' authorization servers. Key: digest of the issuer and of where browsers
    /// come back to.
    LinkClients,
    /// Writes at partners under the key that names each. Key: the attempt's own digest.
    Attempts,
    /// What is known of the documents that a business has uploaded. Key: account.
    Documents,
    /// What stands in them, sealed; one record a document. Key: the document's own.
    DocumentContents,
    /// What users have ordered. Key: the order; names: see [`Order`](crate::order::Order); status: how far it is.
    Orders,
    /// The options that were ordered, as the searches returned them. Key: the order.
    OrderedOptions,
    /// Completion reports of businesses that were never live. Key: digest of what the partner calls the order; names: the partner.
    TestReports,
    /// What waits for a second person of the platform team. Key: the approval.
    Approvals,
    /// What is wanted of an intent's contract. Key: the intent.
    Contracts,
    /// Which intent a name means. Key: the intent's own name, or an alias.
    ContractNames,
    /// Components of contracts. Key: digest and number of the part.
    ComponentParts,
    /// What a gateway has ready of an intent, and serves. Key: intent and gateway.
    ContractStates,
    /// What of contracts is revoked: one record.
    ContractRevocations,
    /// What a gateway has seen of a rollout. Key: intent and gateway.
    RolloutEvidence,
    /// Who is signed in at a page. Key: mark of what the browser holds; names: whose it is.
    WebSessions,
    /// What partners are told. Key: the event, in the order of time; names: the partner; status: whether it was delivered.
    PartnerEvents,
    /// Events that wait to be sent. Key: when, and the event.
    QueuedEvents,
    /// What will change for partners. Key: when it takes effect, and what it says; status: whether somebody has still to be told.
    Notices,
}

impl Kind {
    /// All of them, in the order of a backup.
    pub const ALL: [Self; 27] = [
        Self::Accounts,
        Self::EmailCodes,
        Self::Credentials,
        Self::Webhooks,
        Self::Manifests,
        Self::Reviews,
        Self::Connections,
        Self::Links,
        Self::PendingLinks,
        Self::LinkClients,
        Self::Attempts,
        Self::Documents,
        Self::DocumentContents,
        Self::Orders,
        Self::OrderedOptions,
        Self::TestReports,
        Self::Approvals,
        Self::Contracts,
        Self::ContractNames,
        Self::ComponentParts,
        Self::ContractStates,
        Self::ContractRevocations,
        Self::RolloutEvidence,
        Self::WebSessions,
        Self::PartnerEvents,
        Self::QueuedEvents,
        Self::Notices,
    ];

    /// Name of the table, and of the kind in a backup.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Accounts => "accounts",
            Self::EmailCodes => "email_codes",
            Self::Credentials => "credentials",
            Self::Webhooks => "webhooks",
            Self::Manifests => "manifests",
            Self::Reviews => "reviews",
            Self::Connections => "connections",
            Self::Links => "links",
            Self::PendingLinks => "pending_links",
            Self::LinkClients => "link_clients",
            Self::Attempts => "attempts",
            Self::Documents => "documents",
            Self::DocumentContents => "document_contents",
            Self::Orders => "orders",
            Self::OrderedOptions => "ordered_options",
            Self::TestReports => "test_reports",
            Self::Approvals => "approvals",
            Self::Contracts => "contracts",
            Self::ContractNames => "contract_names",
            Self::ComponentParts => "component_parts",
            Self::ContractStates => "contract_states",
            Self::ContractRevocations => "contract_revocations",
            Self::RolloutEvidence => "rollout_evidence",
            Self::WebSessions => "web_sessions",
            Self::PartnerEvents => "partner_events",
            Self::QueuedEvents => "queued_events",
            Self::Notices => "notices",
        }
    }

    /// Whether such records have names that they share.
    #[must_use]
    pub fn has_names(self) -> bool {
        matches!(self, Self::Orders | Self::TestReports | Self::WebSessions | Self::PartnerEvents)
    }

    /// Whether changes of such records are told in feeds.
    #[must_use]
    pub fn has_feed(self) -> bool {
        matches!(self, Self::Orders | Self::Contracts)
    }

    /// Whether a change of such a record concerns how requests are routed or reports are judged, or which contract
    /// serves, so that every process has to look at it at once.
    #[must_use]
    pub fn is_watched(self) -> bool {
        matches!(
            self,
            Self::Accounts
                | Self::Credentials
                | Self::Webhooks
                | Self::Manifests
                | Self::Connections
                | Self::Contracts
                | Self::ContractStates
                | Self::ContractRevocations
        )
    }
}
