-- What each gateway has seen of a rollout. A table of the form that every kind of record has.

CREATE TABLE rollout_evidence (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX rollout_evidence_by_status ON rollout_evidence (status, key);
