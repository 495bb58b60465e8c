//! A gateway is served to others under the keys that are printed in the examples: whoever reads these issues tokens to themselves.

use std::process::Command;

use crate::harness::{built, root};

/// The `[auth]` of the example.
fn example_auth() -> String {
    let text = std::fs::read_to_string(root().join("examples/gateway.toml")).expect("the example is there");
    let (_, rest) = text.split_once("[auth]\n").expect("it has the section");
    let (section, _) = rest.split_once("\n[platform]").expect("another comes after it");
    format!("[auth]\n{section}\n")
}

/// Starts a gateway that is to listen on an address, and has nothing else against it; what it says when it ends by itself, or `None`
/// where it serves.
pub(super) fn serve(listen: &str, settings: &str) -> Option<(Option<i32>, String)> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = folder.path().join("gateway.toml");
    std::fs::write(&config, format!("state_dir = \"state\"\n[server]\nlisten = \"{listen}\"\n{settings}"))
        .expect("written");
    let mut command = Command::new(built("debug/intent-gateway"));
    command.arg("serve").arg("--config").arg(&config);
    let log = folder.path().join("gateway.log");
    let file = std::fs::File::create(&log).expect("the log can be written");
    match test_servers::Server::start("a gateway", &mut command, file) {
        Ok(server) => {
            server.stop().expect("it stops");
            None
        }
        Err(_) => {
            let status = command.status().expect("it runs");
            Some((status.code(), std::fs::read_to_string(&log).expect("the log is there")))
        }
    }
}

#[test]
fn the_keys_of_the_examples_are_refused_on_an_address_that_others_reach() {
    let settings = format!("{}[mail]\nmode = \"smtp\"\nhost = \"mail.example\"\n", example_auth());
    let (code, said) = serve("0.0.0.0:0", &settings).expect("it is refused");
    assert_eq!(code, Some(2), "{said}");
    for key in ["auth.signing_key", "auth.reference_key", "auth.master_key"] {
        assert!(said.contains(&format!("`{key}` is printed in the examples")), "{said}");
    }
    assert!(said.contains("openssl rand -hex 32") && said.contains("intent-gateway init"), "{said}");
    assert_eq!(serve("127.0.0.1:0", &settings), None, "for a try it is served");
    // With keys of its own it is served to others.
    assert_eq!(serve("0.0.0.0:0", &settings.replace("example-key", "our-own-key")), None);
}
