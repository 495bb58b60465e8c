//! TLS at a listener: its certificate and key, the authorities of clients' certificates, and how all of them are replaced while it
//! serves.
//!
//! Clients of the platform team, partners and health checks come without a certificate. Where authorities are named, a certificate
//! that is shown must be of one of them, and a request with an orchestrator's token must come on a connection that has shown one
//! ([`Uncertified`]): a token that leaked is good for nobody else.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::digest::Digest;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;
use x509_cert::der::Decode as _;

/// What clients may speak, the better one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];
/// Largest file that is read, bytes.
const FILE_MAX_BYTES: u64 = 1024 * 1024;

/// Where a listener's certificate and key are, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and those between it and its root.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// Authorities of clients' certificates.
    pub client_ca: Option<PathBuf>,
}

/// The files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{} cannot be read", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file does not hold what it should, in PEM.
    #[error("{} holds no {what} in PEM", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
        /// Why not.
        #[source]
        source: pem::Error,
    },
    /// An authority of clients' certificates is none.
    #[error("{} holds no authority that can be used", path.display())]
    Authority {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rustls::Error,
    },
    /// Nothing can verify clients' certificates by these authorities.
    #[error("clients' certificates cannot be verified")]
    Verifier(#[source] VerifierBuilderError),
    /// The certificate does not say until when it is valid.
    #[error("{} holds a certificate that cannot be read", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: x509_cert::der::Error,
    },
    /// Certificate and key do not belong together, or cannot be used.
    #[error("the certificate cannot be used with the key")]
    Pair(#[source] rustls::Error),
}

/// A request on a connection whose client has shown no certificate, where orchestrators have to. It is among the extensions of the
/// request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncertified;

/// What a listener shows of itself, and asks of clients.
pub struct ListenerTls {
    files: TlsFiles,
    current: ArcSwap<Loaded>,
}

struct Loaded {
    /// Of all files.
    digest: Digest,
    /// Until when the certificate is valid.
    ends_at: Timestamp,
    acceptor: TlsAcceptor,
}

impl ListenerTls {
    /// Reads the files.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn open(files: TlsFiles) -> Result<Self, TlsError> {
        let current = ArcSwap::from_pointee(Loaded::read(&files)?);
        Ok(Self { files, current })
    }

    /// Reads the files again; whether they were others. Connections from now on are served with what they hold, and those that are open
    /// go on as they began.
    ///
    /// # Errors
    /// [`TlsError`]; then those of before serve on.
    pub fn read_again(&self) -> Result<bool, TlsError> {
        let loaded = Loaded::read(&self.files)?;
        let is_other = loaded.digest != self.current.load().digest;
        if is_other {
            self.current.store(Arc::new(loaded));
        }
        Ok(is_other)
    }

    /// Until when the certificate that is shown is valid. Clients refuse it after that.
    #[must_use]
    pub fn ends_at(&self) -> Timestamp {
        self.current.load().ends_at
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.current.load().acceptor.clone()
    }

    /// Whether orchestrators have to show a certificate.
    pub(crate) fn asks_orchestrators(&self) -> bool {
        self.files.client_ca.is_some()
    }
}

impl Loaded {
    fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let TlsFiles { certificate, key, client_ca } = files;
        let (certificate_text, key_text) = (read(certificate)?, read(key)?);
        let chain = parse_certificates(certificate, &certificate_text)?;
        let ends_at = read_end(certificate, &chain)?;
        let failed = |source| TlsError::Pem { path: key.clone(), what: "key", source };
        let key = PrivateKeyDer::from_pem_slice(&key_text).map_err(failed)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone());
        // These versions are what the provider is made for.
        let builder = builder.with_safe_default_protocol_versions().map_err(TlsError::Pair)?;
        let mut all = [Digest::of(&certificate_text), Digest::of(&key_text)].map(|digest| digest.to_string()).concat();
        let builder = match client_ca {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let text = read(path)?;
                all.push_str(&Digest::of(&text).to_string());
                let mut roots = RootCertStore::empty();
                for authority in parse_certificates(path, &text)? {
                    let failed = |source| TlsError::Authority { path: path.clone(), source };
                    roots.add(authority).map_err(failed)?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                let verifier = verifier.allow_unauthenticated().build().map_err(TlsError::Verifier)?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let mut config = builder.with_single_cert(chain, key).map_err(TlsError::Pair)?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(Self { digest: Digest::of(all.as_bytes()), ends_at, acceptor: TlsAcceptor::from(Arc::new(config)) })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let failed = |source| TlsError::File { path: path.to_owned(), source };
    let bytes = std::fs::metadata(path).map_err(failed)?.len();
    if bytes > FILE_MAX_BYTES {
        return Err(failed(io::Error::other(format!("it has more than {FILE_MAX_BYTES} bytes"))));
    }
    std::fs::read(path).map_err(failed)
}

/// Until when the first certificate of a chain is valid, which is the listener's own.
fn read_end(path: &Path, chain: &[CertificateDer<'_>]) -> Result<Timestamp, TlsError> {
    let failed = |source| TlsError::Certificate { path: path.to_owned(), source };
    let own = chain.first().map_or(&[][..], |own| own);
    let own = x509_cert::Certificate::from_der(own).map_err(failed)?;
    let end = own.tbs_certificate.validity.not_after.to_unix_duration();
    Ok(Timestamp::from_ms(u64::try_from(end.as_millis()).unwrap_or(u64::MAX)))
}

/// The certificates of a file, of which there is one at least.
fn parse_certificates(path: &Path, text: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let failed = |source| TlsError::Pem { path: path.to_owned(), what: "certificate", source };
    let found: Vec<_> = CertificateDer::pem_slice_iter(text).collect::<Result<_, _>>().map_err(failed)?;
    if found.is_empty() { Err(failed(pem::Error::NoItemsFound)) } else { Ok(found) }
}
