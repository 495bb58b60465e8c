//! What is taken, what is refused and how it is told; and that the documents say what the code does.

use std::collections::BTreeMap;
use std::path::Path;

use intent_gateway_domain::growth::thinning::UnusedRule;

use super::*;

const DOCS: &str = include_str!("../../../docs/configuration.md");
const EXAMPLE: &str = include_str!("../../../examples/gateway.toml");

/// Loads a file of this content; `contracts` is a folder beside it.
fn load_text(text: &str, overrides: &Overrides) -> Result<Config, Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gateway.toml");
    std::fs::create_dir(folder.path().join("contracts")).expect("a folder");
    std::fs::write(&path, text).expect("written");
    let loaded = load(Some(&path), overrides).map_err(|error| match error {
        load::ConfigError::Invalid(problems) => problems,
        load::ConfigError::Unreadable { .. } => panic!("{error}"),
    });
    loaded.map(|config| {
        let relative = |path: PathBuf| path.strip_prefix(folder.path()).map(Path::to_owned).unwrap_or(path);
        Config { state_dir: relative(config.state_dir), ..config }
    })
}

fn problems(text: &str) -> Vec<String> {
    load_text(text, &Overrides::default()).expect_err("refused")
}

/// The value of every key, by dotted name, of what is shown.
fn shown(config: &Config) -> BTreeMap<String, String> {
    let table: toml::Table = show(config).expect("shown").parse().expect("TOML");
    let mut flat = BTreeMap::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(section) => {
                flat.extend(section.into_iter().map(|(name, value)| (format!("{key}.{name}"), value.to_string())));
            }
            toml::Value::Array(_) => {}
            value => {
                flat.insert(key, value.to_string());
            }
        }
    }
    flat
}

/// Every key there is, as the types tell them.
pub(crate) fn every_key() -> Vec<String> {
    let sections = [
        ("server", load::keys::<ServerSection>()),
        ("quotas", load::keys::<QuotasSection>()),
        ("auth", load::keys::<AuthSection>()),
        ("platform", load::keys::<PlatformSection>()),
        ("store", load::keys::<StoreSection>()),
        ("anchors", load::keys::<AnchorsSection>()),
        ("fleet", load::keys::<FleetSection>()),
        ("evidence", load::keys::<EvidenceSection>()),
        ("orders", load::keys::<OrdersSection>()),
        ("outbound", load::keys::<OutboundSection>()),
        ("linking", load::keys::<LinkingSection>()),
        ("mail", load::keys::<MailConfig>()),
        ("contracts", load::keys::<ContractsSection>()),
        ("search", load::keys::<SearchSection>()),
        ("streams", load::keys::<StreamsSection>()),
        ("console", load::keys::<ConsoleSection>()),
        ("sandbox", load::keys::<SandboxConfig>()),
        ("partner_client", load::keys::<PartnerClientConfig>()),
        ("log", load::keys::<LogSection>()),
        ("telemetry", load::keys::<TelemetrySection>()),
    ];
    let mut keys = vec!["state_dir".to_owned()];
    for (section, names) in sections {
        assert!(!names.is_empty(), "{section} tells no keys");
        keys.extend(names.iter().map(|name| format!("{section}.{name}")));
    }
    keys.sort();
    keys
}

#[test]
fn the_documented_keys_and_defaults_are_those_of_the_code() {
    let keys = DOCS.split("\n## Keys\n").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a section");
    let documented: BTreeMap<String, String> = keys
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .map(|row| {
            let (key, rest) = row.split_once("` | ").expect("a key");
            let default = rest.split(" | ").next().expect("a default");
            (key.to_owned(), default.trim_matches('`').to_owned())
        })
        .collect();
    assert_eq!(documented.keys().cloned().collect::<Vec<_>>(), every_key());
    let defaults = shown(&Config::default());
    for (key, documented) in documented {
        let default = defaults.get(&key).map_or("none", String::as_str);
        assert_eq!(documented, default, "{key}");
    }
}

#[test]
fn the_example_has_every_key_with_its_default() {
    let example: toml::Table = EXAMPLE.parse().expect("TOML");
    for key in every_key() {
        let found = match key.split_once('.') {
            Some((section, name)) => example[section].get(name).is_some(),
            None => example.contains_key(&key),
        };
        assert!(found, "{key} is missing");
    }
    let config = load_text(EXAMPLE, &Overrides::default()).expect("valid");
    assert!(config.contracts.dir.as_ref().is_some_and(|dir| dir.is_absolute()), "it lies beside the file");
    let (example, defaults) = (shown(&config), shown(&Config::default()));
    for (key, default) in defaults {
        assert_eq!(example.get(&key), Some(&default), "{key}");
    }
    assert_eq!(config.partners.len(), 2);
    let partner = intent_gateway_domain::partner::Partner::from(config.partners[1].clone());
    assert_eq!(partner.listings[0].declared, intent_gateway_domain::contract::Axes::UNDECLARED);
}

#[test]
fn what_is_shown_can_be_loaded_and_holds_no_secret() {
    let config = load_text(EXAMPLE, &Overrides::default()).expect("valid");
    let text = show(&config).expect("shown");
    assert!(text.contains("(redacted)"), "{text}");
    for secret in ["replace-me", "replace-this", "what-the-partner-gave-you"] {
        assert!(!text.contains(secret) && !format!("{config:?}").contains(secret), "{secret}");
    }
    assert!(text.parse::<toml::Table>().is_ok());
}

#[test]
fn certificate_and_key_belong_together() {
    for (given, expected) in [
        ("tls_certificate = \"c.pem\"", "`server.tls_certificate` and `server.tls_key` belong together"),
        ("tls_key = \"k.pem\"", "`server.tls_certificate` and `server.tls_key` belong together"),
        ("tls_client_ca = \"a.pem\"", "`server.tls_client_ca` is for a listener over TLS"),
    ] {
        let found = problems(&format!("[server]\n{given}\n"));
        assert!(found.len() == 1 && found[0].starts_with(expected), "{given}: {found:#?}");
    }
    let given = "[server]\ntls_certificate = \"c.pem\"\ntls_key = \"k.pem\"\n";
    let files = load_text(given, &Overrides::default()).expect("valid").server.tls().expect("both are there");
    assert!(files.certificate.is_absolute() && files.key.ends_with("k.pem") && files.client_ca.is_none(), "{files:?}");
    assert_eq!(load_text("", &Overrides::default()).expect("valid").server.tls(), None);
}

#[test]
fn every_unknown_key_is_told_with_the_keys_there_are() {
    let problems = problems("[server]\nlisen = \"x\"\nmax_conns = 1\n[sever]\nlisten = 1\n[sandbox]\nfuel = 1\n");
    assert_eq!(problems.len(), 4, "{problems:#?}");
    let told = |start: &str, also: &str| problems.iter().any(|told| told.starts_with(start) && told.contains(also));
    assert!(told("unknown key `sever`", "partner_client"), "{problems:#?}");
    assert!(told("unknown key `server.lisen`", "`server` has listen, max_connections"), "{problems:#?}");
    assert!(told("unknown key `server.max_conns`", "gateway.toml"), "{problems:#?}");
    assert!(told("unknown key `sandbox.fuel`", "deadline_ms"), "{problems:#?}");
}

#[test]
fn all_wrong_values_are_told_at_once() {
    let problems = problems(
        r#"
        [server]
        max_connections = 0
        request_timeout_ms = 500
        [auth]
        signing_key = "short"
        token_life_max_s = 59
        [search]
        timeout_ms = 30001
        shown_max_bytes = 1073741825
        [sandbox]
        deadline_ms = "fast"
        [streams]
        heartbeat_ms = 40000
        max_open = 4000000000
        [fleet]
        lease_ms = 999
        name = "one\ntwo"
        [log]
        level = "info,,=loud"
        [telemetry]
        metrics_address = "127.0.0.1:8080"
        otlp_endpoint = "collector:4318"
        trace_sampling_ratio = 1.5
        service_name = " "
        [orders]
        keep_days = 30
        [quotas]
        account_per_minute = 5
        account_per_day = 4
        [contracts]
        dir = "/nowhere/at/all"
        [partner_client]
        pool_idle_secs = 0
        [[partners]]
        id = "a"
        name = " "
        url = "http://a.example/mcp"
        listings = [{ intent = "auto.fix", service_area = [], availability = "late", ttbs_signals = { time = 2.0 } }]
        [[partners]]
        id = "a"
        name = "A"
        url = "https://user:pass@a.example/mcp"
        listings = []
        "#,
    );
    let expected = [
        "`sandbox.deadline_ms`",
        "`server.max_connections` is 0; expected 1 to 1000000",
        "`auth.signing_key` has 5 bytes; at least 32 are needed",
        "`auth.token_life_max_s` is 59; expected 60 to 31622400",
        "`contracts.dir` is `/nowhere/at/all`, which is no folder",
        "`search.timeout_ms` is 30001; expected 1 to 30000",
        "`search.shown_max_bytes` is 1073741825; expected 0 to 1073741824",
        "`streams.heartbeat_ms` is 40000",
        "`streams.max_open` is 4000000000; expected 1 to 1000000",
        "`orders.keep_days` is 30; expected 31 to 3660",
        "`quotas.account_per_day` is 4; it must not be less than `quotas.account_per_minute`, which is 5",
        "`fleet.lease_ms` is 999; expected 1000 to 60000",
        "`fleet.name` must have 1 to 200 characters in one line",
        "`log.level` is no list of log directives",
        "`telemetry.metrics_address` is `server.listen`",
        "`telemetry.otlp_endpoint` is no address of a collector",
        "`telemetry.trace_sampling_ratio` is 1.5; expected 0 to 1",
        "`telemetry.service_name` is empty",
        "`pool_idle_secs` must lie in",
        "partner `a`: `name` is empty",
        "HTTPS is required",
        "`service_area` of `auto.fix` needs",
        "`availability` of `auto.fix`: `late` is not understood",
        "`ttbs_signals.time` of `auto.fix` is 2; expected 0 to 1",
        "partner `a`: the id is given twice",
        "it must not hold a user or a password",
        "partner `a`: it lists no intent",
    ];
    for expected in expected {
        assert!(problems.iter().any(|told| told.contains(expected)), "{expected}: {problems:#?}");
    }
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
}

#[test]
fn receipts_are_thinned_where_somebody_asks_for_it() {
    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
    assert!(Config::default().evidence.thinning().is_empty());
    let text = "[evidence]\nthin_receipts_to_one_in = 10\n\
                [evidence.intents.\"lifestyle.book_yoga_class\"]\nreceipts_keep_days = 30\n";
    let rules = load_text(text, &Overrides::default()).expect("valid").evidence.thinning();
    assert_eq!(rules.unused, Some(UnusedRule { keep_one_in: 10, after_ms: 7 * DAY_MS }));
    assert_eq!(rules.intents.into_values().collect::<Vec<_>>(), [30 * DAY_MS]);
    let wrong = "[orders]\nkeep_days = 89\n[evidence]\nthin_receipts_to_one_in = 1000001\nthin_receipts_after_days = 0\n\
                 [evidence.intents]\n\"a.one\" = { receipts_keep_days = 91 }\n\"a.two\" = { receipts_keep_days = 0 }\n\
                 \"a.three\" = { receipts_keep_days = 2 }\n\"a.four\" = { receipts_keep_days = 3 }\n";
    let problems = problems(wrong);
    for expected in [
        "`evidence.thin_receipts_to_one_in` is 1000001; expected 0 to 1000000",
        "`evidence.thin_receipts_after_days` is 0; expected 1 to 3660",
        "`evidence.intents.\"a.one\".receipts_keep_days` is 91; expected 1 to 90",
        "`evidence.intents.\"a.two\".receipts_keep_days` is 0; expected 1 to 90",
        "`evidence.intents` has 4 different `receipts_keep_days`; expected 3 at most",
        "`orders.keep_days` is 89; expected no less than `evidence.keep_days`, which is 90",
    ] {
        assert!(problems.iter().any(|told| told.contains(expected)), "{expected}: {problems:#?}");
    }
    assert_eq!(problems.len(), 6, "{problems:#?}");
    let unknown = self::problems("[evidence.intents.\"No Intent\"]\nreceipts_keep_days = 3\n");
    assert!(unknown[0].contains("No Intent"), "{unknown:?}");
}

#[test]
fn the_team_has_an_address_or_none() {
    let config = load_text("[platform]\nteam_email = \"partners@gateway.example\"\n", &Overrides::default());
    assert_eq!(config.expect("valid").platform.settings().team_email.as_deref(), Some("partners@gateway.example"));
    assert_eq!(Config::default().platform.settings().team_email, None);
    for wrong in ["", "partners", "Team <partners@gateway.example>", "a@gateway.example, b@gateway.example"] {
        let problems = problems(&format!("[platform]\nteam_email = \"{wrong}\"\n"));
        let [told] = problems.as_slice() else { panic!("one problem, found {problems:?}") };
        assert!(told.contains("`platform.team_email`"), "{told}");
    }
}

#[test]
fn a_search_must_be_over_before_its_request() {
    let problems = problems("[server]\nrequest_timeout_ms = 5000\n[search]\ntimeout_ms = 5000\n");
    assert!(problems[0].contains("below `server.request_timeout_ms`"), "{problems:?}");
}

#[test]
fn a_wrong_partner_names_its_key() {
    let problems = problems("[[partners]]\nid = \"a b\"\nname = \"A\"\nurl = \"https://a.example\"\nlistings = []\n");
    assert!(problems[0].starts_with("`partners.0.id`") && problems[0].contains("1 to 64"), "{problems:?}");
    let problems = self::problems("[[partners]]\nid = \"a\"\nnam = \"A\"\n");
    assert!(problems[0].contains("nam") && problems[0].contains("listings"), "{problems:?}");
}

#[test]
fn flags_stand_above_the_file() {
    let mut overrides = Overrides::default();
    overrides.set("server.listen", "127.0.0.1:0");
    overrides.set("log.format", "json");
    let config = load_text("[server]\nlisten = \"0.0.0.0:1\"\nmax_connections = 7\n", &overrides).expect("valid");
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:0");
    assert_eq!((config.server.max_connections, config.log.format), (7, LogFormat::Json));
}

#[test]
fn paths_of_the_file_start_at_the_file_and_others_where_the_command_is_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("g.toml");
    let written = |text: &str, variables: &[(&str, &str)], flag: Option<&str>| {
        std::fs::write(&path, text).expect("written");
        let mut overrides = Overrides::default();
        if let Some(flag) = flag {
            overrides.set("state_dir", flag);
        }
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
        load::load_under(variables, Some(&path), &overrides).expect("valid").state_dir
    };
    let variable = [("INTENT_GATEWAY__STATE_DIR", "of-variable")];
    assert_eq!(written("state_dir = \"mine\"", &[], None), folder.path().join("mine"));
    assert_eq!(written("state_dir = \"/srv\"", &[], None), Path::new("/srv"));
    assert_eq!(written("", &[], None), folder.path().join("state"), "the default lies beside the file");
    assert_eq!(written("state_dir = \"mine\"", &variable, None), Path::new("of-variable"));
    assert_eq!(written("state_dir = \"mine\"", &variable, Some("of-flag")), Path::new("of-flag"));
    let without = load::load_under([], None, &Overrides::default()).expect("valid");
    assert_eq!(without.state_dir, Path::new("state"));
}

#[test]
fn a_missing_or_broken_file_is_told() {
    let error = load(Some(Path::new("/nowhere/gateway.toml")), &Overrides::default()).expect_err("refused");
    assert!(error.to_string().starts_with("cannot read the configuration file /nowhere/gateway.toml"), "{error}");
    let problems = problems("[server\n");
    assert!(problems[0].contains("gateway.toml"), "{problems:?}");
}

/// Every problem of a file and of variables, with the file's name for its path.
fn told(text: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("g.toml");
    std::fs::write(&path, text).expect("written");
    let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
    match load::load_under(variables, Some(&path), &Overrides::default()) {
        Err(load::ConfigError::Invalid(problems)) => {
            problems.iter().map(|problem| problem.replace(&path.display().to_string(), "g.toml")).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_wrong_value_is_told_with_its_place_in_the_file() {
    for (text, expected) in [
        ("[server]\nlisten = 5\n", "`server.listen` (g.toml:2:1): invalid type: integer `5`, expected socket address"),
        ("[server]\n  listen = 'x'\n", "`server.listen` (g.toml:2:3): invalid socket address syntax"),
        (
            "server.max_connections = 1.5",
            "`server.max_connections` (g.toml:1:8): invalid type: floating point `1.5`, expected usize",
        ),
        ("server = 5\n", "`server` (g.toml:1:1): invalid type: integer `5`, expected struct ServerSection"),
        (
            "[server]\nopen_requests_per_minute = 0",
            "`server.open_requests_per_minute` (g.toml:2:1): invalid value: integer `0`, expected a nonzero u32",
        ),
        (
            "[sandbox]\ndeadline_ms = \"fast\"",
            "`sandbox.deadline_ms` (g.toml:2:1): invalid type: string \"fast\", expected u64",
        ),
        ("[search]\ntimeout_ms = -5", "`search.timeout_ms` (g.toml:2:1): invalid value: integer `-5`, expected u64"),
        (
            "[search]\ntimeout_ms = 99999999999999999999",
            "`search.timeout_ms` (g.toml:2:1): invalid type: string \"99999999999999999999\", expected u64",
        ),
        (
            "[telemetry]\ntrace_sampling_ratio = nan",
            "`telemetry.trace_sampling_ratio` (g.toml:2:1): invalid type: string \"nan\", expected f64",
        ),
        ("[log]\nformat = \"xml\"", "`log.format` (g.toml:2:1): unknown variant `xml`, expected `text` or `json`"),
        (
            "[auth]\nprevious_signing_keys = [\"a\",\n 3]",
            "`auth.previous_signing_keys.1` (g.toml:3:2): invalid type: integer `3`, expected a string",
        ),
        (
            "[auth.unassigned_users]\nissuer = \"https://id.example\"",
            "`auth.unassigned_users` (g.toml:1:7): missing field `orchestrator`",
        ),
        (
            "# é\n[[auth.issuers]]\nissuer = 3",
            "`auth.issuers.0.issuer` (g.toml:3:1): invalid type: integer `3`, expected a string",
        ),
        (
            "[[partners]]\nid = \"a b\"",
            "`partners.0.id` (g.toml:2:1): a partner identifier is 1 to 64 letters, digits, `-` or `_`",
        ),
        ("[[partners]]\nid = \"a\"", "`partners.0` (g.toml:1:1): missing field `name`"),
        (
            "[[partners]]\nnam = 1",
            "`partners.0.nam` (g.toml:2:1): unknown field `nam`, expected one of `id`, `name`, `url`, `token`, `webhook_signing_key`, `sign_in`, `listings`",
        ),
        ("[server]\nlistens = 5", "unknown key `server.listens` (g.toml:2:1); `server` has listen, max_connections"),
        ("[sever]\nlisten = 5", "unknown key `sever` (g.toml:1:2); the configuration has state_dir, server"),
    ] {
        let problems = told(text, &[]);
        assert!(problems.len() == 1 && problems[0].starts_with(expected), "{text}: {problems:#?}");
    }
}

#[test]
fn every_wrong_value_of_a_section_is_told() {
    let problems = told("[server]\nlisten = 'x'\nmax_connections = 'y'\nfoo = 1\ndrain_timeout_ms = true\n", &[]);
    let mut keys: Vec<_> = problems.iter().filter_map(|problem| problem.split('`').nth(1)).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["server.drain_timeout_ms", "server.foo", "server.listen", "server.max_connections"]);
}

#[test]
fn text_that_is_no_toml_is_told_with_every_place() {
    let problems = told("[server\n[log]\nlevel = 'a\nlevel = \"b\"\n", &[]);
    assert!(problems.len() >= 2 && problems[0].ends_with("(g.toml:1:8)"), "{problems:#?}");
    assert!(problems.iter().all(|problem| !problem.contains('\n')), "{problems:#?}");
    let problems = told("a = 1\na = 2\n", &[]);
    assert!(problems.len() == 1 && problems[0].contains("duplicate key (g.toml:2:1)"), "{problems:#?}");
}

#[test]
fn a_variable_is_told_by_its_name() {
    let variables = [
        ("INTENT_GATEWAY__SERVER__MAX_CONNECTIONS", "many"),
        ("INTENT_GATEWAY__SERVR__LISTEN", "1"),
        ("INTENT_GATEWAY__LOG__LEVELS", "1"),
    ];
    let problems = told("[server]\nmax_connections = 7\n", &variables);
    let told = |start: &str| problems.iter().any(|problem| problem.starts_with(start));
    assert!(
        told(
            "`server.max_connections` (`INTENT_GATEWAY__SERVER__MAX_CONNECTIONS`): invalid type: string \"many\", expected usize"
        ),
        "{problems:#?}"
    );
    assert!(told("unknown key `servr` (`INTENT_GATEWAY__SERVR__LISTEN`); the configuration has"), "{problems:#?}");
    assert!(told("unknown key `log.levels` (`INTENT_GATEWAY__LOG__LEVELS`); `log` has level, format"), "{problems:#?}");
    assert_eq!(problems.len(), 3, "{problems:#?}");
}

#[test]
fn a_flag_is_told_as_such() {
    let mut overrides = Overrides::default();
    overrides.set("log.format", "xml");
    let problems = load_text("[log]\nformat = \"text\"\n", &overrides).expect_err("refused");
    assert_eq!(problems, ["`log.format` (command line): unknown variant `xml`, expected `text` or `json`"]);
}

#[test]
fn variables_stand_between_file_and_flags() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("g.toml");
    let file = "[server]\nmax_connections = 1\nmax_in_flight = 2\nlisten = \"0.0.0.0:1\"\n[auth]\nprevious_master_keys = [\"a\", \"b\"]\n";
    std::fs::write(&path, file).expect("written");
    let key = "x".repeat(32);
    let keys = format!("[{key}, \"{key}\"]");
    let variables = [
        ("INTENT_GATEWAY__SERVER", "{max_in_flight = 3, max_header_bytes = 40000}"),
        ("INTENT_GATEWAY__SERVER__LISTEN", "0.0.0.0:2"),
        ("INTENT_GATEWAY__SERVER__MAX_HEADER_BYTES", "50000"),
        ("INTENT_GATEWAY__AUTH__PREVIOUS_MASTER_KEYS", "[]"),
        ("INTENT_GATEWAY__AUTH__SIGNING_KEY", key.as_str()),
        ("INTENT_GATEWAY__AUTH__PREVIOUS_SIGNING_KEYS", keys.as_str()),
        ("INTENT_GATEWAY__AUTH__AUDIENCE", "\"12\""),
        ("INTENT_GATEWAY_CONFIG", "elsewhere.toml"),
    ];
    let mut overrides = Overrides::default();
    overrides.set("server.listen", "0.0.0.0:3");
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    let config = load::load_under(variables, Some(&path), &overrides).expect("valid");
    assert_eq!(config.server.listen.to_string(), "0.0.0.0:3");
    assert_eq!((config.server.max_connections, config.server.max_in_flight), (1, 3));
    assert_eq!(config.server.max_header_bytes, 50_000, "a single key stands above its section");
    assert_eq!(
        (config.auth.previous_master_keys.len(), config.auth.previous_signing_keys.len()),
        (0, 2),
        "a list is replaced"
    );
    assert_eq!(config.auth.audience, "12");
}
