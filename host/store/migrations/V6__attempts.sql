-- Writes at partners under the keys that name them: what a repeated one gets.

CREATE TABLE attempts (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX attempts_by_status ON attempts (status, key);
