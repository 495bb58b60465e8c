-- Brings a file of receipts from its first form to its second: receipts are packed with dictionaries from here on.

ALTER TABLE receipts ADD COLUMN dictionary BIGINT;
ALTER TABLE receipt_parts ADD COLUMN dictionary BIGINT;
CREATE TABLE receipt_dictionaries (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
    bytes BYTEA NOT NULL
);
PRAGMA user_version = 2;
