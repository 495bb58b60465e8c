//! Whether memory of this process can be swapped out.
//!
//! Between two calls the engine clears what the first has written. Where the kernel tells which pages those are, it asks for
//! them instead of clearing everything, and asks for pages that are present: one that was swapped out meanwhile is not among
//! them, and the next call in its place would read what the one before wrote there (wasmtime 48, its pull request 14357). So the
//! kernel is not asked where there is swap.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How often it is looked whether swap was added.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Whether there is swap that this process may use. Where that cannot be read, there may be.
#[must_use]
pub(crate) fn may_be_used() -> bool {
    has_devices(fs::read_to_string("/proc/swaps")) && !is_forbidden(Path::new("/"))
}

/// Whether a list of swap devices has any, after its head. A kernel without swap has no such list.
fn has_devices(list: io::Result<String>) -> bool {
    match list {
        Ok(list) => list.lines().skip(1).any(|line| !line.trim().is_empty()),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Whether the control group of this process, or one above it, may swap nothing, as it is with containers as a rule.
fn is_forbidden(root: &Path) -> bool {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let Some(group) = groups.lines().find_map(|line| line.strip_prefix("0::/")) else { return false };
    let top = root.join("sys/fs/cgroup");
    let own = top.join(group);
    own.ancestors()
        .take_while(|folder| folder.starts_with(&top))
        .any(|folder| fs::read_to_string(folder.join("memory.swap.max")).is_ok_and(|most| most.trim() == "0"))
}

/// Tells when swap is added under an engine that asks the kernel, for ever.
pub(crate) async fn watch(shutdown: CancellationToken) {
    let watching = async {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if may_be_used() {
                tracing::error!(
                    "SWAP WAS ADDED while the gateway runs: what a call of a contract left in memory may reach the next one. \
                     Restart the gateway, or switch the swap off"
                );
                return;
            }
        }
    };
    // Either the end, or it is told.
    let _ = shutdown.run_until_cancelled(watching).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_with_a_head_alone_has_no_swap() {
        let head = "Filename\tType\tSize\tUsed\tPriority\n";
        assert!(!has_devices(Ok(head.to_owned())));
        assert!(has_devices(Ok(format!("{head}/dev/zram0 partition 1 0 100\n"))));
        assert!(!has_devices(Err(io::ErrorKind::NotFound.into())));
        assert!(has_devices(Err(io::ErrorKind::PermissionDenied.into())), "nobody knows");
    }

    #[test]
    fn a_control_group_forbids_swap_for_those_below_it() {
        let root = tempfile::tempdir().expect("a folder");
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("within the folder")).expect("writable");
            fs::write(path, text).expect("writable");
        };
        put("proc/self/cgroup", "4:memory:/old\n0::/pods/one\n");
        assert!(!is_forbidden(root.path()), "nothing is said");
        put("sys/fs/cgroup/pods/one/memory.swap.max", "max\n");
        assert!(!is_forbidden(root.path()));
        put("sys/fs/cgroup/pods/memory.swap.max", "0\n");
        assert!(is_forbidden(root.path()));
        put("proc/self/cgroup", "4:memory:/pods/one\n");
        assert!(!is_forbidden(root.path()), "a group of the older kind says nothing of it");
    }
}
