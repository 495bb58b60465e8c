//! Partners that official SDKs make, streaming a ride in each revision and with sessions and without.

use std::path::Path;
use std::process::Command;

use test_servers::tools;

use super::reader::Reader;
use super::{booked, gateway};
use crate::harness::{Server, root};

/// Words that the partner says of a ride.
const WORDS: usize = 30;

async fn rides(arguments: &[&str], extra: &str) {
    let python = tools::mcp_python().expect("the tools are installed");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(python);
    command.arg(root().join(Path::new("tests/e2e/streams/ride_partner.py"))).args(arguments);
    let partner = Server::start(&mut command, &folder.path().join("partner.log"));
    let gateway = gateway(&[("sdk", &partner.url)], extra);
    let reference = booked(&gateway).await;
    let mut reader = Reader::follow(&gateway, &reference).await;
    for number in 1..=WORDS {
        let params = reader.expect("progress").await.data["params"].clone();
        assert_eq!(params["progress"].as_f64(), Some(number as f64), "{arguments:?}: {params}");
        assert_eq!(params["message"], format!("{number} of {WORDS}"));
    }
    let update = reader.expect("update").await;
    assert_eq!(update.data["payload"]["status"], "arrived", "{arguments:?}");
    assert_eq!(reader.expect("end").await.data["reason"], "complete");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ride_of_the_python_sdk_without_sessions() {
    rides(&["mcp"], "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ride_of_the_python_sdk_with_sessions() {
    rides(&["mcp", "--sessions"], "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ride_of_the_python_sdk_in_the_newest_revision() {
    rides(&["mcp"], "discover_first = true\n").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ride_of_fastmcp() {
    rides(&["fastmcp"], "").await;
}
