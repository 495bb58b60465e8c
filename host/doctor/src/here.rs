//! What shows on this machine: the configuration, the keys, the files, the disks.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use intent_gateway_config::{Config, KeyError, check_writable, list_keys};
use intent_gateway_domain::clock::Timestamp;
use intent_gateway_domain::error::chain;
use intent_gateway_domain::growth::Shed;
use intent_gateway_domain::limits::DAY_MS;
use intent_gateway_http::tls::ListenerTls;

use crate::finding::{Area, Code, Finding};

/// A certificate that ends sooner than in so many days is to be renewed.
const CERTIFICATE_DAYS: u64 = 14;
/// Bytes in a MiB.
const MIB: u64 = 1024 * 1024;

/// What the file, the environment and the flags say, and whether a gateway may be served so.
pub(crate) fn check_configuration(config: &Config) -> Vec<Finding> {
    let mut found: Vec<Finding> = config
        .secret_files
        .warnings
        .iter()
        .map(|warning| Finding::of(Area::Configuration, Code::SecretFileOpen, warning))
        .collect();
    if let Err(error) = config.check_exposure() {
        found.push(Finding::of(Area::Configuration, Code::ConfigExposed, error.to_string()));
    }
    if found.is_empty() {
        found.push(Finding::ok(Area::Configuration, "every setting can be used"));
    }
    found
}

/// The gateway's own keys.
pub(crate) fn check_keys(config: &Config) -> Vec<Finding> {
    match list_keys(config) {
        Err(KeyError::Missing(path)) => {
            let why = format!("{} is not there: a gateway makes it when it first starts", path.display());
            vec![Finding::skipped(Area::Keys, why)]
        }
        Err(error) => vec![Finding::of(Area::Keys, Code::KeyUnusable, error.to_string())],
        Ok(keys) => {
            let auth = &config.auth;
            let made = [("auth.signing_key", &auth.signing_key), ("auth.master_key", &auth.master_key)];
            let made = made.into_iter().filter(|(_, key)| key.is_none()).map(|(setting, _)| {
                let message = format!("`{setting}` is not set: the key is one that was made in the state folder");
                Finding::of(Area::Keys, Code::DevelopmentKey, message).about(setting)
            });
            let former = keys.iter().filter(|key| !key.is_current).count();
            let usable = format!("{} in use, {former} former", keys.len() - former);
            std::iter::once(Finding::ok(Area::Keys, usable)).chain(made).collect()
        }
    }
}

/// The certificate that the listener shows, where it serves over TLS.
pub(crate) fn check_certificate(config: &Config, now: Timestamp) -> Option<Finding> {
    let files = config.server.tls()?;
    let file = files.certificate.display().to_string();
    let found = match ListenerTls::open(files) {
        Err(error) => Finding::of(Area::Keys, Code::CertificateUnusable, chain(&error)),
        Ok(tls) => judge_end(tls.ends_at(), now),
    };
    Some(found.about(&file))
}

fn judge_end(ends_at: Timestamp, now: Timestamp) -> Finding {
    let days = ends_at.ms_since(now) / DAY_MS;
    if now >= ends_at {
        return Finding::of(Area::Keys, Code::CertificateUnusable, "the certificate has ended");
    }
    match days {
        ..CERTIFICATE_DAYS => {
            Finding::of(Area::Keys, Code::CertificateEnding, format!("the certificate ends in {days} days"))
        }
        _ => Finding::ok(Area::Keys, format!("the certificate is valid for {days} days")),
    }
}

/// The places that a gateway writes to.
pub(crate) fn check_places(config: &Config) -> Vec<Finding> {
    let state = &config.state_dir;
    let Ok(folder) = std::fs::metadata(state) else {
        let why = format!("the state folder {} is not there: a gateway makes it when it first starts", state.display());
        return vec![Finding::skipped(Area::Places, why)];
    };
    let mut found = Vec::new();
    let own = rustix::process::geteuid().as_raw();
    if folder.uid() != own {
        let message = format!("the state folder belongs to user {}, and this command runs as {own}", folder.uid());
        found.push(Finding::of(Area::Places, Code::OtherUser, message));
    }
    found.push(match check_writable(config) {
        Ok(()) => Finding::ok(Area::Places, "the state folder, the database's folder and the anchors take writes"),
        Err(error) => Finding::of(Area::Places, Code::NotWritable, error.to_string()),
    });
    found
}

/// The room on the disks, against what a gateway sheds at.
pub(crate) fn check_disks(config: &Config) -> Vec<Finding> {
    let database = config.store.location(&config.state_dir).ok().and_then(|at| at.folder().map(Path::to_owned));
    let mut folders = vec![("state", config.state_dir.clone())];
    folders.extend(database.filter(|folder| *folder != config.state_dir).map(|folder| ("store", folder)));
    let look = |(place, folder): (&str, std::path::PathBuf)| {
        // What is not there yet will be on the disk of the nearest folder that is.
        let there = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
        match rustix::fs::statvfs(there) {
            Ok(disk) => judge_room(config, place, &folder, disk.f_bavail.saturating_mul(disk.f_frsize)),
            Err(error) => {
                Finding::of(Area::Disk, Code::DiskUnknown, format!("{}: {}", folder.display(), chain(&error)))
                    .about(place)
            }
        }
    };
    folders.into_iter().map(look).collect()
}

fn judge_room(config: &Config, place: &str, folder: &Path, free: u64) -> Finding {
    let message = format!("{} MiB are free at {}", free / MIB, folder.display());
    match config.evidence.thresholds().judge(Shed::Nothing, free) {
        Shed::Nothing => Finding::ok(Area::Disk, message),
        Shed::Receipts => Finding::of(Area::Disk, Code::DiskLow, message),
        Shed::ReceiptsAndFindings => Finding::of(Area::Disk, Code::DiskFull, message),
    }
    .about(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::State;

    fn config(state: &Path) -> Config {
        Config { state_dir: state.to_owned(), ..Config::default() }
    }

    #[test]
    fn room_is_judged_by_what_a_gateway_sheds_at() {
        let config = config(Path::new("/state"));
        let thresholds = config.evidence.thresholds();
        let found = |free| judge_room(&config, "state", Path::new("/state"), free);
        assert_eq!(found(u64::MAX).state, State::Ok);
        assert_eq!(found(thresholds.receipts - 1).code, Some("DISK_LOW"));
        let full = found(thresholds.findings - 1);
        assert_eq!((full.code, full.state), (Some("DISK_FULL"), State::Problem));
    }

    #[test]
    fn a_certificate_is_to_be_renewed_before_its_end() {
        let day = |days: u64| Timestamp::from_ms((100 + days) * DAY_MS);
        let code = |ends_at| judge_end(ends_at, day(0)).code;
        assert_eq!(code(day(14)), None);
        assert_eq!(code(Timestamp::from_ms(day(14).as_ms() - 1)), Some("CERTIFICATE_ENDING"));
        assert_eq!(code(day(0)), Some("CERTIFICATE_UNUSABLE"));
        assert_eq!(check_certificate(&config(Path::new("/state")), day(0)), None, "there is none without TLS");
    }

    #[test]
    fn a_gateway_that_never_started_is_no_fault() {
        let folder = tempfile::tempdir().expect("a folder");
        let config = config(&folder.path().join("state"));
        for found in [check_keys(&config), check_places(&config)] {
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].state, State::Skipped, "{found:?}");
        }
        assert_eq!(check_disks(&config)[0].state, State::Ok, "the disk is that of the folder above");
        assert!(!config.state_dir.exists(), "nothing was made");
    }

    #[test]
    fn a_file_in_the_place_of_a_folder_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        std::fs::write(&state, "").expect("written");
        let found = check_places(&config(&state));
        assert_eq!(found[0].code, Some("NOT_WRITABLE"), "{found:?}");
        assert!(found[0].message.contains(&state.display().to_string()), "{found:?}");
    }
}
