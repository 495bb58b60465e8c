//! Which gateway a command is for, and on whose behalf: an address, and a token or a partner's credentials.
//!
//! Every command that asks a gateway takes them alike, from the first of these that says it: the flags (`--profile` is one of
//! them), the environment, a profile of the user's file (see [`profiles`]).

pub(crate) mod profiles;
pub(crate) mod tls;

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::Args;
use intent_gateway_domain::id::PartnerId;
use intent_gateway_domain::secret::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use self::profiles::{Profile, Profiles};
use self::tls::{ClientFiles, TlsFiles};
use crate::client::Gateway;
use crate::complain;
use crate::outcome::{CommandError, fail, usage};

/// The gateway's address.
const URL: &str = "INTENT_GATEWAY_URL";
/// A token of that gateway.
const TOKEN: &str = "INTENT_GATEWAY_TOKEN";
/// A file of authorities that vouch for the gateway over TLS.
const CA: &str = "INTENT_GATEWAY_CA";
/// Files with a client's certificate and its key.
const CLIENT_CERT: &str = "INTENT_GATEWAY_CLIENT_CERT";
const CLIENT_KEY: &str = "INTENT_GATEWAY_CLIENT_KEY";
/// Name of the profile.
const PROFILE: &str = "INTENT_GATEWAY_PROFILE";
/// Where a partner's credentials are taken from. There are no flags for them: what stands on a command line, others
/// on the machine can read.
const CLIENT_ID: &str = "INTENT_GATEWAY_CLIENT_ID";
const CLIENT_SECRET: &str = "INTENT_GATEWAY_CLIENT_SECRET";
/// The file of profiles, and where it is looked for otherwise.
const PROFILES: &str = "INTENT_GATEWAY_PROFILES";
const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";
const HOME: &str = "HOME";
/// The profile that counts where nobody names one.
const DEFAULT_PROFILE: &str = "default";
/// The file's place in the user's folder of configurations.
const PROFILES_PATH: &str = "intent-gateway/profiles.toml";
/// Where credentials become a token.
const TOKEN_PATH: &str = "/api/v1/business/token";

/// A gateway, and on whose behalf it is asked. Without a flag, the environment counts (INTENT_GATEWAY_URL,
/// INTENT_GATEWAY_TOKEN, or a partner's INTENT_GATEWAY_CLIENT_ID and INTENT_GATEWAY_CLIENT_SECRET), then the profile.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Gateway")]
pub(crate) struct GatewayArgs {
    /// Address of the gateway [env: INTENT_GATEWAY_URL].
    #[arg(long, value_name = "URL")]
    gateway: Option<String>,
    /// A token of that gateway [env: INTENT_GATEWAY_TOKEN, or a partner's INTENT_GATEWAY_CLIENT_ID and
    /// INTENT_GATEWAY_CLIENT_SECRET].
    #[arg(long, value_name = "TOKEN", value_parser = parse_secret)]
    token: Option<Secret>,
    /// Address and secrets of this name in the file of profiles [env: INTENT_GATEWAY_PROFILE].
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Authorities that vouch for the gateway over TLS, in PEM, in place of the web's [env: INTENT_GATEWAY_CA].
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// A certificate that the command shows over TLS, in PEM, for a gateway that asks orchestrators for one
    /// [env: INTENT_GATEWAY_CLIENT_CERT].
    #[arg(long, value_name = "FILE", requires = "client_key")]
    client_cert: Option<PathBuf>,
    /// Its key, in PEM [env: INTENT_GATEWAY_CLIENT_KEY].
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    client_key: Option<PathBuf>,
}

/// A variable of the environment, if it is set to something.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The address that the environment names, for what needs no token.
pub(crate) fn environment_address() -> Option<String> {
    environment(URL)
}

/// The files for TLS that the environment names, likewise.
pub(crate) fn environment_tls() -> Result<TlsFiles, CommandError> {
    tls_of(&environment)
}

fn tls_of(environment: Environment<'_>) -> Result<TlsFiles, CommandError> {
    let path = |name| environment(name).map(PathBuf::from);
    let client = ClientFiles::pair(path(CLIENT_CERT), path(CLIENT_KEY));
    let client = client.map_err(|problem| usage(anyhow!("{problem}: set both {CLIENT_CERT} and {CLIENT_KEY}")))?;
    Ok(TlsFiles { authorities: path(CA), client })
}

/// What a gateway is shown.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// A token.
    Token(Secret),
    /// What a partner changes for one.
    Client {
        /// Name of the pair.
        id: String,
        /// Its secret.
        secret: Secret,
    },
}

/// Where a command goes, and what it shows there.
#[derive(Debug)]
struct Target {
    address: String,
    tls: TlsFiles,
    credential: Credential,
}

impl GatewayArgs {
    /// The gateway with a token, and the token.
    pub(crate) fn open(&self) -> Result<(Gateway, Secret), CommandError> {
        let Target { address, tls, credential } = self.target(&environment)?;
        let gateway = Gateway::at(&address, &tls).map_err(usage)?;
        if gateway.is_in_the_clear() {
            complain(&format!("warning: {} is plain HTTP; everybody on the way can read the token", gateway.address()));
        }
        let token = match credential {
            Credential::Token(token) => token,
            Credential::Client { id, secret } => exchange(&gateway, &id, &secret)?,
        };
        Ok((gateway.with_token(token.clone()), token))
    }

    /// Whether the command line itself names a gateway: what a command does that may go without one.
    pub(crate) fn is_on_command_line(&self) -> bool {
        self.gateway.is_some() || self.profile.is_some()
    }

    /// Whether the command line or the environment names a gateway.
    pub(crate) fn is_named(&self) -> bool {
        self.is_on_command_line() || environment(URL).is_some() || environment(PROFILE).is_some()
    }

    fn target(&self, environment: Environment<'_>) -> Result<Target, CommandError> {
        let profile = self.find_profile(environment)?;
        // A profile that a flag names is a flag; one that is only there counts last.
        let (flagged, unflagged) = if self.profile.is_some() { (profile, None) } else { (None, profile) };
        let address = |profile: &Option<Profile>| profile.as_ref().map(|profile| profile.gateway.clone());
        let address = self.gateway.clone().or_else(|| address(&flagged));
        let address = address.or_else(|| environment(URL)).or_else(|| unflagged.as_ref().map(|of| of.gateway.clone()));
        let address = address.ok_or_else(|| {
            usage(anyhow!(
                "no gateway is named: give --gateway URL, set {URL}, or name a profile (--profile, {PROFILE})"
            ))
        })?;
        // What a profile says besides its gateway is for that gateway and for no other.
        let own = |profile: Option<Profile>| profile.filter(|profile| is_same(&profile.gateway, &address));
        let (flagged, unflagged) = (own(flagged), own(unflagged));
        let tls_of_profile =
            |profile: &Option<Profile>| profile.as_ref().map_or_else(TlsFiles::default, |profile| profile.tls.clone());
        let client = ClientFiles::pair(self.client_cert.clone(), self.client_key.clone());
        let client = client.map_err(|problem| usage(anyhow!("{problem}")))?;
        let tls = TlsFiles { authorities: self.ca.clone(), client };
        let tls = tls.or(tls_of_profile(&flagged)).or(tls_of(environment)?).or(tls_of_profile(&unflagged));
        let of_profile = |profile: Option<Profile>| profile.and_then(|profile| profile.credential);
        let given = self.token.clone().filter(|token| !token.expose().is_empty()).map(Credential::Token);
        let credential = given
            .or_else(|| of_profile(flagged))
            .or_else(|| of_environment(environment))
            .or_else(|| of_profile(unflagged));
        let credential = credential.ok_or_else(|| {
            usage(anyhow!(
                "a token for {address} is needed: set {TOKEN}, or, as a partner, both {CLIENT_ID} and {CLIENT_SECRET}, or \
                 put one of them into a profile"
            ))
        })?;
        Ok(Target { address, tls, credential })
    }

    /// The profile that is named; where none is, the default one, if there is any.
    fn find_profile(&self, environment: Environment<'_>) -> Result<Option<Profile>, CommandError> {
        let named = self.profile.clone().or_else(|| environment(PROFILE));
        let path = profiles_path(environment);
        match (named, path) {
            (Some(name), Some(path)) => Profiles::read(&path).and_then(|of| of.get(&name)).map(Some).map_err(usage),
            (Some(name), None) => {
                Err(usage(anyhow!("the profile `{name}` cannot be looked for: neither {PROFILES} nor {HOME} is set")))
            }
            (None, Some(path)) if path.exists() => {
                Profiles::read(&path).and_then(|of| of.find(DEFAULT_PROFILE)).map_err(usage)
            }
            (None, _) => Ok(None),
        }
    }
}

/// Where the file of profiles is.
fn profiles_path(environment: Environment<'_>) -> Option<PathBuf> {
    if let Some(path) = environment(PROFILES) {
        return Some(path.into());
    }
    // As the XDG Base Directory Specification has it: a path that is not absolute does not count.
    let absolute = |path: String| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let folder = environment(XDG_CONFIG_HOME).and_then(absolute);
    let folder = folder.or_else(|| environment(HOME).map(|home| PathBuf::from(home).join(".config")));
    folder.map(|folder| folder.join(PROFILES_PATH))
}

/// Whether there is a profile that counts where nobody names one. A file that cannot be read is told when it is used.
pub(crate) fn has_default_profile() -> bool {
    let path = profiles_path(&environment).filter(|path| path.exists());
    path.is_some_and(|path| Profiles::read(&path).is_ok_and(|of| of.names().any(|name| name == DEFAULT_PROFILE)))
}

/// Where the file of profiles is, and the name of the profile that counts where a command names none.
pub(crate) fn own_profiles() -> Option<(PathBuf, String)> {
    let name = environment(PROFILE).unwrap_or_else(|| DEFAULT_PROFILE.to_owned());
    profiles_path(&environment).map(|path| (path, name))
}

fn of_environment(environment: Environment<'_>) -> Option<Credential> {
    let client = || Some((environment(CLIENT_ID)?, environment(CLIENT_SECRET)?));
    let token = environment(TOKEN).map(|token| Credential::Token(Secret::new(token)));
    token.or_else(|| client().map(|(id, secret)| Credential::Client { id, secret: Secret::new(secret) }))
}

/// Whether two addresses are written alike, but for a slash at the end.
fn is_same(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

#[derive(Deserialize)]
struct Issued {
    token: Secret,
}

fn exchange(gateway: &Gateway, client_id: &str, client_secret: &Secret) -> Result<Secret, CommandError> {
    let body = json!({"client_id": client_id, "client_secret": client_secret.expose()});
    let issued: Result<Issued, _> = gateway.post(TOKEN_PATH, Some(&body));
    issued.map(|issued| issued.token).context("there is no token for these credentials").map_err(fail)
}

/// The account that a partner's token is for. The token is not verified: that is the gateway's business, and here it
/// only saves typing.
pub(crate) fn account_of(token: &Secret) -> Option<PartnerId> {
    let claims = claims_of(token)?;
    let is_partner = claims.get("role").and_then(Value::as_str) == Some("partner");
    claims.get("sub").and_then(Value::as_str).filter(|_| is_partner).and_then(|sub| PartnerId::parse(sub).ok())
}

/// Whether a token is an orchestrator's, likewise.
pub(crate) fn is_orchestrators(token: &Secret) -> bool {
    claims_of(token).is_some_and(|claims| claims.get("role").and_then(Value::as_str) == Some("orchestrator"))
}

fn claims_of(token: &Secret) -> Option<Value> {
    let payload = token.expose().split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
}

/// A secret of the command line or the environment.
pub(crate) fn parse_secret(text: &str) -> Result<Secret, std::convert::Infallible> {
    Ok(Secret::new(text))
}

/// A partner's identifier of the command line.
pub(crate) fn parse_partner(text: &str) -> Result<PartnerId, String> {
    PartnerId::parse(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const FILE: &str = "[default]\ngateway = \"https://default.example\"\ntoken = \"of-default\"\n\
        [shop]\ngateway = \"https://shop.example/\"\nclient_id = \"cid\"\nclient_secret = \"of-shop\"\n";

    /// Where a command goes under an environment, with the file of profiles above; and what it shows there.
    fn goes(flags: [Option<&str>; 3], set: &[(&str, &str)]) -> Result<(String, String), String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("profiles.toml");
        std::fs::write(&path, FILE).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("set");
        let mut variables: BTreeMap<&str, String> =
            set.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        variables.entry(PROFILES).or_insert_with(|| path.display().to_string());
        let [gateway, token, profile] = flags.map(|flag| flag.map(str::to_owned));
        let arguments = GatewayArgs { gateway, token: token.map(Secret::new), profile, ..GatewayArgs::default() };
        let target = arguments.target(&|name| variables.get(name).cloned());
        target.map_err(|error| error.into_error().to_string()).map(|Target { address, credential, tls: _ }| {
            let shown = match credential {
                Credential::Token(token) => token.expose().to_owned(),
                Credential::Client { id, secret } => format!("{id}:{}", secret.expose()),
            };
            (address, shown)
        })
    }

    fn to(address: &str, shown: &str) -> Result<(String, String), String> {
        Ok((address.to_owned(), shown.to_owned()))
    }

    #[test]
    fn flags_come_before_the_environment_and_that_before_a_profile() {
        let set = [(URL, "https://set.example"), (TOKEN, "of-set")];
        assert_eq!(goes([None; 3], &[]), to("https://default.example", "of-default"));
        assert_eq!(goes([None; 3], &[(PROFILE, "shop")]), to("https://shop.example/", "cid:of-shop"));
        assert_eq!(goes([None; 3], &set), to("https://set.example", "of-set"));
        assert_eq!(
            goes([Some("https://flag.example"), Some("of-flag"), None], &set),
            to("https://flag.example", "of-flag")
        );
        assert_eq!(goes([None, None, Some("shop")], &set), to("https://shop.example/", "cid:of-shop"));
        assert_eq!(goes([None, Some("of-flag"), Some("shop")], &set), to("https://shop.example/", "of-flag"));
        let client = [(URL, "https://set.example"), (CLIENT_ID, "me"), (CLIENT_SECRET, "mine")];
        assert_eq!(goes([None; 3], &client), to("https://set.example", "me:mine"));
        assert_eq!(goes([None; 3], &[&client[..], &[(TOKEN, "of-set")]].concat()), to("https://set.example", "of-set"));
    }

    #[test]
    fn a_profiles_secret_is_shown_to_its_own_gateway_alone() {
        let told =
            goes([Some("https://elsewhere.example"), None, Some("shop")], &[]).expect_err("no token for that one");
        assert!(told.contains("https://elsewhere.example") && told.contains(TOKEN), "{told}");
        assert!(goes([Some("https://elsewhere.example"), None, None], &[]).is_err());
        assert!(goes([None; 3], &[(URL, "https://elsewhere.example")]).is_err());
        assert_eq!(
            goes([Some("https://shop.example"), None, Some("shop")], &[]),
            to("https://shop.example", "cid:of-shop")
        );
    }

    #[test]
    fn what_is_missing_is_told() {
        let told = goes([None, None, Some("none")], &[]).expect_err("no such profile");
        assert!(told.contains("`none`") && told.contains("default, shop"), "{told}");
        let nowhere = [(PROFILES, "/nowhere/profiles.toml")];
        let told = goes([None; 3], &nowhere).expect_err("no gateway");
        assert!(told.contains("--gateway") && told.contains(URL) && told.contains("--profile"), "{told}");
        let told = goes([None, None, Some("shop")], &nowhere).expect_err("no file");
        assert!(told.contains("/nowhere/profiles.toml"), "{told}");
    }

    #[test]
    fn the_file_of_profiles_is_where_configurations_are() {
        let path = |set: &[(&str, &str)]| {
            let variables: BTreeMap<&str, &str> = set.iter().copied().collect();
            profiles_path(&|name| variables.get(name).map(ToString::to_string)).map(|path| path.display().to_string())
        };
        let at = |path: &str| Some(path.to_owned());
        assert_eq!(path(&[(HOME, "/home/a")]), at("/home/a/.config/intent-gateway/profiles.toml"));
        assert_eq!(path(&[(HOME, "/home/a"), (XDG_CONFIG_HOME, "/x")]), at("/x/intent-gateway/profiles.toml"));
        assert_eq!(path(&[(HOME, "/h"), (XDG_CONFIG_HOME, "x")]), at("/h/.config/intent-gateway/profiles.toml"));
        assert_eq!(path(&[(HOME, "/home/a"), (PROFILES, "p.toml")]), at("p.toml"));
        assert_eq!(path(&[]), None);
    }

    #[test]
    fn a_partners_token_names_its_account() {
        let token = |claims: Value| Secret::new(format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string())));
        let account = |claims: Value| account_of(&token(claims)).map(|account| account.to_string());
        assert_eq!(account(json!({"role": "partner", "sub": "ptr_1"})), Some("ptr_1".to_owned()));
        assert_eq!(account(json!({"role": "admin", "sub": "ptr_1"})), None);
        assert_eq!(account(json!({"role": "partner", "sub": "no account"})), None);
        assert_eq!(account(json!({"role": "partner"})), None);
        let is_orchestrators = |claims: Value| is_orchestrators(&token(claims));
        assert!(is_orchestrators(json!({"role": "orchestrator", "sub": "bot"})));
        assert!(!is_orchestrators(json!({"role": "admin", "sub": "orchestrator"})));
        for strange in ["", "a", "a.b.c", "a.e30.c", "a.W10.c"] {
            assert_eq!(account_of(&Secret::new(strange)), None, "{strange}");
            assert!(!super::is_orchestrators(&Secret::new(strange)), "{strange}");
        }
    }
}
