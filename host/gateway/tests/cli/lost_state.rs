//! What operators meet when the store that this installation had is not there any more: a refusal that says what to do, and the ways
//! out of it.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use super::{Serving, run, text};

/// Runs `serve`, which is to be refused; what it complained of.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, &[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
    let complaint = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert!(output.stdout.is_empty(), "it never listened");
    complaint
}

fn marker(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("state/installation")).expect("there is a marker")
}

fn begun(folder: &Path) -> Vec<Value> {
    let output = run(folder, &["audit", "show", "--json", "--state-dir", "state"]);
    let entries: Vec<Value> =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    entries.into_iter().filter(|entry| entry["action"] == "installation.begun").collect()
}

fn told(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), text(&output.stderr))
}

/// SQLite's files: the database, its log and its index.
fn lose_store(folder: &Path) {
    for file in ["gateway.db", "gateway.db-wal", "gateway.db-shm"] {
        let _ = std::fs::remove_file(folder.join("state").join(file));
    }
}

#[test]
fn a_store_that_is_gone_is_not_taken_for_a_new_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    assert_eq!(Serving::start(here, &[]).stop().0, Some(0));
    let first = marker(here);
    assert_eq!(begun(here)[0]["detail"]["how"], "new");
    assert_eq!(Serving::start(here, &[]).stop().0, Some(0), "a restart needs no word");
    assert_eq!((marker(here), begun(here).len()), (first.clone(), 1));
    assert_eq!(run(here, &["store", "backup", "b.jsonl"]).status.code(), Some(0));

    lose_store(here);
    let complaint = refused(here, &[]);
    for part in [first.trim(), "holds nothing", "gateway.db", "intent-gateway store restore", "--first-start"] {
        assert!(complaint.contains(part), "{part}: {complaint}");
    }
    assert!(!here.join("state/gateway.db").exists(), "nothing was made");
    for command in [&["store", "check"][..], &["ledger", "balance"], &["audit", "verify"], &["keys", "reseal"]] {
        let (code, complaint) = told(&run(here, &[command, &["--state-dir", "state"]].concat()));
        assert_eq!(code, Some(1), "{command:?}");
        assert!(complaint.contains("there is no such file"), "{command:?}: {complaint}");
        assert!(!here.join("state/gateway.db").exists(), "{command:?} has made a store");
    }

    // The way back: the backup has the identity.
    assert_eq!(told(&run(here, &["store", "restore", "b.jsonl"])).0, Some(0));
    assert_eq!(Serving::start(here, &[]).stop().0, Some(0));
    assert_eq!((marker(here), begun(here).len()), (first.clone(), 1));

    // The other way: the loss is meant.
    lose_store(here);
    refused(here, &[]);
    assert_eq!(Serving::start(here, &["--first-start"]).stop().0, Some(0));
    assert_ne!(marker(here), first);
    let entry = &begun(here)[0];
    assert_eq!((&entry["detail"]["how"], &entry["detail"]["former"]), (&"after_loss".into(), &first.trim().into()));
    let files = std::fs::read_dir(here.join("state")).expect("the folder");
    let aside = files
        .filter_map(Result::ok)
        .filter(|file| file.file_name().to_string_lossy().starts_with("installation.before-"));
    assert_eq!(aside.count(), 1, "the old marker is kept");
    assert_eq!(Serving::start(here, &[]).stop().0, Some(0), "and no word is needed any more");
}

#[test]
fn another_store_is_refused_and_so_is_one_that_is_empty_where_something_was_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    for (state, db) in [("state", "state/gateway.db"), ("other", "other/gateway.db")] {
        let mut serving = Serving::start(here, &["--state-dir", state]);
        serving.read_log_until("the end of a chain was anchored");
        assert_eq!(serving.stop().0, Some(0));
        assert!(here.join(db).exists());
    }
    let file = |lines: &str| std::fs::write(here.join("gateway.toml"), lines).expect("written");
    file("[store]\nurl = \"sqlite://other/gateway.db\"\n");
    let with = ["--config", "gateway.toml"];
    let complaint = refused(here, &with);
    assert!(
        complaint.contains("belongs to installation ins_") && complaint.contains("the state folder's marker"),
        "{complaint}"
    );
    let (code, complaint) = told(&run(here, &["store", "check", "--config", "gateway.toml"]));
    assert!(code == Some(1) && complaint.contains("belongs to installation"), "{complaint}");

    // What the configuration names comes before what is meant.
    let id = marker(here);
    file(&format!("[store]\nurl = \"sqlite://new.db\"\ninstallation_id = \"{}\"\n", id.trim()));
    for words in [&with[..], &["--config", "gateway.toml", "--first-start"]] {
        let complaint = refused(here, words);
        assert!(complaint.contains("`store.installation_id` names"), "{complaint}");
        assert!(!here.join("new.db").exists());
    }

    // Without a marker, what was anchored tells.
    std::fs::remove_file(here.join("state/installation")).expect("removed");
    file("[store]\nurl = \"sqlite://new.db\"\n");
    let complaint = refused(here, &with);
    assert!(complaint.contains("state/anchors has anchors"), "{complaint}");
    std::fs::remove_file(here.join("state/anchors")).expect("removed");
    assert_eq!(Serving::start(here, &with).stop().0, Some(0), "nothing shows that there was one");
}
