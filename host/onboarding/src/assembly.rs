//! Gives each service of onboarding the ports that it uses.

use std::sync::{Arc, Mutex};

use super::events::{Courier, Events, StatementNews};
use super::keeper::RecordKeeper;
use super::notices::Notices;
use super::{
    Accounts, Connections, DeliveredResults, Documents, GoLiveTests, LivePartners, Postman, Probes, Reviews,
    SandboxCredentials, Sessions, Settings, SignIns, StrikeDesk, Submissions, TeamAlarm, TestCalls, Undoing,
    UnreportedOrders, Webhooks,
};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::delivered::Deliveries;
use intent_gateway_domain::golive::GoLiveCheck;
use intent_gateway_domain::ports::{Contracts, Journal, Mailer, PageFetch, PartnerProbe};
use intent_gateway_domain::signing_keys::SigningKeys;
use intent_gateway_domain::store::Store;
use intent_gateway_domain::vault::Vault;
use intent_gateway_domain::webhook_post::WebhookPost;

/// The ports of all services together.
pub struct Ports {
    /// Where records are kept.
    pub store: Arc<dyn Store>,
    /// Seals and marks secrets.
    pub vault: Vault,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The contracts that are live.
    pub contracts: Arc<dyn Contracts>,
    /// Probes partners' servers.
    pub probe: Arc<dyn PartnerProbe>,
    /// Tests them with sample requests.
    pub golive: Arc<dyn GoLiveCheck>,
    /// Fetches privacy policies.
    pub pages: Arc<dyn PageFetch>,
    /// Sends what the store holds to be sent.
    pub mailer: Arc<dyn Mailer>,
    /// Posts events to partners' webhooks.
    pub webhooks: Arc<dyn WebhookPost>,
    /// What completion reports are verified with.
    pub keys: Arc<dyn SigningKeys>,
    /// Tells what partners have reported.
    pub books: Arc<dyn Deliveries>,
    /// Takes what is found.
    pub journal: Arc<dyn Journal>,
    /// Who is routed.
    pub live: Arc<LivePartners>,
    /// How this gateway is configured.
    pub settings: Settings,
}

/// The services of onboarding. They share nothing but the store.
#[derive(Clone)]
pub struct Services {
    /// Sign-up, sign-in, profiles.
    pub accounts: Arc<Accounts>,
    /// Which tokens are accepted.
    pub sessions: Arc<Sessions>,
    /// Takes changes back that the owner did not make.
    pub undoing: Arc<Undoing>,
    /// Credentials for the sandbox.
    pub credentials: Arc<SandboxCredentials>,
    /// Webhooks and the keys that sign completion reports.
    pub webhooks: Arc<Webhooks>,
    /// Calls with which partners try out their token.
    pub test_calls: Arc<TestCalls>,
    /// Manifests that partners submit.
    pub submissions: Arc<Submissions>,
    /// Documents that are uploaded for a review.
    pub documents: Arc<Documents>,
    /// The platform team's decisions.
    pub reviews: Arc<Reviews>,
    /// Endpoints: registered, switched on, suspended.
    pub connections: Arc<Connections>,
    /// Where partners' users sign in.
    pub sign_ins: Arc<SignIns>,
    /// Looks at partners' servers.
    pub probes: Arc<Probes>,
    /// The platform team's tests of them.
    pub tests: Arc<GoLiveTests>,
    /// Strikes against partners, and suspensions for them.
    pub strikes: Arc<StrikeDesk>,
    /// What partners deliver against what they declare.
    pub results: Arc<DeliveredResults>,
    /// Orders that are not reported in time.
    pub unreported: Arc<UnreportedOrders>,
    /// Tells the platform team what nobody may oversee.
    pub alarm: Arc<TeamAlarm>,
    /// Delivers mail.
    pub postman: Arc<Postman>,
    /// What partners were told.
    pub events: Arc<Events>,
    /// Sends it to their webhooks.
    pub courier: Arc<Courier>,
    /// Tells of statements.
    pub statements: Arc<StatementNews>,
    /// What will change for partners.
    pub notices: Arc<Notices>,
    /// Who is routed.
    pub live: Arc<LivePartners>,
}

impl Ports {
    /// The services, each with the ports that it uses.
    #[must_use]
    pub fn services(self) -> Services {
        let Self {
            store,
            vault,
            clock,
            contracts,
            probe,
            golive,
            pages,
            mailer,
            webhooks,
            keys,
            books,
            journal,
            live,
            settings,
        } = self;
        let keeper = RecordKeeper { store, vault, clock };
        Services {
            accounts: Arc::new(Accounts { keeper: keeper.clone(), probe: probe.clone() }),
            sessions: Arc::new(Sessions { keeper: keeper.clone() }),
            undoing: Arc::new(Undoing { keeper: keeper.clone(), keys: keys.clone(), live: live.clone() }),
            credentials: Arc::new(SandboxCredentials { keeper: keeper.clone(), base_url: settings.base_url.clone() }),
            webhooks: Arc::new(Webhooks {
                keeper: keeper.clone(),
                probe: probe.clone(),
                keys,
                base_url: settings.base_url.clone(),
            }),
            test_calls: Arc::new(TestCalls {
                keeper: keeper.clone(),
                contracts: contracts.clone(),
                samples: Mutex::default(),
            }),
            submissions: Arc::new(Submissions {
                keeper: keeper.clone(),
                contracts: contracts.clone(),
                base_url: settings.base_url.clone(),
            }),
            documents: Arc::new(Documents { keeper: keeper.clone() }),
            reviews: Arc::new(Reviews { keeper: keeper.clone(), pages, live: live.clone(), looking: Mutex::default() }),
            connections: Arc::new(Connections {
                keeper: keeper.clone(),
                probe: probe.clone(),
                live: live.clone(),
                settings: settings.clone(),
            }),
            tests: Arc::new(GoLiveTests {
                keeper: keeper.clone(),
                contracts: contracts.clone(),
                golive,
                live: live.clone(),
                team_email: settings.team_email.clone(),
            }),
            strikes: Arc::new(StrikeDesk {
                keeper: keeper.clone(),
                live: live.clone(),
                base_url: settings.base_url.clone(),
            }),
            results: Arc::new(DeliveredResults {
                keeper: keeper.clone(),
                contracts: contracts.clone(),
                live: live.clone(),
                books: books.clone(),
            }),
            unreported: Arc::new(UnreportedOrders {
                keeper: keeper.clone(),
                contracts: contracts.clone(),
                journal,
                rate: settings.rate,
            }),
            sign_ins: Arc::new(SignIns { keeper: keeper.clone(), live: live.clone() }),
            alarm: Arc::new(TeamAlarm { keeper: keeper.clone(), team_email: settings.team_email.clone() }),
            postman: Arc::new(Postman { keeper: keeper.clone(), mailer }),
            events: Arc::new(Events { keeper: keeper.clone() }),
            courier: Arc::new(Courier { keeper: keeper.clone(), post: webhooks, busy: Mutex::default() }),
            statements: Arc::new(StatementNews { keeper: keeper.clone(), books }),
            notices: Arc::new(Notices { keeper: keeper.clone(), contracts: contracts.clone() }),
            probes: Arc::new(Probes { keeper, probe, contracts, live: live.clone(), settings }),
            live,
        }
    }
}
