//! TLS, with certificates made for the test.

use std::sync::Arc;

use hyper_util::rt::TokioIo;
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::fake::Fake;
use super::{anonymous, by_tag, component, name, open, push};
use crate::{Options, PlainHttp, Registry};

#[tokio::test]
async fn an_authority_of_ones_own_is_trusted_where_it_is_named() {
    let CertifiedKey { cert, signing_key }: CertifiedKey<KeyPair> =
        generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
    let tls = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .expect("a pair");
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let fake = Fake::unbound();
    let serving = fake.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, serving) = (acceptor.clone(), serving.clone());
            tokio::spawn(async move {
                // A client that does not trust the certificate leaves during the handshake.
                let Ok(stream) = acceptor.accept(stream).await else { return };
                serving.serve(TokioIo::new(stream)).await;
            });
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, cert.pem()).expect("written");
    let secure = Options { plain_http: PlainHttp::Never, ..anonymous() };
    let trusting = Options { authorities: Some(file.clone()), ..secure.clone() };
    let place = format!("oci://localhost:{port}/team/contract");

    let pushed = push(&open(&place, &trusting), &component("a"), None).await.expect("pushed");
    let pulled = open(&place, &trusting).pull(&by_tag("1.2.3")).await.expect("pulled");
    assert_eq!(pulled.manifest, pushed.manifest);
    let refused = open(&place, &secure).pull(&by_tag("1.2.3")).await.expect_err("nobody knows it");
    assert_eq!(refused.code(), "REGISTRY_UNREACHABLE");
    // The address is not what the certificate is of.
    let other = open(&format!("oci://127.0.0.1:{port}/team/contract"), &trusting);
    assert_eq!(other.tags().await.expect_err("another name").code(), "REGISTRY_UNREACHABLE");

    // From TLS nobody is sent to plain HTTP, not on this machine either.
    fake.answers_at(
        "manifests/1.2.3",
        super::fake::Reply::new(302, "").with("location", format!("http://localhost:{port}/x")),
    );
    let error = open(&place, &trusting).pull(&by_tag("1.2.3")).await.expect_err("it is not followed");
    assert_eq!(error.code(), "REGISTRY_INVALID");

    std::fs::write(&file, "no certificate").expect("written");
    for path in [file, folder.path().join("missing.pem")] {
        let options = Options { authorities: Some(path), ..secure.clone() };
        let error = Registry::open(&name(&place), &options).expect_err("no authority");
        assert!(error.code() == "REGISTRY_UNREACHABLE" && !error.is_worth_retrying(), "{error}");
    }
}
