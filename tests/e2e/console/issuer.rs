//! Signing in at an identity provider: a real one (`tests/e2e/linking/provider/team.mjs`), in a real browser (`tests/browser/sign-in.mjs`).
#![expect(clippy::print_stderr, reason = "what was not looked at is for whoever asks with --nocapture")]

use std::net::TcpListener;
use std::process::Command;

use test_servers::tools;

use super::walk::chromium;
use crate::harness::{Gateway, GatewayOptions, Server, ac_contract};

const CLIENT: &str = "gateway-console";
const SECRET: &str = "a secret of the console: 100 % &=";

#[test]
fn people_of_the_team_sign_in_at_an_issuer() {
    let Some(chromium) = chromium() else {
        eprintln!("Chromium is not installed: signing in at an issuer was not tried");
        return;
    };
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
    let console = format!("http://localhost:{port}");
    let logs = tempfile::tempdir().expect("a temporary folder");
    let mut provider = Command::new(tools::mcp_node().expect("Node is there"));
    provider.arg(tools::linking_provider().expect("the provider is there").with_file_name("team.mjs"));
    provider.args([CLIENT, SECRET, &format!("{console}/console/sign-in/callback")]);
    let provider = Server::start(&mut provider, &logs.path().join("provider.log"));
    let issuer = &provider.url;
    let gateway = Gateway::start(&GatewayOptions {
        contracts: vec![ac_contract()],
        extra: format!(
            "[auth]\nissuers = [{{ issuer = {issuer:?}, jwks_url = \"{issuer}/jwks\", audience = {CLIENT:?}, \
             role_claim = \"groups\", roles = {{ team = \"admin\" }} }}]\n\
             [console]\nenabled = true\nlisten = \"127.0.0.1:{port}\"\nbase_url = {console:?}\nsign_in_issuer = {issuer:?}\n\
             sign_in_client_id = {CLIENT:?}\nsign_in_client_secret = {SECRET:?}\nsign_in_bearer = \"id_token\"\n"
        ),
        ..GatewayOptions::default()
    });
    assert!(!gateway.folder.path().join("state/console-code").exists(), "there is another way in");
    let walk = Command::new(tools::mcp_node().expect("Node is there"))
        .arg(tools::browser_script("sign-in.mjs").expect("cargo xtask test --only \"test tools\""))
        .env("CONSOLE", &console)
        .env("CHROMIUM", chromium)
        .output()
        .expect("it runs");
    let (told, faults) = (String::from_utf8_lossy(&walk.stdout), String::from_utf8_lossy(&walk.stderr));
    assert!(walk.status.success(), "{told}{faults}\n{}", gateway.log());
    assert_eq!(told.lines().collect::<Vec<_>>(), ["DONE team", "DONE guest", "DONE stranger"]);
    for secret in [SECRET, "a%20secret"] {
        assert!(!gateway.log().contains(secret), "no log has the client's secret");
    }
}
