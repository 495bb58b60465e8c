-- A segment is a partition of each of these tables: the receipts whose numbers begin with the number of the segment. No
-- partition is there yet: the first receipt makes one. Names are compared by their bytes, and what is compressed already is not
-- compressed once more.

CREATE TABLE segment_receipts (
    number BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    at_ms BIGINT NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    intent TEXT NOT NULL,
    version TEXT NOT NULL,
    contract TEXT NOT NULL,
    outcome TEXT NOT NULL,
    body BYTEA NOT NULL,
    user_mark TEXT COLLATE "C",
    PRIMARY KEY (number)
) PARTITION BY RANGE (number);
ALTER TABLE segment_receipts ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX segment_receipts_by_id ON segment_receipts (id);
CREATE INDEX segment_receipts_by_request ON segment_receipts (request_id, at_ms);
CREATE INDEX segment_receipts_by_user ON segment_receipts (user_mark, number) WHERE user_mark IS NOT NULL;

CREATE TABLE segment_receipt_parts (
    receipt BIGINT NOT NULL,
    place BIGINT NOT NULL,
    partner TEXT COLLATE "C" NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    intent TEXT COLLATE "C" NOT NULL,
    at_ms BIGINT NOT NULL,
    shown BIGINT NOT NULL,
    quoted BYTEA NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (receipt, place)
) PARTITION BY RANGE (receipt);
ALTER TABLE segment_receipt_parts
    ALTER COLUMN quoted SET STORAGE EXTERNAL,
    ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX segment_receipt_parts_by_quote
    ON segment_receipt_parts (request_id, intent, partner, at_ms, receipt) WHERE shown > 0;

-- What is read: the segments, and the tables of before.
CREATE VIEW all_receipts AS
    SELECT number, id, at_ms, request_id, intent, version, contract, outcome, body, user_mark FROM segment_receipts
    UNION ALL
    SELECT number, id, at_ms, request_id, intent, version, contract, outcome, body, user_mark FROM receipts;

CREATE VIEW all_receipt_parts AS
    SELECT receipt, place, partner, request_id, intent, at_ms, shown, quoted, body FROM segment_receipt_parts
    UNION ALL
    SELECT receipt, place, partner, request_id, intent, at_ms, shown, quoted, body FROM receipt_parts;
