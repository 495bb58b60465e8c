//! What the program says of itself: its version, its pages for `man`, and whether it takes requests.

use super::{Serving, run, text};

#[test]
fn a_version_names_what_the_build_was_made_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let short = text(&run(folder.path(), &["-V"]).stdout);
    assert_eq!(short.trim_end(), format!("intent-gateway {}", env!("CARGO_PKG_VERSION")));
    let long = text(&run(folder.path(), &["--version"]).stdout);
    assert!(long.starts_with(&short.trim_end().to_owned()), "{long}");
    for name in ["commit", "features", "platform", "contracts", "wasmtime"] {
        assert!(long.lines().any(|line| line.starts_with(name)), "no {name} in {long}");
    }
    assert!(long.contains("author"), "tests are built with the author's commands: {long}");
}

#[test]
fn every_command_has_a_page_for_man() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(run(folder.path(), &["man-pages", "man/man1"]).status.success());
    let page = |name: &str| std::fs::read_to_string(folder.path().join("man/man1").join(name)).expect(name);
    assert!(page("intent-gateway.1").contains(".TH intent"), "a page of man");
    assert!(
        page("intent-gateway-search.1").contains("intent\\-gateway search auto.book_ac_service"),
        "with its examples"
    );
    let pages = std::fs::read_dir(folder.path().join("man/man1")).expect("there").count();
    assert!(pages > 100, "only {pages} pages");

    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("written");
    let output = run(folder.path(), &["man-pages", "file"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot write to file"));
}

#[test]
fn a_gateway_says_without_a_token_whether_it_takes_requests() {
    let folder = tempfile::tempdir().expect("a folder");
    let serving = Serving::start(folder.path(), &[]);
    let address = format!("http://{}", serving.address);
    let ask = |arguments: &[&str]| {
        let output = run(folder.path(), &[&["gateway", "health", "--gateway", &address], arguments].concat());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    assert_eq!(ask(&["--live"]), (Some(0), "live\n".to_owned(), String::new()));
    let (code, _, complaint) = ask(&[]);
    assert!(code == Some(1) && complaint.contains("NO_LIVE_CONTRACT"), "{complaint}");
    assert_eq!(serving.stop().0, Some(0));
    let (code, _, complaint) = ask(&["--live"]);
    assert!(code == Some(1) && complaint.contains(&address), "{complaint}");
}
