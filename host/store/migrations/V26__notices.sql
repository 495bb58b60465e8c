-- What will change for partners: a table of the form that every kind of record has.

CREATE TABLE notices (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX notices_by_status ON notices (status, key);
