//! `intent-gateway partner document`: what a business uploads for its review, and how the platform team reads it.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand};
use http::Method;
use intent_gateway_api::documents::{DocumentBody, DocumentList};
use intent_gateway_domain::id::PartnerId;
use intent_gateway_onboarding::compliance::{DOCUMENT_MAX_BYTES, DocumentKind, MediaType};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::arguments::Common;
use super::{open, open_for, show, tell};
use crate::access::parse_partner;
use crate::outcome::{CommandError, Verdict, fail, print_json, usage};
use crate::print;
use crate::terminal::{Palette, harmless};

/// A document is for whoever fetched it, and for nobody else on the machine.
const FILE_MODE: u32 = 0o600;

/// Upload documents for the review, list and remove them; read them, as the platform team.
#[derive(Debug, Subcommand)]
pub(crate) enum DocumentCommand {
    /// Upload a document: PDF, PNG or JPEG, at most 5 MiB.
    #[command(
        after_help = "`partner status` names the kinds that are wanted, under `Checklist`. The same file once more makes no \
        second document.\n\n\
        Examples:\n  intent-gateway partner document add licence.pdf --kind shop\n  \
        intent-gateway partner document add new-scan.png --kind shop --replace doc_0123456789abcdef"
    )]
    Add(AddArgs),
    /// List the documents of an account.
    #[command(after_help = "Example:\n  intent-gateway partner document list")]
    List(ListArgs),
    /// Remove a document, as long as no decision hangs on it.
    #[command(after_help = "Example:\n  intent-gateway partner document remove doc_0123456789abcdef")]
    Remove(RemoveArgs),
    /// Read a document into a file, as the platform team. The audit log records it.
    #[command(
        after_help = "Example:\n  intent-gateway partner document fetch ptr_0123456789abcdef doc_0123456789abcdef \
        --output licence.pdf"
    )]
    Fetch(FetchArgs),
}

#[derive(Args, Debug)]
pub(crate) struct AddArgs {
    /// The file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What it is.
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    kind: DocumentKind,
    /// The document in whose place it comes.
    #[arg(long, value_name = "DOCUMENT", value_parser = parse_document)]
    replace: Option<String>,
    /// The account; without it, the one of a partner's token.
    #[arg(long, value_name = "ID", value_parser = parse_partner)]
    account: Option<PartnerId>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// The account; without it, the one of a partner's token.
    #[arg(long, value_name = "ID", value_parser = parse_partner)]
    account: Option<PartnerId>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct RemoveArgs {
    /// The document.
    #[arg(value_name = "DOCUMENT", value_parser = parse_document)]
    document: String,
    /// The account; without it, the one of a partner's token.
    #[arg(long, value_name = "ID", value_parser = parse_partner)]
    account: Option<PartnerId>,
    #[command(flatten)]
    common: Common,
}

#[derive(Args, Debug)]
pub(crate) struct FetchArgs {
    /// The account.
    #[arg(value_name = "ID", value_parser = parse_partner)]
    id: PartnerId,
    /// The document.
    #[arg(value_name = "DOCUMENT", value_parser = parse_document)]
    document: String,
    /// The file to write; it must not be there yet.
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    common: Common,
}

/// Runs a command.
pub(super) fn run(command: &DocumentCommand) -> Result<Verdict, CommandError> {
    match command {
        DocumentCommand::Add(arguments) => add(arguments),
        DocumentCommand::List(arguments) => list(arguments),
        DocumentCommand::Remove(arguments) => remove(arguments),
        DocumentCommand::Fetch(arguments) => fetch(arguments),
    }
}

fn route(account: &PartnerId) -> String {
    format!("/api/v1/business/tier1/accounts/{account}/documents")
}

fn add(arguments: &AddArgs) -> Result<Verdict, CommandError> {
    let AddArgs { file, kind, replace, account, common } = arguments;
    let (bytes, media_type) = read(file)?;
    let (gateway, account) = open_for(common, account.as_ref())?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let query = format!("kind={}&name={}", kind.as_str(), utf8_percent_encode(&name, NON_ALPHANUMERIC));
    let (method, path) = match replace {
        None => (Method::POST, route(&account)),
        Some(document) => (Method::PUT, format!("{}/{document}", route(&account))),
    };
    let answer: Result<Value, _> = gateway.send_file(method, &format!("{path}?{query}"), media_type.as_str(), &bytes);
    tell(answer, common.json, |document: &DocumentBody, _: Palette| {
        format!("kept as {}: {}, {} bytes", document.id, harmless(&document.file_name), document.size_bytes)
    })?;
    Ok(Verdict::Clean)
}

/// A file with its form, which its first bytes tell.
fn read(file: &Path) -> Result<(Vec<u8>, MediaType), CommandError> {
    let unreadable = || format!("cannot read {}", file.display());
    let size = std::fs::metadata(file).with_context(unreadable).map_err(usage)?.len();
    if size > DOCUMENT_MAX_BYTES as u64 {
        return Err(usage(anyhow!("{} has {size} bytes, more than {DOCUMENT_MAX_BYTES}", file.display())));
    }
    let bytes = std::fs::read(file).with_context(unreadable).map_err(usage)?;
    let form = MediaType::ALL.into_iter().find(|form| form.fits(&bytes));
    let form = form.ok_or_else(|| usage(anyhow!("{} is no PDF, PNG or JPEG", file.display())))?;
    Ok((bytes, form))
}

fn list(arguments: &ListArgs) -> Result<Verdict, CommandError> {
    let ListArgs { account, common } = arguments;
    let (gateway, account) = open_for(common, account.as_ref())?;
    tell(gateway.get(&route(&account)), common.json, |list: &DocumentList, _: Palette| {
        show::documents(&list.documents)
    })?;
    Ok(Verdict::Clean)
}

fn remove(arguments: &RemoveArgs) -> Result<Verdict, CommandError> {
    let RemoveArgs { document, account, common } = arguments;
    let (gateway, account) = open_for(common, account.as_ref())?;
    let answer = gateway.delete(&format!("{}/{document}", route(&account)));
    tell(answer.map(|()| json!({"removed": document})), common.json, |_: &Value, _: Palette| {
        format!("{document} is removed")
    })?;
    Ok(Verdict::Clean)
}

fn fetch(arguments: &FetchArgs) -> Result<Verdict, CommandError> {
    let FetchArgs { id, document, output, common } = arguments;
    let answer = open(common)?.get_file(&format!("/api/v1/admin/accounts/{id}/documents/{document}"));
    let bytes = answer.map_err(fail)?;
    // Nothing that is there is written over.
    let file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(output);
    let written = file.and_then(|mut file| file.write_all(&bytes));
    written.with_context(|| format!("cannot write {}", output.display())).map_err(usage)?;
    if common.json {
        print_json(&json!({"file": output, "bytes": bytes.len()}))?;
    } else {
        print(&format!("{}: {} bytes", output.display(), bytes.len()));
    }
    Ok(Verdict::Clean)
}

fn parse_kind(text: &str) -> Result<DocumentKind, String> {
    DocumentKind::parse(text).ok_or_else(|| {
        let kinds = DocumentKind::ALL.map(DocumentKind::as_str).join(", ");
        format!("the kinds of documents are: {kinds}")
    })
}

/// A document's identifier goes into a path.
fn parse_document(text: &str) -> Result<String, String> {
    let fits = text.starts_with("doc_") && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if fits { Ok(text.to_owned()) } else { Err("a document's identifier begins with `doc_`".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_files_first_bytes_tell_its_form() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("written");
            path
        };
        let (bytes, form) = read(&file("scan.txt", b"%PDF-1.7 x")).expect("read");
        assert_eq!((bytes.as_slice(), form), (&b"%PDF-1.7 x"[..], MediaType::Pdf));
        let large = file("large.pdf", &vec![b'%'; DOCUMENT_MAX_BYTES + 1]);
        for bad in [large, file("page.pdf", b"<html>"), folder.path().join("none.pdf")] {
            assert!(matches!(read(&bad), Err(CommandError::Usage(_))), "{bad:?}");
        }
    }

    #[test]
    fn what_goes_into_a_path_is_an_identifier() {
        assert!(parse_document("doc_0123456789abcdef").is_ok());
        for bad in ["", "ptr_1", "doc_1/../x", "doc_1?x"] {
            assert!(parse_document(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_kind("shop"), Ok(DocumentKind::Shop));
        assert!(parse_kind("passport").is_err_and(|said| said.contains("rera")));
    }
}
