-- From where on the links of the audit log and of the ledger are under a key: how many entries, counted from the first, have
-- plain digests as links, the last of these digests, and a MAC over both. One row for each of the two.

CREATE TABLE chain_starts (
    chain TEXT NOT NULL PRIMARY KEY,
    number BIGINT NOT NULL,
    hash TEXT NOT NULL,
    seal TEXT NOT NULL
);
