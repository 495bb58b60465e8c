-- What waits for a second person of the platform team: a table of the form that every kind of record has.

CREATE TABLE approvals (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX approvals_by_status ON approvals (status, key);
