-- Receipts lie in segments from here on, which are forgotten whole. Of each segment: its number, the time of its first
-- receipt, how many receipts it was given and the bytes of their values (kept by PostgreSQL alone: SQLite asks the file), and
-- whether it is kept or going: what is left of one that goes is removed. The tables of before are read, and forgotten, until they
-- are empty.

CREATE TABLE receipt_segments (
    number BIGINT NOT NULL PRIMARY KEY,
    begun_at_ms BIGINT NOT NULL,
    receipts BIGINT NOT NULL,
    payload_bytes BIGINT NOT NULL,
    state TEXT NOT NULL
);
INSERT INTO counters (name, value) VALUES ('receipt_segments', 0);
