//! The files of Docker and Podman, and their helpers.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use docker_credential::{CredentialRetrievalError, DockerCredential};
use intent_gateway_domain::secret::Secret;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{name, told};
use crate::credentials::{Login, read_outcome};
use crate::{CredentialError, CredentialFiles, Credentials, Location};

/// `robot:s3cret` and `other:s3cret`.
const ROBOT: &str = "cm9ib3Q6czNjcmV0";
const OTHER: &str = "b3RoZXI6czNjcmV0";

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn write(folder: &TempDir, file: &str, content: &str) -> PathBuf {
    let path = folder.path().join(file);
    std::fs::write(&path, content).expect("written");
    path
}

/// Who signs in to a repository, or why that is not known.
async fn who(paths: Vec<PathBuf>, of: &str) -> String {
    let name = name(of);
    let Location::Repository(repository) = name.location() else { panic!("it is in a registry") };
    match Credentials::Files(CredentialFiles::new(paths)).find(repository).await {
        Ok(Login::Anonymous) => "nobody".to_owned(),
        Ok(Login::Password { user, password }) => format!("{user}:{}", password.expose()),
        Ok(Login::Identity(token)) => format!("identity {}", token.expose()),
        Ok(Login::Token(_)) => "a token".to_owned(),
        Err(error) => {
            let told = told(&error);
            assert!(!told.contains("s3cret"), "{told}");
            format!("{error:?}").split(['(', ' ']).next().unwrap_or_default().to_owned()
        }
    }
}

#[tokio::test]
async fn the_closest_credentials_of_a_file_count() {
    let folder = folder();
    let auth = |text: &str| json!({"auth": text});
    let config: Value = json!({"auths": {
        "registry.example": auth(ROBOT),
        "registry.example/team": auth(OTHER),
        "https://index.docker.io/v1/": auth(ROBOT),
        "127.0.0.1:5000": {"auth": "PHRva2VuPjo=", "identitytoken": "t"},
    }});
    let file = write(&folder, "config.json", &config.to_string());
    for (of, expected) in [
        ("oci://registry.example/a", "robot:s3cret"),
        ("oci://registry.example/team/a", "other:s3cret"),
        ("oci://registry.example/teams/a", "robot:s3cret"),
        ("oci://registry.example:5000/a", "nobody"),
        ("oci://127.0.0.1:5000/a", "identity t"),
        ("oci://docker.io/a/b", "robot:s3cret"),
        ("oci://elsewhere.example/a", "nobody"),
    ] {
        assert_eq!(who(vec![file.clone()], of).await, expected, "{of}");
    }
}

#[tokio::test]
async fn the_first_file_that_has_any_counts() {
    let folder = folder();
    let auths = |text: &str| json!({"auths": {"registry.example": {"auth": text}}}).to_string();
    let missing = folder.path().join("missing.json");
    let none = write(&folder, "none.json", "{}");
    let (one, two) = (write(&folder, "one.json", &auths(ROBOT)), write(&folder, "two.json", &auths(OTHER)));
    let of = "oci://registry.example/a";
    assert_eq!(who(vec![missing.clone(), none.clone(), two, one], of).await, "other:s3cret");
    assert_eq!(who(vec![missing, none], of).await, "nobody");
}

#[tokio::test]
async fn files_that_cannot_be_read_are_told_without_what_they_hold() {
    let folder = folder();
    let of = "oci://registry.example/a";
    let garbled = |auth: &str| json!({"auths": {"registry.example": {"auth": auth, "x": "s3cret"}}}).to_string();
    for (file, content, expected) in [
        ("broken.json", "{\"auths\": s3cret".to_owned(), "NotRead"),
        ("garbled.json", garbled("!s3cret!"), "Garbled"),
        ("colon.json", garbled("czNjcmV0"), "Garbled"),
        ("large.json", format!("{{}}{}", " ".repeat(1024 * 1024)), "TooLarge"),
        ("helper.json", json!({"credsStore": "no-such-helper-s3cret"}).to_string(), "Helper"),
    ] {
        assert_eq!(who(vec![write(&folder, file, &content)], of).await, expected, "{file}");
    }
    assert_eq!(who(vec![folder.path().to_owned()], of).await, "File", "a folder");
}

#[test]
fn a_helper_that_has_none_is_told_from_one_that_failed() {
    let failed = |stdout: &str| CredentialRetrievalError::HelperFailure {
        helper: "docker-credential-x".to_owned(),
        stdout: stdout.to_owned(),
        stderr: "s3cret".to_owned(),
    };
    let read = |outcome| read_outcome(Path::new("config.json"), outcome);
    // In the words of Docker's own helpers.
    let none = read(Err(failed("credentials not found in native keychain\n")));
    assert!(matches!(none, Ok(None)), "{none:?}");
    for error in [failed("s3cret"), failed(""), CredentialRetrievalError::MalformedHelperResponse] {
        let error = read(Err(error)).expect_err("it failed");
        assert!(matches!(error, CredentialError::Helper(_)) && !told(&error).contains("s3cret"), "{error}");
    }
    let token = read(Ok(DockerCredential::IdentityToken("t".to_owned())));
    assert!(matches!(token, Ok(Some(Login::Identity(_)))));
}

#[test]
fn variables_name_the_files() {
    let files = |variables: &[(&str, &str)]| {
        let variables: HashMap<String, OsString> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
        CredentialFiles::by_environment(|name| variables.get(name).cloned())
    };
    let paths = |paths: &[&str]| CredentialFiles::new(paths.iter().map(PathBuf::from).collect());
    let (docker, podman) = ("/home/ann/.docker/config.json", "/run/user/1/containers/auth.json");
    let usual = [("HOME", "/home/ann"), ("XDG_RUNTIME_DIR", "/run/user/1")];
    assert_eq!(files(&usual), paths(&[docker, podman]));
    assert_eq!(files(&[("DOCKER_CONFIG", "/d"), usual[0], usual[1]]), paths(&["/d/config.json", podman]));
    assert_eq!(files(&[("REGISTRY_AUTH_FILE", "/r.json"), usual[0], usual[1]]), paths(&[docker, "/r.json"]));
    assert_eq!(files(&[("DOCKER_CONFIG", ""), usual[0]]), paths(&[docker]));
    assert_eq!(files(&[]), paths(&[]));
    assert!(CredentialFiles::of_this_user().paths().iter().all(|path| Path::new(path).file_name().is_some()));
}

#[test]
fn secrets_are_not_shown() {
    let password = Credentials::Password { user: "robot".to_owned(), password: Secret::new("s3cret") };
    let token = Credentials::Token(Secret::new("s3cret"));
    assert!(!format!("{password:?} {token:?}").contains("s3cret"));
    let shown = format!("{:?}", [Login::Identity(Secret::new("s3cret")), Login::Token(Secret::new("s3cret"))]);
    assert!(!shown.contains("s3cret"));
}
