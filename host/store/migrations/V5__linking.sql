-- Accounts that users have linked at partners: the links, those that a browser has begun, and the gateway's registrations at
-- authorization servers. Tables of the form that every kind of record has.

CREATE TABLE links (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX links_by_status ON links (status, key);

CREATE TABLE pending_links (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX pending_links_by_status ON pending_links (status, key);

CREATE TABLE link_clients (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX link_clients_by_status ON link_clients (status, key);
