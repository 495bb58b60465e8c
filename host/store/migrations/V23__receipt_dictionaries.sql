-- Receipts are packed with dictionaries: what earlier receipts of the same segment have in common. A dictionary has the number of
-- the receipt that has made it. Receipts of before have none.

ALTER TABLE receipts ADD COLUMN dictionary BIGINT;
ALTER TABLE receipt_parts ADD COLUMN dictionary BIGINT;
CREATE TABLE receipt_dictionaries (
    number BIGINT NOT NULL PRIMARY KEY,
    bytes BYTEA NOT NULL
);
