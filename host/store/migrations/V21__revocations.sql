-- What of contracts is revoked: one record. A table of the form that every kind of record has.

CREATE TABLE contract_revocations (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX contract_revocations_by_status ON contract_revocations (status, key);
