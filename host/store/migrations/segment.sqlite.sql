-- A segment of receipts: a file of its own on SQLite, in the form that the tables of before have in the main file (V3, V13, V23).
-- What is not looked for has no index here: a segment is forgotten whole.

CREATE TABLE receipts (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
    id TEXT NOT NULL UNIQUE,
    at_ms BIGINT NOT NULL,
    request_id TEXT NOT NULL,
    intent TEXT NOT NULL,
    version TEXT NOT NULL,
    contract TEXT NOT NULL,
    outcome TEXT NOT NULL,
    body BYTEA NOT NULL,
    user_mark TEXT,
    dictionary BIGINT
);
CREATE INDEX receipts_by_request ON receipts (request_id, at_ms);
CREATE INDEX receipts_by_user ON receipts (user_mark) WHERE user_mark IS NOT NULL;

CREATE TABLE receipt_parts (
    receipt BIGINT NOT NULL,
    place BIGINT NOT NULL,
    partner TEXT NOT NULL,
    request_id TEXT NOT NULL,
    intent TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    shown BIGINT NOT NULL,
    quoted BYTEA NOT NULL,
    body BYTEA NOT NULL,
    dictionary BIGINT,
    PRIMARY KEY (receipt, place)
);
CREATE INDEX receipt_parts_by_quote ON receipt_parts (request_id, intent, partner, at_ms, receipt) WHERE shown > 0;

-- A dictionary has the number of the receipt that has made it.
CREATE TABLE receipt_dictionaries (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
    bytes BYTEA NOT NULL
);
