//! What operators meet: the start, its signals, keys, contracts, and the commands by which a running gateway is asked.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use super::{Serving, ac_contract, built, gateway, hostile, run, text};

/// Exit code, what was printed, and what was complained of.
fn told(output: &Output) -> (Option<i32>, String, String) {
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Names the gateway and shows a token of a role, by the file of profiles.
fn write_profile(folder: &Path, address: &str, role: &str) {
    let token = text(&run(folder, &["token", "--role", role]).stdout);
    let profile = format!("[default]\ngateway = \"http://{address}\"\ntoken = \"{}\"\n", token.trim_end());
    let path = folder.join("profiles.toml");
    std::fs::write(&path, profile).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("set");
}

#[test]
fn an_address_in_use_is_noticed_before_anything_is_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("contracts")).expect("made");
    std::fs::copy(ac_contract(), folder.path().join("contracts/ac.wasm")).expect("copied");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    let serve = ["serve", "--contracts-dir", "contracts", "--listen", &address];
    let (code, _, complaint) = told(&run(folder.path(), &serve));
    assert_eq!(code, Some(1));
    assert!(complaint.contains(&format!("cannot listen on {address}")), "{complaint}");
    assert!(!complaint.contains("compil") && !folder.path().join("state").exists(), "{complaint}");

    let output = gateway(folder.path())
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("INTENT_GATEWAY__TELEMETRY__METRICS_ADDRESS", &address)
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(!folder.path().join("state").exists(), "the address for scrapers is taken first, too");
}

/// A configuration with some lines, a level of the log, a number of requests, and partners.
fn write_config(folder: &Path, level: &str, max_in_flight: u32, partners: &[(&str, &str)]) {
    let mut text = format!("[log]\nlevel = \"{level}\"\n[server]\nmax_in_flight = {max_in_flight}\n");
    for (id, key) in partners {
        text.push_str(&format!(
            "[[partners]]\nid = \"{id}\"\nname = \"{id}\"\nurl = \"https://{id}.example/mcp\"\nwebhook_signing_key = \"{key}\"\n\
             listings = [{{ intent = \"auto.book_ac_service\", service_area = [\"IN_ALL\"] }}]\n"
        ));
    }
    std::fs::write(folder.join("gateway.toml"), text).expect("written");
}

#[test]
fn a_hangup_has_the_configuration_read_again() {
    const KEYS: [&str; 2] = ["first-first-first-first-first-first", "other-other-other-other-other-other"];
    let folder = tempfile::tempdir().expect("a folder");
    write_config(folder.path(), "info", 64, &[("stays", KEYS[0]), ("goes", KEYS[0])]);
    let mut serving = Serving::start(folder.path(), &["--config", "gateway.toml", "--json"]);
    let token = text(&run(folder.path(), &["token", "--role", "admin"]).stdout);
    let setting = |serving: &Serving, key: &str| {
        let (status, body) = serving.get("/api/v1/admin/settings", Some(token.trim_end()));
        assert_eq!(status, 200, "{body}");
        let settings = body["settings"].as_array().expect("a list").clone();
        settings.into_iter().find(|one| one["key"] == key).map(|one| one["value"].clone())
    };

    write_config(folder.path(), "debug", 65, &[("comes", KEYS[0]), ("stays", KEYS[1])]);
    serving.signal(rustix::process::Signal::HUP);
    serving.read_log_until("SIGHUP: the configuration was read");
    let told = |words: &str, log: &str| -> Vec<(String, String, String)> {
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let lines = lines.filter(|line| line["message"].as_str().is_some_and(|said| said.contains(words)));
        let field = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
        lines.map(|line| (field(&line, "setting"), field(&line, "before"), field(&line, "after"))).collect()
    };
    let changed = |setting: &str, before: &str, after: &str| (setting.to_owned(), before.to_owned(), after.to_owned());
    assert_eq!(
        told("a setting has changed", &serving.log),
        [
            changed("log.level", "\"info\"", "\"debug\""),
            changed("partners.comes", "absent", "present"),
            changed("partners.goes", "present", "absent"),
            changed("partners.stays.webhook_signing_key", "set", "changed"),
        ]
    );
    assert_eq!(told("waits for a restart", &serving.log), [changed("server.max_in_flight", "64", "65")]);
    assert_eq!(setting(&serving, "level"), Some("debug".into()), "it is told as what is in force");
    assert_eq!(setting(&serving, "max_in_flight"), Some(64.into()));
    assert_eq!(setting(&serving, "0.id"), Some("comes".into()));

    std::fs::write(folder.path().join("gateway.toml"), "[log]\nlevel = 7\n").expect("written");
    serving.signal(rustix::process::Signal::HUP);
    serving.read_log_until("SIGHUP: nothing was changed");
    assert!(serving.log.lines().last().expect("a line").contains("`log.level`"), "{}", serving.log);
    assert_eq!(setting(&serving, "level"), Some("debug".into()));
    let (code, log) = serving.stop();
    assert_eq!(code, Some(0));
    assert!(!log.contains("first-first") && !log.contains("other-other"), "{log}");
}

#[test]
fn the_first_start_says_that_it_compiles() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("contracts")).expect("made");
    std::fs::copy(ac_contract(), folder.path().join("contracts/ac.wasm")).expect("copied");
    let log = || {
        let mut serving = Serving::start(folder.path(), &["--contracts-dir", "contracts", "--json"]);
        serving.wait_for_contracts();
        let (code, log) = serving.stop();
        assert_eq!(code, Some(0), "{log}");
        log.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect::<Vec<Value>>()
    };
    let said = |log: &[Value], words: &str| {
        log.iter().find(|line| line["message"].as_str().is_some_and(|said| said.contains(words))).cloned()
    };
    let first = log();
    let compiling = said(&first, "compiling a contract").expect("it says so");
    assert_eq!(
        (&compiling["contract"], &compiling["number"], &compiling["of"]),
        (&"ac.wasm".into(), &1.into(), &1.into())
    );
    assert_eq!(said(&first, "contracts were compiled").expect("and when it is over")["contracts"], 1);
    assert_eq!(said(&log(), "compil"), None, "later starts take the compiled form");
}

#[test]
fn a_token_makes_no_key_unless_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, printed, complaint) = told(&run(folder.path(), &["token", "--role", "admin"]));
    assert_eq!((code, printed.as_str()), (Some(2), ""));
    assert!(complaint.contains("--create-key") && complaint.contains("state/dev-signing-key"), "{complaint}");
    assert!(!folder.path().join("state").exists());
    let (code, made, _) = told(&run(folder.path(), &["token", "--role", "admin", "--create-key"]));
    assert_eq!(code, Some(0));
    assert_eq!(told(&run(folder.path(), &["token", "--role", "admin"])).0, Some(0));
    // The gateway that starts there takes it for its own.
    let serving = Serving::start(folder.path(), &[]);
    assert_eq!(serving.get("/api/v1/intents", Some(made.trim_end())).0, 200);
    serving.stop();
}

#[test]
fn paths_of_a_configuration_are_relative_to_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (home, elsewhere) = (folder.path().join("home"), folder.path().join("elsewhere"));
    for made in [&home.join("contracts"), &elsewhere] {
        std::fs::create_dir_all(made).expect("made");
    }
    std::fs::write(
        home.join("g.toml"),
        "[contracts]\ndir = \"contracts\"\n[server]\nlisten = \"127.0.0.1:0\"\ndrain_announce_ms = 0\n",
    )
    .expect("written");
    let serving = Serving::start(&elsewhere, &["--config", "../home/g.toml"]);
    assert!(home.join("state/dev-signing-key").is_file() && !elsewhere.join("state").exists());
    let (code, token, complaint) = told(&run(&home, &["token", "--role", "admin", "--config", "g.toml"]));
    assert_eq!(code, Some(0), "{complaint}");
    assert_eq!(serving.get("/api/v1/admin/contracts", Some(token.trim_end())).0, 200);
    serving.stop();
}

#[test]
fn contracts_are_loaded_released_and_rolled_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let (old, new) = (hostile(folder.path(), "1.0.0", "honest"), hostile(folder.path(), "1.0.1", "honest"));
    let serving = Serving::start(folder.path(), &[]);
    write_profile(folder.path(), &serving.address, "admin");
    let asked = |arguments: &[&str]| told(&run(folder.path(), &[&["contract"], arguments].concat()));
    let printed = |arguments: &[&str]| {
        let (code, printed, complaint) = asked(arguments);
        assert_eq!((code, complaint.as_str()), (Some(0), ""), "{arguments:?}: {printed}");
        printed
    };
    assert!(printed(&["list"]).contains("no contract is loaded"));
    let loaded: Value = serde_json::from_str(&printed(&["load", &old, "--json"])).expect("JSON");
    let (intent, first) = (loaded["intent"].as_str().expect("a text"), loaded["digest"].as_str().expect("a text"));
    assert_eq!(loaded["live"], true);
    assert!(printed(&["load", &new, "--inactive"]).contains("is loaded, not live"));

    let version = |number: &str| format!("{intent}@{number}");
    assert!(printed(&["activate", &version("1.0.1")]).contains("1.0.1 is live"));
    let listed = printed(&["list"]);
    assert_eq!(listed.lines().filter(|line| line.contains(" live ")).count(), 1, "{listed}");
    assert!(printed(&["show", intent]).contains("1.0.1"));
    assert!(printed(&["rollback", intent]).contains("1.0.0 is live"));
    let (code, _, complaint) = asked(&["rollback", intent]);
    assert!(code == Some(1) && complaint.contains("no loaded version before"), "{complaint}");
    // The beginning of a digest will do, as long as it is the only one.
    assert!(printed(&["activate", &first[..8]]).contains("1.0.0 is live"));
    assert!(printed(&["show", &first[..8]]).contains(first));
    let (code, _, complaint) = asked(&["activate", "0000aaaa"]);
    assert!(code == Some(2) && complaint.contains("begins with 0000aaaa"), "{complaint}");

    std::fs::write(folder.path().join("no.wasm"), "nothing").expect("written");
    let (code, _, complaint) = asked(&["load", "no.wasm"]);
    assert!(code == Some(1) && complaint.contains("HTTP 422"), "{complaint}");
    assert!(printed(&["failures"]).contains("a component that is no contract"));
    assert!(printed(&["status"]).contains("1 failure to load or to go on"));
    assert!(printed(&["retire", intent]).contains("out of service"));
    let (code, _, complaint) = asked(&["show", intent]);
    assert!(code == Some(2) && complaint.contains("no live version"), "{complaint}");
    assert_eq!(asked(&["load", "none.wasm"]).0, Some(2));
    serving.stop();
}

#[test]
fn a_fault_is_listed_saved_and_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let contract = hostile(folder.path(), "1.0.0", "honest");
    let serving = Serving::start(folder.path(), &[]);
    write_profile(folder.path(), &serving.address, "admin");
    let asked = |arguments: &[&str]| told(&run(folder.path(), arguments));
    assert_eq!(asked(&["contract", "load", &contract]).0, Some(0));
    let (_, none, _) = asked(&["contract", "failures", "test.hostile"]);
    assert_eq!(none, "no call of test.hostile failed that is kept\n");
    asked(&["classify", "a telling thing"]);
    // It is kept a moment later.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let listed = loop {
        let (code, listed, complaint) = asked(&["contract", "failures", "test.hostile"]);
        assert_eq!(code, Some(0), "{complaint}");
        if listed.contains("CONTRACT_TRAP") {
            break listed;
        }
        assert!(std::time::Instant::now() < deadline, "{listed}");
    };
    let row = listed.lines().nth(1).expect("a row").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(row.contains("classify CONTRACT_TRAP 1 src/tea.rs:7:9 no tea | is left"), "{listed}");
    let number = row.split(' ').next().expect("a number").to_owned();

    let save = ["contract", "failures", "test.hostile", "--save", &number];
    let (code, saved, complaint) = asked(&save);
    assert_eq!(code, Some(0), "{complaint}");
    let name = format!("fault-{number}.json");
    assert!(saved.contains(&format!("plugin replay {name}")), "{saved}");
    let file = folder.path().join(&name);
    assert_eq!(std::fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(&file).expect("read").contains("a telling thing"));
    let (code, _, complaint) = asked(&save);
    assert!(code == Some(2) && complaint.contains("cannot write"), "what is there is not written over: {complaint}");

    let (code, replayed, complaint) = asked(&["plugin", "replay", &name, &contract]);
    assert_eq!(code, Some(1), "{complaint}");
    assert!(replayed.starts_with("✘ classify: CONTRACT_TRAP: ") && replayed.contains("\n    no tea\n    is left\n"));
    let mended = std::fs::read_to_string(&file).expect("read").replace("a telling thing", "a thing");
    std::fs::write(&file, mended).expect("written");
    let (code, replayed, complaint) = asked(&["plugin", "replay", &name, &contract]);
    assert_eq!((code, complaint.as_str()), (Some(0), ""));
    assert!(replayed.contains("it answers, where it failed with CONTRACT_TRAP"), "{replayed}");
    serving.stop();
}

#[test]
fn an_orchestrator_classifies_and_searches() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("contracts")).expect("made");
    for name in ["auto-book-ac-service", "finance-buy-motor-insurance", "lifestyle-book-yoga-class"] {
        let built = built(&format!("contracts/{name}.wasm"));
        std::fs::copy(built, folder.path().join(format!("contracts/{name}.wasm"))).expect("copied");
    }
    let mut serving = Serving::start(folder.path(), &["--contracts-dir", "contracts"]);
    serving.wait_for_contracts();
    write_profile(folder.path(), &serving.address, "orchestrator");
    let asked = |arguments: &[&str]| told(&run(folder.path(), arguments));
    let (code, said, _) = asked(&["classify", "my car's AC blows warm air"]);
    assert_eq!(code, Some(0));
    assert!(said.starts_with("auto.book_ac_service\n") && said.contains("claimed by"), "{said}");
    // Each shipped contract brings a sample that it takes today.
    for intent in ["auto.book_ac_service", "finance.buy_motor_insurance", "lifestyle.book_yoga_class"] {
        let (code, said, complaint) = asked(&["search", intent, "--sample"]);
        assert_eq!(code, Some(0), "{intent}: {complaint}");
        assert!(said.contains(": no option") && said.contains("no partner lists this intent"), "{intent}: {said}");
    }
    let (code, said, complaint) = asked(&["search", "auto.book_ac_service", "--sample", "--best-reference"]);
    assert_eq!((code, said.as_str()), (Some(1), ""));
    assert!(complaint.contains("there is no option ["), "{complaint}");
    let (_, said, _) = asked(&["search", "auto.book_ac_service", "--sample", "--json"]);
    let answer: Value = serde_json::from_str(&said).expect("the gateway's own answer");
    assert_eq!(answer["options"], serde_json::json!([]));
    std::fs::write(folder.path().join("r.json"), "{}").expect("written");
    let (code, _, complaint) = asked(&["search", "auto.book_ac_service", "--request", "r.json"]);
    assert!(code == Some(1) && complaint.contains("/ac_issue: "), "{complaint}");
    let (code, _, complaint) =
        asked(&["call", "create_ac_service_booking", "opt_x", "--intent", "auto.book_ac_service"]);
    assert!(code == Some(1) && complaint.contains("INVALID_REFERENCE"), "{complaint}");
    // What an orchestrator may not do is told by the gateway.
    assert!(asked(&["findings", "ptr_1"]).2.contains("FORBIDDEN"));
    serving.stop();
}

#[test]
fn orders_are_asked_for_with_the_token_of_those_whom_they_concern() {
    let folder = tempfile::tempdir().expect("a folder");
    let serving = Serving::start(folder.path(), &[]);
    let asked = |arguments: &[&str]| told(&run(folder.path(), arguments));
    write_profile(folder.path(), &serving.address, "orchestrator");
    for arguments in [&["order", "list"][..], &["order", "list", "--user", "user-17", "--in-doubt"]] {
        let (code, said, complaint) = asked(arguments);
        assert_eq!((code, said.trim_end()), (Some(0), "no such order"), "{complaint}");
    }
    let (code, said, _) = asked(&["order", "events", "--json"]);
    let changes: Value = serde_json::from_str(&said).expect("the gateway's own answer");
    assert_eq!((code, &changes["events"]), (Some(0), &serde_json::json!([])));
    let next = changes["next"].as_str().expect("a cursor");
    let (code, said, _) = asked(&["order", "events", "--after", next]);
    assert!(code == Some(0) && said.starts_with("nothing has changed\nfrom here on: --after "), "{said}");
    let (code, _, complaint) = asked(&["order", "events", "--after", "made-up"]);
    assert!(code == Some(1) && complaint.contains("leave it out to begin anew"), "{complaint}");
    let (code, _, complaint) = asked(&["order", "show", "ord_1", "--user", "user-17"]);
    assert!(code == Some(1) && complaint.contains("There is no such order [NOT_FOUND"), "{complaint}");
    let (code, _, complaint) = asked(&["order", "list", "--partner", "oem"]);
    assert!(code == Some(2) && complaint.contains("for the platform team"), "{complaint}");
    write_profile(folder.path(), &serving.address, "admin");
    let (code, said, _) = asked(&["order", "list", "--known-as", "BK/1 ☂", "--closed"]);
    assert_eq!((code, said.trim_end()), (Some(0), "no such order"));
    let (code, _, complaint) = asked(&["order", "show", "BK-1"]);
    assert!(code == Some(1) && complaint.contains("no order is known by `BK-1`"), "{complaint}");
    let (code, _, complaint) = asked(&["partner", "orders"]);
    assert!(code == Some(2) && complaint.contains("name the account"), "{complaint}");
    for wrong in
        [&["order", "list", "--open", "--closed"][..], &["order", "list", "--limit", "0"], &["order", "show", ""]]
    {
        assert_eq!(asked(wrong).0, Some(2), "{wrong:?}");
    }
    serving.stop();
}

#[test]
fn profiles_are_listed_without_their_secrets_and_kept_from_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("profiles.toml");
    std::fs::write(&path, "[shop]\ngateway = \"http://127.0.0.1:9\"\nclient_id = \"cid\"\nclient_secret = \"hush\"\n")
        .expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("set");
    let (code, _, complaint) = told(&run(folder.path(), &["partner", "status", "--profile", "shop"]));
    assert!(code == Some(2) && complaint.contains("chmod 600") && !complaint.contains("hush"), "{complaint}");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("set");
    let (code, listed, _) = told(&run(folder.path(), &["profile", "list"]));
    assert!(code == Some(0) && listed.contains("the credentials cid") && !listed.contains("hush"), "{listed}");
    let (code, shown, _) = told(&run(folder.path(), &["profile", "show", "shop"]));
    assert!(code == Some(0) && shown.contains("http://127.0.0.1:9"), "{shown}");
    let (code, _, complaint) = told(&run(folder.path(), &["partner", "status", "--profile", "shop"]));
    assert!(code == Some(1) && complaint.contains("http://127.0.0.1:9/api/v1/business/token"), "{complaint}");
    let (code, _, complaint) = told(&run(folder.path(), &["profile", "show", "none"]));
    assert!(code == Some(2) && complaint.contains("it has shop"), "{complaint}");
}

#[test]
fn reports_and_shell_completions_are_not_mixed_up() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["completion", "bash"][..], &["completion", "sign", "r.json", "--json"], &["completion"]] {
        let (code, printed, complaint) = told(&run(folder.path(), arguments));
        assert_eq!((code, printed.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(
            complaint.contains("`intent-gateway report`") && complaint.contains("shell-completions"),
            "{complaint}"
        );
    }
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, _) = told(&run(folder.path(), &["shell-completions", shell]));
        assert!(code == Some(0) && script.contains("shell-completions") && script.contains("rollback"), "{shell}");
    }
    let help = text(&run(folder.path(), &["--help"]).stdout);
    assert!(help.contains("report") && !help.contains("\n  completion"), "{help}");
}

#[test]
fn keys_are_listed_and_rotated_and_what_was_signed_before_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut text_of_file = "[auth]\n".to_owned();
    for name in ["signing_key", "previous_signing_keys", "master_key", "previous_master_keys"] {
        let path = folder.join(name);
        let content = if name.starts_with("previous") { String::new() } else { name.repeat(4) };
        std::fs::write(&path, content).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("set");
        text_of_file.push_str(&format!("{name}_file = \"{name}\"\n"));
    }
    std::fs::write(folder.join("g.toml"), text_of_file).expect("written");
    let ids = |name: &str| -> Vec<(String, bool)> {
        let listed = run(folder, &["keys", "list", "--json", "--config", "g.toml"]);
        assert!(!text(&listed.stdout).contains(&"signing_key".repeat(4)), "never a key itself");
        let listed: Value = serde_json::from_str(&text(&listed.stdout)).expect("JSON");
        let of_name = listed["keys"].as_array().expect("keys").iter().filter(|key| key["name"] == name);
        of_name.map(|key| (key["id"].to_string(), key["current"] == true)).collect()
    };
    let token = || text(&run(folder, &["token", "--role", "orchestrator", "--config", "g.toml"]).stdout);
    let (before, signed_before) = (ids("signing"), token());
    assert_eq!(before.len(), 1);
    // The store is made under the first master key.
    assert_eq!(Serving::start(folder, &["--config", "g.toml"]).stop().0, Some(0));
    for name in ["signing", "master"] {
        let (code, _, complaint) = told(&run(folder, &["keys", "rotate", name, "--config", "g.toml"]));
        assert_eq!(code, Some(0), "{complaint}");
    }
    let after = ids("signing");
    assert_eq!((after.len(), after[0].1, &after[1]), (2, true, &(before[0].0.clone(), false)), "{after:?}");
    assert_eq!(ids("reference").len(), 2, "derived of both");
    assert_eq!(ids("master").len(), 2);
    let (code, printed, complaint) = told(&run(folder, &["keys", "reseal", "--config", "g.toml"]));
    assert_eq!(code, Some(0), "{complaint}");
    assert!(printed.contains("sealed anew") && complaint.contains("webhooks: 0 looked at"), "{printed}{complaint}");
    let serving = Serving::start(folder, &["--config", "g.toml"]);
    for token in [signed_before, token()] {
        assert_eq!(serving.get("/api/v1/intents", Some(token.trim_end())).0, 200);
    }
    assert_eq!(serving.stop().0, Some(0));
    let (code, _, complaint) = told(&run(folder, &["keys", "rotate", "reference", "--config", "g.toml"]));
    assert_eq!(code, Some(1));
    assert!(complaint.contains("`auth.reference_key_file`"), "{complaint}");
}

#[test]
fn what_takes_two_ends_with_a_code_of_its_own_and_names_what_waits() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("g.toml"), "[auth]\nsecond_person = true\n").expect("written");
    let serving = Serving::start(folder, &["--config", "g.toml"]);
    let url = format!("http://{}", serving.address);
    let ask_as = |subject: &str, arguments: &[&str]| {
        let issue = ["token", "--role", "admin", "--subject", subject, "--config", "g.toml"];
        let token = text(&run(folder, &issue).stdout);
        told(&run(folder, &[arguments, &["--gateway", &url, "--token", token.trim_end()]].concat()))
    };
    assert!(ask_as("ravi", &["approval", "list"]).1.contains("nothing waits"));
    let erase = ["user", "erase", "--user", "user-17", "--yes"];
    let (code, printed, complaint) = ask_as("asha", &erase);
    assert_eq!((code, printed.as_str()), (Some(3), ""), "{complaint}");
    assert!(complaint.contains("nothing was done") && complaint.contains("approval approve apr_"), "{complaint}");
    let (code, printed, _) = ask_as("asha", &["contract", "retire", "auto.fix", "--json"]);
    let waits: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!((code, &waits["what"]), (Some(3), &"takes an intent out of service".into()), "{printed}");
    let retire = waits["id"].as_str().expect("an identifier");

    let listed: Value = serde_json::from_str(&ask_as("ravi", &["approval", "list", "--json"]).1).expect("JSON");
    assert_eq!(listed["approvals"].as_array().map(Vec::len), Some(2), "{listed}");
    let erasure = listed["approvals"][0]["id"].as_str().expect("an identifier");
    let shown = ask_as("ravi", &["approval", "show", erasure]).1;
    assert!(shown.contains("user-17") && shown.contains("DELETE /api/v1/user-data"), "{shown}");
    let (code, _, complaint) = ask_as("asha", &["approval", "approve", erasure]);
    assert!(code == Some(1) && complaint.contains("SECOND_PERSON_NEEDED"), "{complaint}");
    let (code, printed, complaint) = ask_as("ravi", &["approval", "approve", erasure]);
    assert_eq!((code, complaint.as_str()), (Some(0), ""), "{printed}");
    assert!(printed.contains("is carried out") && printed.contains("\"receipts\": 0"), "{printed}");
    let (code, printed, _) = ask_as("asha", &["approval", "refuse", retire]);
    assert!(code == Some(0) && printed.contains("nothing was done"), "{printed}");
    let (code, _, complaint) = ask_as("ravi", &["approval", "approve", retire]);
    assert!(code == Some(1) && complaint.contains("APPROVAL_NOT_FOUND"), "{complaint}");
    assert_eq!(serving.stop().0, Some(0));
}

#[test]
fn a_schema_of_the_configuration_is_printed_without_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), &["config", "schema"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let schema: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    assert_eq!(schema["properties"]["server"]["properties"]["listen"]["default"], "127.0.0.1:8080");
}
