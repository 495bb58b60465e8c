-- What is kept of findings and of rankings, for both engines. Times are milliseconds since the epoch. Findings and
-- receipts are numbered by counters, so that no number comes twice, whatever was forgotten.

INSERT INTO counters (name, value) VALUES ('findings', 0);
INSERT INTO counters (name, value) VALUES ('receipts', 0);

CREATE TABLE findings (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
    at_ms BIGINT NOT NULL,
    partner TEXT NOT NULL,
    intent TEXT NOT NULL,
    request_id TEXT NOT NULL,
    option_id TEXT,
    external_id TEXT,
    severity TEXT NOT NULL,
    pointer TEXT NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL
);
CREATE INDEX findings_by_time ON findings (at_ms);

-- One row for each ranking. `body` is what the columns do not say, but for the partners' answers: JSON, compressed. BYTEA
-- is PostgreSQL's name for bytes; SQLite keeps bytes under any.
CREATE TABLE receipts (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
    id TEXT NOT NULL UNIQUE,
    at_ms BIGINT NOT NULL,
    request_id TEXT NOT NULL,
    intent TEXT NOT NULL,
    version TEXT NOT NULL,
    contract TEXT NOT NULL,
    outcome TEXT NOT NULL,
    body BYTEA NOT NULL
);
CREATE INDEX receipts_by_request ON receipts (request_id, at_ms);
CREATE INDEX receipts_by_time ON receipts (at_ms);

-- One row for each partner's answer in a ranking, in the order in which the contract saw them. Request, intent and time
-- are repeated here, so that what a partner has quoted is found without reading the answers of others. `shown` counts
-- the options that were shown; `quoted` holds them, best first, and `body` the rest: JSON, compressed.
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
    PRIMARY KEY (receipt, place)
);
CREATE INDEX receipt_parts_by_quote ON receipt_parts (request_id, intent, partner, at_ms, receipt) WHERE shown > 0;
