//! Linking against an authorization server that rotates refresh tokens and ends the grant when one comes twice, over a store
//! that several processes share.

mod flows;
mod renewals;
mod server;

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use futures_executor::block_on;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use self::server::Server;
use intent_gateway_domain::ports::UserTokens as _;

use super::{Background, LinkError, Linking, LinkingSetup, Settings};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::endpoint::Endpoint;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::ports::Timer;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::sign_in::SignInServer;
use intent_gateway_domain::vault::Vault;
use intent_gateway_routing::selection::Directory;
use intent_gateway_testing::clock::TestClock;
use intent_gateway_testing::entropy::vault;
use intent_gateway_testing::linking::ApprovedAlone;
use intent_gateway_testing::store::MemoryStore;
use intent_gateway_testing::users::user;

const START: Timestamp = Timestamp::from_ms(1_767_225_600_000);
const BASE_URL: &str = "https://gateway.example";

/// Work on a thread of its own. A port of this crate, and what is raced here is real.
struct Threads;

impl Background for Threads {
    fn run(&self, work: BoxFuture<'static, ()>) {
        std::thread::spawn(move || block_on(work));
    }
}

/// Ends a wait when the test opens the gate.
#[derive(Default)]
struct Gate {
    state: Mutex<(bool, u32)>,
    moved: Condvar,
}

impl Gate {
    fn open(&self) {
        self.state.lock().expect("sound").0 = true;
        self.moved.notify_all();
    }

    /// Waits until so many wait at the gate.
    fn awaited_by(&self, count: u32) {
        let state = self.state.lock().expect("sound");
        drop(self.moved.wait_while(state, |state| state.1 < count).expect("sound"));
    }

    fn pass(&self) {
        let mut state = self.state.lock().expect("sound");
        state.1 += 1;
        self.moved.notify_all();
        drop(self.moved.wait_while(state, |state| !state.0).expect("sound"));
    }
}

/// Not the clock's timer: the threads that wait here are counted, and let go together.
struct GatedTimer(Arc<Gate>);

impl Timer for GatedTimer {
    fn wait(&self, _: Duration) -> BoxFuture<'static, ()> {
        let gate = self.0.clone();
        async move { gate.pass() }.boxed()
    }
}

struct World {
    store: Arc<MemoryStore>,
    clock: Arc<TestClock>,
    server: Arc<Server>,
    gate: Arc<Gate>,
    directory: Arc<Directory>,
    vault: Vault,
    partner: Partner,
}

fn partner(id: &str) -> Partner {
    Partner {
        name: format!("The {id}"),
        endpoint: Endpoint::mcp(format!("https://mcp.{id}.example/mcp")),
        sign_in: Some(SignInServer {
            issuer: format!("https://id.{id}.example"),
            resource: None,
            origins: BTreeSet::new(),
        }),
        ..intent_gateway_testing::directory::partner(id, &[])
    }
}

impl World {
    fn new() -> Self {
        let directory = Arc::new(Directory::new(vec![Arc::new(partner("coolcar")), Arc::new(partner("warmcar"))]));
        Self {
            store: Arc::default(),
            clock: TestClock::at(START.as_ms()),
            server: Arc::default(),
            gate: Arc::default(),
            directory,
            vault: vault(),
            partner: partner("coolcar"),
        }
    }

    /// One process.
    fn linking(&self) -> Linking {
        self.linking_at(BASE_URL)
    }

    fn linking_at(&self, base_url: &str) -> Linking {
        Linking::new(LinkingSetup {
            store: self.store.clone(),
            vault: self.vault.clone(),
            clock: self.clock.clone(),
            timer: Arc::new(GatedTimer(self.gate.clone())),
            directory: self.directory.clone(),
            sign_in_servers: Arc::new(ApprovedAlone),
            authorizer: self.server.clone(),
            background: Arc::new(Threads),
            settings: Settings {
                base_url: base_url.to_owned(),
                client_name: "Intent Gateway".to_owned(),
                clients: Vec::new(),
            },
        })
    }

    /// The whole way of a user who grants what is asked for.
    fn link(&self, linking: &Linking, name: &str) {
        let browser = self.begin(linking, name);
        let query = self.server.consent(&browser.location, name);
        block_on(linking.finish(Some(browser.tag()), &query, browser.jar())).expect("linked");
    }

    fn begin(&self, linking: &Linking, name: &str) -> Browser {
        self.begin_at(linking, &self.offer(linking, name, None)).expect("begun")
    }

    fn offer(&self, linking: &Linking, name: &str, challenge: Option<&str>) -> String {
        linking.link(&self.partner.id, &user(name), challenge).expect("an address").url
    }

    /// A user who is asked, and says yes.
    fn begin_at(&self, linking: &Linking, url: &str) -> Result<Browser, LinkError> {
        let asked = block_on(linking.confirmation(ticket(url)))?;
        let jar = |name: &str| (name == asked.cookie_name).then(|| asked.cookie_value.clone());
        let begun = block_on(linking.begin(ticket(url), &asked.token, jar))?;
        Ok(Browser { location: begun.location, cookie: (begun.cookie_name, begun.cookie_value) })
    }

    fn token(&self, linking: &Linking, name: &str) -> Result<Option<String>, CallFailure> {
        let token = block_on(linking.token(&self.partner, &user(name)))?;
        Ok(token.map(|token| token.expose().to_owned()))
    }

    fn replace_token(&self, linking: &Linking, name: &str, refused: &str) -> Option<String> {
        let refused = Secret::new(refused);
        let token = block_on(linking.replace_token(&self.partner, &user(name), &refused)).expect("told");
        token.map(|token| token.expose().to_owned())
    }
}

/// A user's browser on its way.
struct Browser {
    location: String,
    cookie: (String, Secret),
}

impl Browser {
    /// The last part of the address that it is to come back to.
    fn tag(&self) -> &str {
        let (_, rest) = self.location.split_once("%2Flink%2Fcallback%2F").expect("a way back");
        rest.split('&').next().expect("a tag")
    }

    fn jar(&self) -> impl Fn(&str) -> Option<Secret> + Send + use<> {
        let (name, value) = self.cookie.clone();
        move |asked| (asked == name).then(|| value.clone())
    }
}

fn ticket(url: &str) -> &str {
    url.rsplit('/').next().expect("a last part")
}
