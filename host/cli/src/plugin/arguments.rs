//! The arguments of the author's commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use intent_gateway_domain::id::IntentId;
use intent_gateway_registry::ArtifactName;
use intent_gateway_signing::PublicKey;

use crate::access::GatewayArgs;
use crate::values::parse_intent;

/// Longest fuzz or bench that may be asked for, seconds.
const SECONDS_MAX: f64 = 86_400.0;

/// Scaffold, build, check and look at contracts.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// Scaffold the crate of a new contract: it builds and passes its tests as it is.
    #[command(after_help = "The crate depends on the contract SDK by path: the one of the checkout that the current \
        folder or the new one lies in, or --sdk.\n\n\
        Example:\n  intent-gateway plugin new home.book_plumber && cd home-book-plumber && cargo test")]
    New(NewArgs),
    /// Build a contract's crate and write its component.
    #[command(after_help = "For contracts in Rust. Contracts in other languages are built by the tools of those \
        languages; every other command takes their components too.\n\n\
        Examples:\n  intent-gateway plugin build\n  \
        intent-gateway plugin build plugins/auto-book-ac-service --out contracts/ac.wasm")]
    Build(BuildArgs),
    /// Check all that a gateway checks before a version goes live, and fuzz it.
    #[command(after_help = "What brings the contract down is written to fuzz-<code>-<n>.json in the current folder; \
        the same component and seed give the same inputs again.\n\n\
        Examples:\n  intent-gateway plugin check target/contracts/auto-book-ac-service.wasm\n  \
        intent-gateway plugin check new.wasm --against old.wasm --fuzz-seconds 60\n  \
        intent-gateway plugin check new.wasm --gateway http://127.0.0.1:8080 --token \"$ADMIN\"")]
    Check(CheckArgs),
    /// Try the data-driven cases of a contract on its component.
    #[command(after_help = "The format of the cases: docs/case-files.md\n\n\
        Examples:\n  intent-gateway plugin test\n  \
        intent-gateway plugin test plugins/auto-book-ac-service --coverage\n  \
        intent-gateway plugin test my-contract/cases --component contract.wasm")]
    Test(TestArgs),
    /// Measure every entry point on the contract's own examples: times, and fuel.
    #[command(
        after_help = "Fuel is about one unit for each WebAssembly instruction that runs, the mean of the examples: the same \
        on every machine.\n\n\
        Examples:\n  intent-gateway plugin bench target/contracts/auto-book-ac-service.wasm\n  \
        intent-gateway plugin bench contract.wasm --json | jq '.entries[] | {entry, fuel}'"
    )]
    Bench(BenchArgs),
    /// Show what a component declares.
    #[command(after_help = "Examples:\n  intent-gateway plugin inspect target/contracts/auto-book-ac-service.wasm\n  \
        intent-gateway plugin inspect contract.wasm --json | jq .descriptor.ranking.weights")]
    Inspect(InspectArgs),
    /// Write the partner-facing page of a contract, in Markdown.
    #[command(after_help = "Example:\n  intent-gateway plugin docs contract.wasm --out docs/intents/my-intent.md")]
    Docs(DocsArgs),
    /// Make a key to sign contracts with, and print its public half for `contracts.trusted_keys`.
    #[command(
        after_help = "The file is readable by you alone. Keep it where no gateway and no build can read it but the one that \
        signs.\n\nExample:\n  intent-gateway plugin keygen release-2026.pem"
    )]
    Keygen(KeygenArgs),
    /// Sign a component: that it is this content, of this version of its intent. Earlier signatures stay.
    #[command(after_help = "Keys of other tools will do: openssl genpkey -algorithm ed25519 -out release.pem\n\n\
        Examples:\n  intent-gateway plugin sign plumber.wasm --key release-2026.pem\n  \
        intent-gateway plugin sign plumber.wasm --key release-2026.pem --out signed/plumber.wasm")]
    Sign(SignArgs),
    /// Verify who has signed a component.
    #[command(
        after_help = "Exit codes: 0 one of the keys has signed this very content, 1 none has, or a signature is false.\n\n\
        Example:\n  intent-gateway plugin verify plumber.wasm --key ed25519:GU9h4f3cHiVu3WzrYyfKLZtg1PLQbgBGFVQNFTANDVE="
    )]
    Verify(VerifyArgs),
    /// Push a component, with its signatures, to a registry or to a layout on disk.
    #[command(
        after_help = "NAME is oci://host/repository or oci-layout:folder, with :tag if wanted; without one the version is the tag. \
        Credentials are those of Docker or Podman (docs/registry.md).\n\n\
        Examples:\n  intent-gateway plugin push plumber.wasm oci://registry.example/contracts/plumber\n  \
        intent-gateway plugin push plumber.wasm oci-layout:contracts:stable"
    )]
    Push(PushArgs),
    /// Pull a component, with its signatures, from a registry or from a layout on disk.
    #[command(
        after_help = "Every digest is compared; who has signed it says `plugin verify`, and a gateway when it is loaded.\n\n\
        Examples:\n  intent-gateway plugin pull oci://registry.example/contracts/plumber:1.2.0 --out plumber.wasm\n  \
        intent-gateway plugin pull oci-layout:contracts:stable --out plumber.wasm"
    )]
    Pull(PullArgs),
    /// Show what a component would have made of receipts in a file, without any gateway.
    #[command(
        after_help = "FILE is what `receipt export` writes. Compared is with what was shown, or with what the component behind \
        --against makes of it (docs/compare.md).\n\n\
        Exit codes: 0 nothing is wrong, 1 the candidate fails, or something differs that its difference budget does not \
        announce.\n\n\
        Examples:\n  intent-gateway plugin compare new.wasm --receipts receipts.jsonl\n  \
        intent-gateway plugin compare new.wasm --receipts receipts.jsonl --against old.wasm --html comparison.html"
    )]
    Compare(CompareArgs),
    /// Make a call again in which a contract failed, and show what comes of it now.
    #[command(
        after_help = "FILE is a fault as `contract failures --save` writes it, or an input as `plugin check` does.\n\n\
        Exit codes: 0 the contract answers or refuses, 1 it fails again.\n\n\
        Examples:\n  intent-gateway plugin replay fault-17.json\n  \
        intent-gateway plugin replay fuzz-contract-trap-12.json target/contracts/auto-book-ac-service.wasm"
    )]
    Replay(ReplayArgs),
}

#[derive(Args, Debug)]
pub(crate) struct NewArgs {
    /// The intent, `<domain>.<name>` in lower snake case.
    #[arg(value_name = "DOMAIN.NAME", value_parser = parse_intent)]
    pub(crate) intent: IntentId,
    /// Folder to make; without it, the intent's name with dashes in the current folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
    /// Folder of the contract SDK (plugins/sdk of a checkout).
    #[arg(long, value_name = "DIR")]
    pub(crate) sdk: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct BuildArgs {
    /// Folder of the crate.
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    /// File to write; without it, contracts/<package>.wasm in cargo's target folder.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// The component.
    pub(crate) file: PathBuf,
    /// The component that it is to follow. Or name the running gateway that it is meant for, by --gateway or --profile: then
    /// it is compared with what is loaded there.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["gateway", "profile"])]
    pub(crate) against: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
    /// How long to fuzz, seconds; 0 leaves it out.
    #[arg(long, value_name = "N", default_value = "2", value_parser = parse_seconds)]
    pub(crate) fuzz_seconds: Duration,
    /// Seed of the fuzz; without one, the component's content decides.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// Folder of the contract, or of its cases; or the component, with the cases in ./cases.
    #[arg(value_name = "DIR|FILE", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// The component; without it, what `plugin build` wrote for the crate.
    #[arg(long, value_name = "FILE")]
    pub(crate) component: Option<PathBuf>,
    /// Also name every part of the contract's schemas that no case breaks; a gap counts as a failure.
    #[arg(long)]
    pub(crate) coverage: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// The component.
    pub(crate) file: PathBuf,
    /// How long to measure in all, seconds.
    #[arg(long, value_name = "N", default_value = "5", value_parser = parse_seconds)]
    pub(crate) seconds: Duration,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// The component.
    pub(crate) file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DocsArgs {
    /// The component.
    pub(crate) file: PathBuf,
    /// File to write; without it, the page is printed.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct KeygenArgs {
    /// File to write; it must not be there yet.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct SignArgs {
    /// The component.
    pub(crate) file: PathBuf,
    /// The private key, PKCS#8 in PEM.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    /// File to write; without it, the component's own.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// The component.
    pub(crate) file: PathBuf,
    /// A public key, as `plugin keygen` prints it; may be given several times.
    #[arg(long = "key", value_name = "KEY", required = true)]
    pub(crate) keys: Vec<PublicKey>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PushArgs {
    /// The component.
    pub(crate) file: PathBuf,
    /// Where to.
    #[arg(value_name = "NAME")]
    pub(crate) name: ArtifactName,
    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
}

#[derive(Args, Debug)]
pub(crate) struct PullArgs {
    /// What: with a tag or a digest.
    #[arg(value_name = "NAME")]
    pub(crate) name: ArtifactName,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
}

/// How a registry is asked.
#[derive(Args, Debug)]
pub(crate) struct RegistryArgs {
    /// A file of credentials as Docker keeps it, in place of the usual ones.
    #[arg(long, value_name = "FILE")]
    pub(crate) credentials_file: Option<PathBuf>,
    /// PEM file of authorities that are trusted beside the usual ones.
    #[arg(long, value_name = "FILE")]
    pub(crate) authorities_file: Option<PathBuf>,
    /// Speak plain HTTP also to other machines.
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// The component.
    #[arg(value_name = "CANDIDATE")]
    pub(crate) candidate: PathBuf,
    /// The receipts.
    #[arg(long, value_name = "FILE")]
    pub(crate) receipts: PathBuf,
    /// Compare with what this component makes of them, in place of what was shown.
    #[arg(long, value_name = "BASELINE")]
    pub(crate) against: Option<PathBuf>,
    /// Write the report as one page of HTML, with plots, to this file.
    #[arg(long, value_name = "PAGE")]
    pub(crate) html: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// The call, with what it was given.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The component; without it, what `plugin build` wrote for the crate in the current folder.
    #[arg(value_name = "COMPONENT")]
    pub(crate) component: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    if (0.0..=SECONDS_MAX).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(format!("expected 0 to {SECONDS_MAX}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds() {
        assert_eq!(parse_seconds("0"), Ok(Duration::ZERO));
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
        for bad in ["", "x", "-1", "NaN", "inf", "86401"] {
            assert!(parse_seconds(bad).is_err(), "{bad}");
        }
    }
}
