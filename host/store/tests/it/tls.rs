//! TLS to PostgreSQL, with the meaning that `sslmode` has everywhere.

use std::error::Error;

use intent_gateway_store::{Location, OpenError, SqlStore};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use test_servers::postgres::Postgres;

fn certificate(name: &str) -> (String, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).expect("a certificate");
    (cert.pem(), signing_key.serialize_pem())
}

async fn open(url: &str, options: &str) -> Result<(), OpenError> {
    let store = SqlStore::open(&Location::parse(&format!("{url}?{options}"))?, None).await?;
    store.close().await;
    Ok(())
}

fn whole(error: &OpenError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_encrypted_and_verified_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, key) = certificate("127.0.0.1");
    let (another, _) = certificate("127.0.0.1");
    // `None` is reported by the tests of both engines.
    let Some(server) = Postgres::start_with_tls(&ours, &key).unwrap() else { return };
    let url = server.database_over_tcp().unwrap();
    let file = |name: &str, pem: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, pem).unwrap();
        path.display().to_string()
    };
    let (good, bad) = (file("good.pem", &ours), file("bad.pem", &another));
    for options in ["", "sslmode=prefer", "sslmode=require", "sslmode=disable"] {
        open(&url, options).await.unwrap_or_else(|error| panic!("{options}: {}", whole(&error)));
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        let options = |authority: &str| format!("sslmode={mode}&sslrootcert={authority}");
        open(&url, &options(&good)).await.unwrap_or_else(|error| panic!("{mode}: {}", whole(&error)));
        let refused = open(&url, &options(&bad)).await.expect_err("another authority");
        assert!(whole(&refused).contains("certificate"), "{}", whole(&refused));
    }
    let refused = open(&url, "sslmode=verify-full").await.expect_err("the machine does not know it");
    assert!(whole(&refused).contains("certificate") || whole(&refused).contains("authority"), "{}", whole(&refused));
    let named = url.replace("127.0.0.1", "localhost");
    let refused = open(&named, &format!("sslmode=verify-full&sslrootcert={good}")).await.expect_err("another name");
    assert!(whole(&refused).contains("certificate"), "{}", whole(&refused));
    let over_tls = format!("{url}?sslmode=require&application_name=over_tls");
    let store = SqlStore::open(&Location::parse(&over_tls).unwrap(), None).await.unwrap();
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    let count = "SELECT count(*), count(*) FILTER (WHERE ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                 WHERE application_name = 'over_tls'";
    let counts = client.query_one(count, &[]).await.unwrap();
    let (all, encrypted): (i64, i64) = (counts.get(0), counts.get(1));
    assert!(all > 0 && encrypted == all, "{encrypted} of {all} are encrypted");
    drop(client);
    driver.await.unwrap().unwrap();
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_tls_is_refused_where_it_is_demanded() {
    let Some(server) = Postgres::shared().unwrap() else { return };
    let url = server.database().unwrap();
    SqlStore::open(&Location::parse(&url).unwrap(), None).await.expect("prefer takes what there is");
    let demanding = Location::parse(&format!("{url}&sslmode=require")).unwrap();
    let refused = SqlStore::open(&demanding, None).await.expect_err("it has no TLS");
    assert!(whole(&refused).contains("TLS"), "{}", whole(&refused));
}
