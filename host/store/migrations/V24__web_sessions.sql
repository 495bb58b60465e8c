-- Who is signed in at a page: a table of the form that every kind of record has.

CREATE TABLE web_sessions (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX web_sessions_by_status ON web_sessions (status, key);
