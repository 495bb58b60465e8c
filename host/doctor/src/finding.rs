//! What a look has come to: in order, left out, or a code with what to do about it.

use std::fmt::Display;

use serde::Serialize;

/// What is looked at, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    Configuration,
    Keys,
    Places,
    Disk,
    Store,
    Clock,
    Contracts,
    Partners,
    Issuers,
    Registry,
    Mail,
    Gateway,
}

impl Area {
    /// All of them, in the order of the looks.
    pub const ALL: [Self; 12] = [
        Self::Configuration,
        Self::Keys,
        Self::Places,
        Self::Disk,
        Self::Store,
        Self::Clock,
        Self::Contracts,
        Self::Partners,
        Self::Issuers,
        Self::Registry,
        Self::Mail,
        Self::Gateway,
    ];

    /// As it is printed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::Keys => "keys",
            Self::Places => "places",
            Self::Disk => "disk",
            Self::Store => "store",
            Self::Clock => "clock",
            Self::Contracts => "contracts",
            Self::Partners => "partners",
            Self::Issuers => "issuers",
            Self::Registry => "registry",
            Self::Mail => "mail",
            Self::Gateway => "gateway",
        }
    }
}

/// How it stands with what was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// In order.
    Ok,
    /// Not looked at: there is nothing to look at, or it was not wanted.
    Skipped,
    /// A gateway serves so; somebody should look at it.
    Warning,
    /// Something does not work.
    Problem,
}

/// What can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    ConfigExposed,
    SecretFileOpen,
    OtherUser,
    KeyUnusable,
    DevelopmentKey,
    CertificateUnusable,
    CertificateEnding,
    NotWritable,
    DiskLow,
    DiskFull,
    DiskUnknown,
    StoreUnusable,
    StoreOld,
    StoreReadOnly,
    ClockDiffers,
    NoContract,
    FolderUnusable,
    ContractNotReady,
    NameUnresolved,
    PartnerUnreachable,
    PartnerOut,
    IssuerUnreachable,
    SourceUnreachable,
    MailUnreachable,
    MailToFile,
    GatewayAbsent,
    GatewayTroubled,
}

impl Code {
    /// All of them, in the order of docs/doctor.md.
    pub const ALL: [Self; 27] = [
        Self::ConfigExposed,
        Self::SecretFileOpen,
        Self::OtherUser,
        Self::KeyUnusable,
        Self::DevelopmentKey,
        Self::CertificateUnusable,
        Self::CertificateEnding,
        Self::NotWritable,
        Self::DiskLow,
        Self::DiskFull,
        Self::DiskUnknown,
        Self::StoreUnusable,
        Self::StoreOld,
        Self::StoreReadOnly,
        Self::ClockDiffers,
        Self::NoContract,
        Self::FolderUnusable,
        Self::ContractNotReady,
        Self::NameUnresolved,
        Self::PartnerUnreachable,
        Self::PartnerOut,
        Self::IssuerUnreachable,
        Self::SourceUnreachable,
        Self::MailUnreachable,
        Self::MailToFile,
        Self::GatewayAbsent,
        Self::GatewayTroubled,
    ];

    /// As it is printed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.facts().0
    }

    /// Whether something does not work, or only wants a look.
    #[must_use]
    pub fn state(self) -> State {
        self.facts().1
    }

    /// What to do about it, in one sentence or two.
    #[must_use]
    pub fn advice(self) -> &'static str {
        self.facts().2
    }

    fn facts(self) -> (&'static str, State, &'static str) {
        use State::{Problem, Warning};
        match self {
            Self::ConfigExposed => (
                "CONFIG_EXPOSED",
                Problem,
                "Change the setting as the message says; `serve` refuses to start until then.",
            ),
            Self::SecretFileOpen => ("SECRET_FILE_OPEN", Warning, "Take the rights of others away with `chmod 600`."),
            Self::OtherUser => (
                "OTHER_USER",
                Warning,
                "Run it as the user that the gateway runs as, for example with `sudo -u`: rights on files are others for this one.",
            ),
            Self::KeyUnusable => (
                "KEY_UNUSABLE",
                Problem,
                "Give the file to the user that the gateway runs as, readable by it alone, or name the key in `auth`.",
            ),
            Self::DevelopmentKey => (
                "DEVELOPMENT_KEY",
                Warning,
                "In production set `auth.signing_key` and `auth.master_key`; `intent-gateway init` writes a configuration with keys.",
            ),
            Self::CertificateUnusable => (
                "CERTIFICATE_UNUSABLE",
                Problem,
                "Put a certificate that is valid, and its key, where `server.tls_certificate` and `server.tls_key` say.",
            ),
            Self::CertificateEnding => (
                "CERTIFICATE_ENDING",
                Warning,
                "Renew it: a gateway that serves shows the new one within 30 seconds, without a restart.",
            ),
            Self::NotWritable => {
                ("NOT_WRITABLE", Problem, "Do what the message says; without this place the gateway does not start.")
            }
            Self::DiskLow => (
                "DISK_LOW",
                Warning,
                "Free space: receipts of rankings are not kept until then. `intent-gateway store size` says what takes it.",
            ),
            Self::DiskFull => (
                "DISK_FULL",
                Problem,
                "Free space at once: neither receipts nor findings are kept, and soon nothing is. `intent-gateway store size` says \
                 what takes it.",
            ),
            Self::DiskUnknown => ("DISK_UNKNOWN", Warning, "See why the operating system does not tell of this disk."),
            Self::StoreUnusable => (
                "STORE_UNUSABLE",
                Problem,
                "Start the database, or correct `store.url`; the message says what stands in the way.",
            ),
            Self::StoreOld => (
                "STORE_OLD",
                Warning,
                "Nothing was looked at in it. Make a backup with the release that serves now; `serve` brings the tables up to date.",
            ),
            Self::StoreReadOnly => (
                "STORE_READ_ONLY",
                Problem,
                "Make room, or take the database out of its read-only state: bookings and reports are refused until then.",
            ),
            Self::ClockDiffers => (
                "CLOCK_DIFFERS",
                Problem,
                "Let a time service set both clocks; signatures, tokens and what is kept for a time go by them.",
            ),
            Self::NoContract => (
                "NO_CONTRACT",
                Warning,
                "Load one with `intent-gateway contract load FILE`, or put it into the folder that `contracts.dir` names.",
            ),
            Self::FolderUnusable => (
                "FOLDER_UNUSABLE",
                Problem,
                "Make the folder that `contracts.dir` names, readable by the gateway's user.",
            ),
            Self::ContractNotReady => (
                "CONTRACT_NOT_READY",
                Problem,
                "`intent-gateway contract status` shows what each gateway has ready, and why not.",
            ),
            Self::NameUnresolved => (
                "NAME_UNRESOLVED",
                Problem,
                "Correct the name in the configuration, or see whether this machine reaches its name server.",
            ),
            Self::PartnerUnreachable => (
                "PARTNER_UNREACHABLE",
                Problem,
                "Searches go on without it. `intent-gateway partner probe ID` tells the partner, too, what was found.",
            ),
            Self::PartnerOut => (
                "PARTNER_OUT",
                Warning,
                "Nobody is routed there. `intent-gateway partner show ID` says since when and why.",
            ),
            Self::IssuerUnreachable => (
                "ISSUER_UNREACHABLE",
                Problem,
                "Tokens of this issuer are refused once its keys are not known any more. See to its address, and to the way there.",
            ),
            Self::SourceUnreachable => (
                "SOURCE_UNREACHABLE",
                Problem,
                "What serves goes on serving, and new versions are not seen. See to its address and to the credentials.",
            ),
            Self::MailUnreachable => (
                "MAIL_UNREACHABLE",
                Problem,
                "Codes to sign up with do not arrive, and other mail waits. See to `mail.host`, `mail.user` and `mail.password`.",
            ),
            Self::MailToFile => (
                "MAIL_TO_FILE",
                Warning,
                "No mail leaves this machine, which is for development: set `mail.mode = \"smtp\"` and `mail.host`.",
            ),
            Self::GatewayAbsent => (
                "GATEWAY_ABSENT",
                Warning,
                "Start it with `intent-gateway serve`, or name another address with --gateway.",
            ),
            Self::GatewayTroubled => (
                "GATEWAY_TROUBLED",
                Problem,
                "docs/errors.md says what the code means; docs/runbooks has a page for what it is alarmed by.",
            ),
        }
    }
}

/// What was found of one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub area: Area,
    /// How it stands.
    pub state: State,
    /// Stable; absent where all is in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// Which one, where there are several: a partner, a file, an intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// What was found. It may quote what others wrote.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<&'static str>,
}

impl Finding {
    pub(crate) fn ok(area: Area, message: impl Into<String>) -> Self {
        Self { area, state: State::Ok, code: None, about: None, message: message.into(), advice: None }
    }

    pub(crate) fn skipped(area: Area, why: impl Into<String>) -> Self {
        Self { state: State::Skipped, ..Self::ok(area, why) }
    }

    pub(crate) fn of(area: Area, code: Code, message: impl Into<String>) -> Self {
        let (name, state, advice) = code.facts();
        Self { state, code: Some(name), advice: Some(advice), ..Self::ok(area, message) }
    }

    pub(crate) fn about(self, about: impl Display) -> Self {
        Self { about: Some(about.to_string()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_code_is_there_once_and_says_what_to_do() {
        let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            assert!(code.state() >= State::Warning && code.advice().ends_with('.'), "{code:?}");
        }
        assert!(Area::ALL.is_sorted(), "areas are told in the order of the looks");
    }

    #[test]
    fn the_documentation_has_each_area_and_each_code_with_its_kind() {
        let docs = include_str!("../../../docs/doctor.md");
        let rows = |section: &str| {
            let section = docs.split("\n## ").find(|text| text.starts_with(section)).expect("a section");
            let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
            rows.map(|row| row.split(" | ").map(|cell| cell.trim_matches(['|', ' ', '`']).to_owned()).collect())
                .collect()
        };
        let areas: Vec<Vec<String>> = rows("What is looked at");
        assert_eq!(areas.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), Area::ALL.map(Area::as_str));
        let codes: Vec<Vec<String>> = rows("Codes");
        let kinds = |code: Code| if code.state() == State::Problem { "problem" } else { "warning" };
        let told: Vec<_> = codes.iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
        assert_eq!(told, Code::ALL.map(|code| (code.as_str(), kinds(code))));
    }
}
