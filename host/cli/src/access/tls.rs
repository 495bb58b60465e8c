//! How a command and a gateway show each other over TLS who they are: files in PEM.

use std::path::{Path, PathBuf};

use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

/// The files. What is not named is as usual: authorities of the web vouch for the gateway, and the command shows no certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    /// Authorities that vouch for the gateway, in place of the web's.
    pub(crate) authorities: Option<PathBuf>,
    /// What the command shows of itself.
    pub(crate) client: Option<ClientFiles>,
}

/// A client's certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientFiles {
    /// The certificate, and after it those up to the authority.
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{what} in {} cannot be used: {problem}", .path.display())]
pub(crate) struct TlsFileError {
    /// What it should hold.
    what: &'static str,
    path: PathBuf,
    problem: String,
}

impl ClientFiles {
    /// One of the two is of no use without the other.
    pub(crate) fn pair(certificate: Option<PathBuf>, key: Option<PathBuf>) -> Result<Option<Self>, &'static str> {
        match (certificate, key) {
            (Some(certificate), Some(key)) => Ok(Some(Self { certificate, key })),
            (None, None) => Ok(None),
            (Some(_), None) => Err("a client's certificate is of no use without its key"),
            (None, Some(_)) => Err("a client's key is of no use without its certificate"),
        }
    }
}

impl TlsFiles {
    /// These, and where one is not named, that of the others.
    pub(crate) fn or(self, others: Self) -> Self {
        Self { authorities: self.authorities.or(others.authorities), client: self.client.or(others.client) }
    }

    /// Reads them.
    pub(crate) fn read(&self) -> Result<TlsConfig, TlsFileError> {
        let mut config = TlsConfig::builder();
        if let Some(path) = &self.authorities {
            config = config.root_certs(RootCerts::new_with_certs(&read_certificates("the authorities", path)?));
        }
        let client = self.client.as_ref().map(read_client).transpose()?;
        Ok(config.client_cert(client).build())
    }
}

fn read_client(ClientFiles { certificate, key }: &ClientFiles) -> Result<ClientCert, TlsFileError> {
    let chain = read_certificates("the client's certificate", certificate)?;
    Ok(ClientCert::new_with_certs(&chain, read_key(key)?))
}

fn read_certificates(what: &'static str, path: &Path) -> Result<Vec<Certificate<'static>>, TlsFileError> {
    let unusable = |problem: String| TlsFileError { what, path: path.to_owned(), problem };
    let text = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| unusable(error.to_string()))? {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err(unusable("it has no certificate in PEM".to_owned()));
    }
    Ok(certificates)
}

fn read_key(path: &Path) -> Result<PrivateKey<'static>, TlsFileError> {
    let unusable = |problem: String| TlsFileError { what: "the client's key", path: path.to_owned(), problem };
    let text = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
    let key = parse_pem(&text).find_map(|item| match item {
        Ok(PemItem::PrivateKey(key)) => Some(key),
        _ => None,
    });
    key.ok_or_else(|| unusable("it has no private key in PEM".to_owned()))
}
