//! Two gateways behind a real proxy that follows `/ready`, replaced one after the other under load: no request fails, though the
//! proxy tries nothing twice.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;
use test_servers::haproxy::Haproxy;
use test_servers::soak;

use super::{SEARCH, partner};
use crate::harness::{Gateway, GatewayOptions, ac_contract, client, request};
use crate::onboarding::settings;

/// A port to which no mail is ever sent.
const NO_SMTP: u16 = 1;
/// Clients, each with connections of its own to the proxy.
const CLIENTS: usize = 12;
/// For how long a shutdown is announced: a few times as long as the proxy takes to notice.
const ANNOUNCE: Duration = Haproxy::NOTICES_WITHIN.saturating_mul(3);

/// A gateway at an address that stays its own over restarts.
fn start(address: SocketAddr, options: &GatewayOptions) -> Gateway {
    let folder = Gateway::folder_for(options);
    let file = folder.path().join("gateway.toml");
    let config = std::fs::read_to_string(&file).expect("readable");
    std::fs::write(&file, config.replace("127.0.0.1:0", &address.to_string())).expect("writable");
    Gateway::start_in(folder)
}

/// Addresses that are free, all at once.
fn free_addresses() -> [SocketAddr; 2] {
    let listeners = [(), ()].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    listeners.map(|listener| listener.local_addr().expect("bound"))
}

/// What the clients share with whoever replaces gateways.
#[derive(Default)]
struct Load {
    stop: AtomicBool,
    answered: AtomicUsize,
}

/// Searches again and again until told to stop. What is not answered with success is told.
async fn search(url: String, token: String, body: Value, load: Arc<Load>) -> Vec<String> {
    let (client, mut failed) = (client(), Vec::new());
    while !load.stop.load(Ordering::Relaxed) {
        let sent = client.post(format!("{url}{SEARCH}")).bearer_auth(&token).json(&body).send().await;
        let whole = match sent {
            Ok(answer) if answer.status() == 200 => answer.bytes().await.map(drop).map_err(|error| error.to_string()),
            Ok(answer) => Err(format!("{}: {}", answer.status(), answer.text().await.unwrap_or_default())),
            Err(error) => Err(format!("{error:?}")),
        };
        match whole {
            Ok(()) => drop(load.answered.fetch_add(1, Ordering::Relaxed)),
            Err(error) => failed.push(error),
        }
    }
    failed
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_fails_while_gateways_are_replaced_behind_a_proxy() {
    let partner = partner().await;
    let options = GatewayOptions {
        partners: vec![partner.entry("alpha")],
        contracts: vec![ac_contract()],
        extra: settings(None, NO_SMTP),
        trust: String::new(),
        server: format!("drain_announce_ms = {}", ANNOUNCE.as_millis()),
    };
    let addresses = free_addresses();
    let mut gateways = addresses.map(|address| Some(start(address, &options)));
    let started = tokio::task::spawn_blocking(move || Haproxy::start(&addresses)).await.expect("no panic");
    let Some(proxy) = started.unwrap_or_else(|error| panic!("{error}")) else {
        eprintln!("HAProxy is not installed: replacing gateways behind a proxy was not tested");
        return;
    };
    let token = gateways[0].as_ref().expect("it runs").orchestrator_token().to_owned();
    let load = Arc::new(Load::default());
    let clients: Vec<_> =
        (0..CLIENTS).map(|_| tokio::spawn(search(proxy.url(), token.clone(), request(), load.clone()))).collect();
    let mut served = Vec::new();
    for number in 0..soak::choose(4, 20) {
        let (place, before) = (number % gateways.len(), load.answered.load(Ordering::Relaxed));
        let gateway = gateways[place].take().expect("it runs");
        gateways[place] = Some(tokio::task::block_in_place(|| {
            let gateway = gateway.restart();
            proxy.wait_until_up(place).expect("the proxy finds it again");
            gateway
        }));
        served.push(load.answered.load(Ordering::Relaxed) - before);
    }
    load.stop.store(true, Ordering::Relaxed);
    let (failed, answered) = (join_all(clients).await, load.answered.load(Ordering::Relaxed));
    let failed: Vec<String> = failed.into_iter().flat_map(|failed| failed.expect("no panic")).collect();
    eprintln!("{answered} requests answered over {} rolls: {served:?}", served.len());
    assert_eq!(failed, [""; 0], "of {answered}");
    assert!(served.iter().all(|served| *served > 0), "there was load during each: {served:?}");
}
