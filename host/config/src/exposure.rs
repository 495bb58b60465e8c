//! What a gateway that others can reach must not be served with: keys that are printed in the examples, and settings that are for
//! development. On a loopback address both are taken; the keys only where the gateway's public address is one, too, since a proxy on
//! the same machine may stand in front.

use std::net::{IpAddr, SocketAddr};

use intent_gateway_domain::digest::Digest;
use intent_gateway_domain::secret::Secret;
use intent_gateway_mail::MailMode;

use super::load::ConfigError;
use super::{Config, PartnerEntry};

/// SHA-256 digests of every key, token and password in `examples/`. A test holds the files against it.
const EXAMPLES: [&str; 10] = [
    "fc26f55cb20c3ff29f6d82300f8ac4e9322291d59f8254caa683cf4ab45f57e6",
    "03567b6db51f930311d945f98e3098c31e93446b62ff56b0510309eb61dc7414",
    "7ebf5ea0d6e932b89bfbe80d1f81108e300705e86aea6ff4e70c388f296a53f5",
    "08b85d9d01e5666a3a4d9692882e8d81755a7a6583f6633c7fea2933888158d2",
    "a4b7fbda9179055ba005b83fe1d9d558c85e5f6afc2ce4071439ecdab864b98e",
    "62cf08a23be39f10c0adb8e30bc08e567dee111baa5ddab664f1152c20d47564",
    "e542ba73718987feb625e128d65bbdfaae6b266dabd9624cb1d241c04c99dac2",
    "531dec398b481bb4a558523abc47bab864dfc5b1f64de5317127740045b3639e",
    "7e8be1bac2fccc98533c43b5ebba4514ffc946e68a91e18cfaafd3b83608984c",
    "08b637a9fb2b354af5c2537279c0f1acef94fdc28b11cc2f37bff513d4c1b8e4",
];

fn is_example(secret: &Secret) -> bool {
    let digest = Digest::of(secret.expose().as_bytes()).to_string();
    EXAMPLES.contains(&digest.as_str())
}

/// Whether only this machine reaches an address.
fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Whether a public address is one of others' machines: HTTPS, and no name or address of this machine's own.
fn is_public(base_url: &str) -> bool {
    let Ok(uri) = base_url.parse::<http::Uri>() else { return false };
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let is_own = host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|ip| is_loopback(SocketAddr::new(ip, 0)));
    uri.scheme_str() == Some("https") && !is_own
}

impl Config {
    /// Checks that the gateway may be served where it is to listen.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] with each example key and each setting for development, where others can reach the address; with each
    /// example key, where `platform.base_url` is a public one.
    pub fn check_exposure(&self) -> Result<(), ConfigError> {
        let base_url = &self.platform.base_url;
        let pages = self.console.listen.filter(|_| self.console.enabled);
        let listens = [("server.listen", Some(self.server.listen)), ("console.listen", pages)];
        let open = listens.into_iter().find_map(|(name, listen)| Some((name, listen.filter(|at| !is_loopback(*at))?)));
        let reached = match (open, is_public(base_url)) {
            (Some((name, listen)), _) => format!("`{name}` is {listen}"),
            (None, true) => format!("`platform.base_url` is {base_url}"),
            (None, false) => return Ok(()),
        };
        let mut problems: Vec<String> = self
            .secrets()
            .filter(|(_, secret)| is_example(secret))
            .map(|(name, _)| {
                format!(
                    "`{name}` is printed in the examples, so everybody knows it, and {reached}, which others can reach; set one of \
                     your own: `openssl rand -hex 32` makes a key, `intent-gateway init` a configuration with keys"
                )
            })
            .collect();
        if open.is_some() {
            problems.extend(self.development_settings().into_iter().map(|(name, advice)| {
                format!("{name} is for development, and {reached}, which others can reach; {advice}")
            }));
        }
        if problems.is_empty() { Ok(()) } else { Err(ConfigError::Invalid(problems)) }
    }

    /// Every secret, with the name of its setting.
    fn secrets(&self) -> impl Iterator<Item = (&'static str, &Secret)> {
        let auth = &self.auth;
        let keys = [
            ("auth.signing_key", auth.signing_key.as_ref()),
            ("auth.reference_key", auth.reference_key.as_ref()),
            ("auth.master_key", auth.master_key.as_ref()),
            ("mail.password", self.mail.password.as_ref()),
            ("console.sign_in_client_secret", self.console.sign_in_client_secret.as_ref()),
        ];
        let keys = keys.into_iter().filter_map(|(name, key)| Some((name, key?)));
        let signing = auth.previous_signing_keys.iter().map(|key| ("auth.previous_signing_keys", key));
        let reference = auth.previous_reference_keys.iter().map(|key| ("auth.previous_reference_keys", key));
        let master = auth.previous_master_keys.iter().map(|key| ("auth.previous_master_keys", key));
        let clients = self.linking.secrets().map(|secret| ("linking.clients.client_secret", secret));
        keys.chain(signing)
            .chain(reference)
            .chain(master)
            .chain(clients)
            .chain(self.partners.iter().flat_map(PartnerEntry::secrets))
    }

    /// Settings that are for development, and what to set instead.
    fn development_settings(&self) -> Vec<(&'static str, &'static str)> {
        let settings = [
            (self.auth.signing_key.is_none(), "a signing key in the state folder", "set `auth.signing_key`"),
            (self.auth.master_key.is_none(), "a master key in the state folder", "set `auth.master_key`"),
            (
                self.partner_client.allow_loopback_http,
                "`partner_client.allow_loopback_http` (`--allow-loopback-partners`)",
                "leave it out",
            ),
            (
                self.mail.mode == MailMode::Outbox,
                "`mail.mode` \"outbox\"",
                "set `mail.mode` to \"smtp\", and `mail.host`",
            ),
        ];
        settings.into_iter().filter(|(is_set, ..)| *is_set).map(|(_, name, advice)| (name, advice)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A configuration without anything that is for development, listening on an address.
    fn config(listen: &str) -> Config {
        let mut config = Config::default();
        config.server.listen = listen.parse().expect("an address");
        config.auth.signing_key = Some(Secret::new("s".repeat(32)));
        config.auth.master_key = Some(Secret::new("m".repeat(32)));
        config.mail.mode = MailMode::Smtp;
        config
    }

    fn problems(config: &Config) -> Vec<String> {
        match config.check_exposure() {
            Ok(()) => Vec::new(),
            Err(ConfigError::Invalid(problems)) => problems,
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn each_setting_for_development_is_refused_where_others_reach_it() {
        type Breach = (&'static str, fn(&mut Config));
        let breaches: [Breach; 7] = [
            ("signing key in the state folder", |config| config.auth.signing_key = None),
            ("master key in the state folder", |config| config.auth.master_key = None),
            ("`partner_client.allow_loopback_http`", |config| config.partner_client.allow_loopback_http = true),
            ("`mail.mode`", |config| config.mail.mode = MailMode::Outbox),
            ("`auth.master_key` is printed", |config| {
                config.auth.master_key = Some(Secret::new("example-key-replace-this-third-one-with-random-text"));
            }),
            ("`linking.clients.client_secret` is printed", |config| {
                config.linking = toml::from_str(
                    "[[clients]]\npartner = 'a'\nissuer = 'https://id.example'\nclient_id = 'gateway'\n\
                     client_secret = 'what-the-partner-gave-you'",
                )
                .expect("readable");
            }),
            ("`auth.previous_signing_keys` is printed", |config| {
                config.auth.previous_signing_keys =
                    vec![Secret::new("example-key-replace-me-with-your-own-random-text")];
            }),
        ];
        for listen in ["0.0.0.0:80", "[::]:80", "192.0.2.1:80", "[::ffff:192.0.2.1]:80"] {
            assert_eq!(problems(&config(listen)), Vec::<String>::new(), "{listen}");
            for (what, breach) in breaches {
                let mut config = config(listen);
                breach(&mut config);
                let problems = problems(&config);
                assert!(problems.len() == 1 && problems[0].contains(what), "{listen}, {what}: {problems:?}");
            }
        }
        for listen in ["127.0.0.1:80", "127.8.8.8:80", "[::1]:80", "[::ffff:127.0.0.1]:80"] {
            let mut config = config(listen);
            breaches.iter().for_each(|(_, breach)| breach(&mut config));
            assert_eq!(problems(&config), Vec::<String>::new(), "{listen}");
        }
    }

    #[test]
    fn pages_that_others_reach_count_as_the_api_does() {
        let mut config = config("127.0.0.1:80");
        config.mail.mode = MailMode::Outbox;
        config.console.listen = Some("192.0.2.1:81".parse().expect("an address"));
        assert_eq!(problems(&config), Vec::<String>::new(), "there are none");
        config.console.enabled = true;
        let problems = problems(&config);
        assert!(problems.len() == 1 && problems[0].contains("`console.listen` is 192.0.2.1:81"), "{problems:?}");
    }

    #[test]
    fn example_keys_are_refused_behind_a_public_address() {
        let on_loopback = |base_url: &str| {
            let mut config = config("127.0.0.1:80");
            config.platform.base_url = base_url.to_owned();
            config.auth.master_key = Some(Secret::new("example-key-replace-this-third-one-with-random-text"));
            config.mail.mode = MailMode::Outbox;
            problems(&config)
        };
        for public in ["https://gateway.example", "https://192.0.2.1:8443", "https://[2001:db8::1]"] {
            let problems = on_loopback(public);
            assert!(
                problems.len() == 1 && problems[0].contains(public) && problems[0].contains("is printed"),
                "{problems:?}"
            );
        }
        let own = [
            "http://localhost:8080",
            "http://gateway.example",
            "https://localhost",
            "https://127.0.0.1:1",
            "https://[::1]",
        ];
        assert!(own.iter().all(|own| on_loopback(own).is_empty()));
    }

    /// Every text after a name that says that it is secret, in every configuration among the examples.
    #[test]
    fn every_secret_of_the_examples_is_known() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let files = std::fs::read_dir(folder).expect("the examples are there").map(|file| file.expect("read").path());
        let mut found = 0;
        for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "toml")) {
            let text = std::fs::read_to_string(&file).expect("read");
            for line in text.lines() {
                for name in ["key", "secret", "token", "password"] {
                    let begin = format!("{name} = \"");
                    for (at, _) in line.match_indices(&begin) {
                        let secret = line[at + begin.len()..].split('"').next().expect("a text");
                        // The path of a key is none.
                        if secret.ends_with(".pem") {
                            continue;
                        }
                        assert!(is_example(&Secret::new(secret)), "{}: {secret}", file.display());
                        found += 1;
                    }
                }
            }
        }
        assert!(found >= EXAMPLES.len(), "{found}");
    }
}
