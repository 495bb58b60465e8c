//! Secures connections to PostgreSQL: encrypted alone, or with the server's certificate verified as well.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::OpenError;

/// How a connection is secured.
#[derive(Clone)]
pub(super) enum Tls {
    Off,
    /// Encrypted, to whoever answers.
    Unverified(MakeRustlsConnect),
    /// Encrypted, to a server whose certificate holds.
    Verified(MakeRustlsConnect),
}

impl Tls {
    /// What to say where there is no connection.
    pub(super) fn explain_no_connection(&self) -> &'static str {
        match self {
            Self::Off | Self::Unverified(_) => "there is no connection to the database",
            Self::Verified(_) => {
                "there is no connection to the database; its server must speak TLS, with a certificate by an authority that this \
                 machine knows or that `sslrootcert=FILE` in the address names"
            }
        }
    }
}

/// Encrypted, to a server that is who it says it is, by the machine's authorities or those of a file.
pub(super) fn verify_server(authorities: Option<&Path>) -> Result<Tls, OpenError> {
    let mut roots = RootCertStore::empty();
    if let Some(path) = authorities {
        let file = |cause| OpenError::File { path: path.to_owned(), cause };
        let pem = std::fs::read(path).map_err(file)?;
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let bad = |cause: Box<dyn std::error::Error + Send + Sync>| {
                OpenError::Tls("sslrootcert holds a certificate that cannot be read", Some(cause))
            };
            roots.add(certificate.map_err(|error| bad(error.into()))?).map_err(|error| bad(error.into()))?;
        }
    } else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if roots.is_empty() {
        return Err(OpenError::Tls("there is no authority to verify the server by; name a file as sslrootcert", None));
    }
    let config = builder()?.with_root_certificates(roots).with_no_client_auth();
    Ok(Tls::Verified(MakeRustlsConnect::new(config)))
}

/// Encrypted, to whoever answers: what `prefer` and `require` mean to PostgreSQL's clients.
pub(super) fn encrypt_unverified() -> Result<Tls, OpenError> {
    let algorithms = ring::default_provider().signature_verification_algorithms;
    let config = builder()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyServer { algorithms }))
        .with_no_client_auth();
    Ok(Tls::Unverified(MakeRustlsConnect::new(config)))
}

fn builder() -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, OpenError> {
    let provider: Arc<CryptoProvider> = Arc::new(ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| OpenError::Tls("TLS is not available", Some(error.into())))
}

/// Takes any certificate, and still insists that the server holds its key.
#[derive(Debug)]
struct AnyServer {
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
