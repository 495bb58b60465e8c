-- What partners are told, and what of it waits to be sent: tables of the form that every kind of record has.

CREATE TABLE partner_events (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX partner_events_by_status ON partner_events (status, key);

CREATE TABLE queued_events (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX queued_events_by_status ON queued_events (status, key);
