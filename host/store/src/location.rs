//! Where a database is: a file for SQLite, an address for PostgreSQL.

use std::fmt;
use std::path::{Path, PathBuf};

use intent_gateway_domain::secret::Secret;

use crate::error::OpenError;

/// Where a database is. Can be logged: the address of a server, which may hold a password, is not shown.
#[derive(Clone)]
pub struct Location(Kind);

#[derive(Clone)]
enum Kind {
    Sqlite(PathBuf),
    Postgres(Secret),
}

/// What [`Location::open`] has to do with it.
pub(crate) enum StorePlace<'a> {
    Sqlite(&'a Path),
    Postgres(&'a Secret),
}

impl Location {
    /// A SQLite file.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Kind::Sqlite(path.into()))
    }

    /// Reads `sqlite://PATH`, where PATH is absolute if it begins with `/`, or `postgres://...`.
    ///
    /// # Errors
    /// [`OpenError::Address`] for anything else.
    pub fn parse(url: &str) -> Result<Self, OpenError> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Self(Kind::Postgres(Secret::new(url))));
        }
        match url.strip_prefix("sqlite://") {
            Some("") => Err(OpenError::Address("sqlite:// is followed by the path of a file")),
            Some(path) if path.contains('?') => Err(OpenError::Address("sqlite:// takes no options")),
            Some(path) => Ok(Self::file(path)),
            None => Err(OpenError::Address("expected sqlite://PATH or postgres://...")),
        }
    }

    /// The file, where it is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Sqlite(path) => Some(path),
            Kind::Postgres(_) => None,
        }
    }

    /// The folder of a file; none where it is a server.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Sqlite(path) => {
                Some(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))
            }
            Kind::Postgres(_) => None,
        }
    }

    pub(crate) fn place(&self) -> StorePlace<'_> {
        match &self.0 {
            Kind::Sqlite(path) => StorePlace::Sqlite(path),
            Kind::Postgres(url) => StorePlace::Postgres(url),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Sqlite(path) => write!(f, "SQLite, {}", path.display()),
            Kind::Postgres(_) => f.write_str("PostgreSQL"),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_forms_and_shows_no_password() {
        let shown = |url: &str| Location::parse(url).map(|location| format!("{location} {location:?}")).unwrap();
        assert_eq!(shown("sqlite:///var/lib/g.db"), "SQLite, /var/lib/g.db Location(SQLite, /var/lib/g.db)");
        assert_eq!(shown("sqlite://state/g.db"), "SQLite, state/g.db Location(SQLite, state/g.db)");
        for url in ["postgres://u:hunter2@h/db", "postgresql://u:hunter2@h/db"] {
            assert_eq!(shown(url), "PostgreSQL Location(PostgreSQL)");
        }
        for bad in ["", "sqlite://", "sqlite:///x.db?mode=ro", "mysql://h/db", "/var/lib/g.db"] {
            assert!(matches!(Location::parse(bad), Err(OpenError::Address(_))), "{bad}");
        }
    }
}
