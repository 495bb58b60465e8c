//! How many files the process may have open: connections, and the code of each contract that is ready.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the bound to what the system allows. The usual one, 1,024, is for programs that wait by `select`, which this one does not.
pub(crate) fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => tracing::debug!(before = current, now = maximum, "more files may be open"),
        Err(error) => tracing::warn!(%error, limit = current, "the bound of open files cannot be raised"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_files_may_be_open_as_the_system_allows() {
        raise_limit();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }
}
