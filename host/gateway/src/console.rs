//! The pages of the gateway: what they stand on, where they are served, and the code that opens the console of a gateway that was just
//! installed.
//!
//! The code is in a file of the state folder that only the gateway's user reads, and on the terminal where somebody has started the
//! gateway at one; no log has it.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use intent_gateway_config::{Config, SignInBearer, TeamSignIn};
use intent_gateway_console::{FirstCode, Parts, Provider};
use intent_gateway_domain::clock::Clock;
use intent_gateway_domain::secret::Secret;
use intent_gateway_domain::store::Store;
use intent_gateway_domain::vault::Vault;
use intent_gateway_http::auth::Tokens;
use intent_gateway_http::server::{BindError, ReservedAddress};

use crate::issuer_client::IssuerClient;

/// Name of the file, in the state folder.
const CODE_FILE: &str = "console-code";
/// How long a session lasts that the code opens: a working day.
const SESSION_LIFE: Duration = Duration::from_secs(12 * 60 * 60);

/// The address of the pages, where they have one of their own.
pub(crate) fn reserve(config: &Config) -> Result<Option<ReservedAddress>, BindError> {
    let listen = config.console.listen.filter(|_| config.console.enabled);
    listen.map(|listen| ReservedAddress::take(config.server.listener_at(listen))).transpose()
}

/// What pages stand on, and the code that was made for them.
pub(crate) struct Pages {
    pub(crate) parts: Parts,
    /// None where the team signs in at an issuer.
    code: Option<KeptCode>,
}

/// The code of this start, and the file that holds it.
#[derive(Clone)]
struct KeptCode {
    code: Secret,
    file: PathBuf,
}

impl Pages {
    /// None where there are to be no pages.
    pub(crate) fn prepare(
        config: &Config,
        vault: &Vault,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        tokens: Arc<Tokens>,
    ) -> anyhow::Result<Option<Self>> {
        if !config.console.enabled {
            return Ok(None);
        }
        if let Some(sign_in) = config.console.team_sign_in(&config.platform) {
            let provider = Some(provider(sign_in));
            let parts = Parts { store, vault: vault.clone(), clock, tokens, first_code: None, provider };
            return Ok(Some(Self { parts, code: None }));
        }
        let file = config.state_dir.join(CODE_FILE);
        let life = SESSION_LIFE.min(config.auth.token_rules().life_max);
        let used_up = {
            let file = file.clone();
            // Where it cannot be removed, it holds a code that opens nothing any more.
            move || drop(fs::remove_file(&file))
        };
        let first_code = FirstCode::new(vault.entropy(), life, used_up).context("no code for the console")?;
        let code = first_code.show().context("a new code was used already")?;
        write_private(&file, &code).with_context(|| format!("cannot write {}", file.display()))?;
        let parts = Parts { store, vault: vault.clone(), clock, tokens, first_code: Some(first_code), provider: None };
        Ok(Some(Self { parts, code: Some(KeptCode { code, file }) }))
    }
}

/// Where the console of a gateway is opened, for whoever has started it.
pub(crate) struct Invitation(Option<KeptCode>);

impl From<&Pages> for Invitation {
    fn from(pages: &Pages) -> Self {
        Self(pages.code.clone())
    }
}

impl Invitation {
    /// Tells where the pages are; the code itself on a terminal alone.
    pub(crate) fn tell(&self, url: &str) {
        let console = format!("{url}/console");
        match &self.0 {
            None => tracing::info!(console, "pages are served"),
            Some(KeptCode { code, .. }) if io::stdout().is_terminal() => {
                intent_gateway_cli::print(&format!("console: {console}/sign-in?code={} (good once)", code.expose()));
            }
            Some(KeptCode { file, .. }) => {
                let file = file.display();
                tracing::info!(console, code_file = %file, "pages are served; the file has a code that opens the console once");
            }
        }
    }
}

fn provider(sign_in: TeamSignIn) -> Provider {
    let TeamSignIn { issuer, client_id, client_secret, scopes, bearer, base_url } = sign_in;
    let client = (issuer, client_id, client_secret);
    Provider::new(client, scopes, bearer == SignInBearer::IdToken, &base_url, Arc::new(IssuerClient::new()))
}

fn write_private(path: &Path, code: &Secret) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{}", code.expose())
}
