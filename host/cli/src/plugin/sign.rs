//! `plugin keygen`, `plugin sign` and `plugin verify`.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;

use anyhow::Context as _;
use intent_gateway_domain::limits::CONTRACT_MAX_BYTES;
use intent_gateway_kit::sign::{self, SignedFile};
use intent_gateway_kit::subject::Subject;
use intent_gateway_signing::SigningKey;

use super::arguments::{KeygenArgs, SignArgs, VerifyArgs};
use crate::outcome::{CommandError, Verdict, fail, print_json, usage};
use crate::{compiler, complain, files, print};

/// Bytes of a file with a key.
const KEY_MAX_BYTES: usize = 16 * 1024;

pub(super) fn make_key(arguments: &KeygenArgs) -> Result<Verdict, CommandError> {
    let KeygenArgs { file } = arguments;
    let (key, pem) = SigningKey::generate().map_err(fail)?;
    // Never in the place of another key, and never for others to read.
    let mut written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)
        .with_context(|| format!("cannot make {}", file.display()))
        .map_err(usage)?;
    let done = written.write_all(pem.as_bytes()).and_then(|()| written.sync_all());
    done.with_context(|| format!("cannot write {}", file.display())).map_err(fail)?;
    let public = key.public().map_err(fail)?;
    complain(&format!("the private key is in {}; its name is {}", file.display(), public.id()));
    print(&public.to_string());
    Ok(Verdict::Clean)
}

pub(super) fn sign_one(arguments: &SignArgs) -> Result<Verdict, CommandError> {
    let SignArgs { file, key, out } = arguments;
    let pem = files::read_bounded(key, KEY_MAX_BYTES).map_err(usage)?;
    let key = SigningKey::read(&String::from_utf8_lossy(&pem)).with_context(|| key.display().to_string());
    let key = key.map_err(usage)?;
    let subject = Subject::open(file, compiler()).map_err(usage)?;
    let SignedFile { bytes, statement, key } = sign::sign(&subject, &key).map_err(fail)?;
    let path = out.as_ref().unwrap_or(file);
    super::write_bytes(path, &bytes)?;
    complain(&format!("{} {} signed by {key}", statement.intent, statement.version));
    print(&path.display().to_string());
    Ok(Verdict::Clean)
}

pub(super) fn verify_one(arguments: &VerifyArgs) -> Result<Verdict, CommandError> {
    let VerifyArgs { file, keys, json } = arguments;
    let component = files::read_bounded(file, CONTRACT_MAX_BYTES).map_err(usage)?;
    let report = sign::verify(&component, keys).map_err(fail)?;
    if *json {
        print_json(&report)?;
    } else {
        print(&report.text());
    }
    Ok(Verdict::of(report.passed))
}
