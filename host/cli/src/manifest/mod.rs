//! `intent-gateway manifest`: what a partner does with its manifest file (spec 1, Manifest).
//!
//! | question | module |
//! |---|---|
//! | how a file is read, and on which line what stands | `file`, `yaml` |
//! | what is live | `catalogue` |
//! | what a gateway would say of the file | `check` |
//! | writing it for a business without a server | `phone` |
//! | sending it | `submit` |
//! | a dry run of a mapping | `trial` |
//!
//! Not here: any rule of a manifest. Those are the core's, and a gateway applies the same.

mod arguments;
mod catalogue;
mod check;
mod file;
mod phone;
mod submit;
mod trial;
mod yaml;

use std::process::ExitCode;

use intent_gateway_domain::id::PartnerId;

use self::arguments::CheckArgs;
pub(crate) use self::arguments::ManifestCommand;
use self::check::Expected;
use self::file::ManifestFile;
use crate::access;
use crate::outcome::{CommandError, Verdict, exit_code, print_json, usage};
use crate::print;
use crate::terminal::Palette;

/// Runs a command to its exit code.
pub(crate) fn run(command: &ManifestCommand) -> ExitCode {
    exit_code(match command {
        ManifestCommand::Check(arguments) => check_one(arguments),
        ManifestCommand::Phone(arguments) => phone::run(arguments),
        ManifestCommand::Submit(arguments) => submit::run(arguments),
        ManifestCommand::Try(arguments) => trial::run(arguments),
    })
}

fn check_one(arguments: &CheckArgs) -> Result<Verdict, CommandError> {
    let file = ManifestFile::read(&arguments.file).map_err(usage)?;
    let own = file.partner_id().and_then(|id| PartnerId::parse(id).ok());
    let (catalogue, of_token) = match &arguments.contracts {
        Some(folder) => (catalogue::of_folder(folder)?, None),
        None => {
            let (gateway, token) = arguments.gateway.open()?;
            let partner = access::account_of(&token);
            (catalogue::of_gateway(&gateway, &file)?, partner)
        }
    };
    let account = arguments.account.clone().or(of_token).or(own);
    let known = Expected { catalogue: &catalogue, account: account.as_ref(), base_url: arguments.base_url.as_deref() };
    let checked = check::check(&arguments.file.display().to_string(), &file, &known);
    if arguments.json {
        print_json(&checked)?;
    } else {
        print(&checked.text(Palette::of_stdout()));
    }
    Ok(Verdict::of(checked.accepted))
}
