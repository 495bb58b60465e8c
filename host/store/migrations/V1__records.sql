-- The first tables, for both engines. Times are milliseconds since the epoch.
--
-- Each kind of record has a table of the same form: its key, how often it changed, another unique name, what lists
-- filter on, and the record itself as JSON text.

CREATE TABLE accounts (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX accounts_by_status ON accounts (status, key);

CREATE TABLE email_codes (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX email_codes_by_status ON email_codes (status, key);

CREATE TABLE credentials (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX credentials_by_status ON credentials (status, key);

CREATE TABLE webhooks (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX webhooks_by_status ON webhooks (status, key);

CREATE TABLE manifests (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX manifests_by_status ON manifests (status, key);

CREATE TABLE reviews (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX reviews_by_status ON reviews (status, key);

CREATE TABLE connections (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX connections_by_status ON connections (status, key);

-- `changes` counts the changes that other processes have to look at. `removed/<kind>` is the highest revision that a
-- removed record of the kind had: one that comes after it under the same key starts above it, so that nobody takes
-- the new one for the old.
CREATE TABLE counters (
    name TEXT NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO counters (name, value) VALUES ('changes', 0);

-- Mail that is to be sent. The text is sealed.
CREATE TABLE mail (
    id TEXT NOT NULL PRIMARY KEY,
    sealed TEXT NOT NULL,
    not_before_ms BIGINT NOT NULL,
    tries BIGINT NOT NULL
);
CREATE INDEX mail_by_time ON mail (not_before_ms, id);

-- Who did what, append-only: each engine refuses anything else (see the file of its own).
CREATE TABLE audit_log (
    seq BIGINT NOT NULL PRIMARY KEY,
    at_ms BIGINT NOT NULL,
    role TEXT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX audit_log_by_subject ON audit_log (subject, seq);
