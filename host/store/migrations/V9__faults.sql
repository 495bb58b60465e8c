-- Faults of contracts, for both engines. Times are milliseconds since the epoch. Numbered by a counter, so that no number
-- comes twice, whatever was forgotten. `input` is the call that failed, sealed; nothing where it was too large.

INSERT INTO counters (name, value) VALUES ('contract_faults', 0);

CREATE TABLE contract_faults (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
    at_ms BIGINT NOT NULL,
    last_at_ms BIGINT NOT NULL,
    times BIGINT NOT NULL,
    others BIGINT NOT NULL,
    intent TEXT NOT NULL,
    version TEXT NOT NULL,
    contract TEXT NOT NULL,
    function TEXT NOT NULL,
    request_id TEXT,
    code TEXT NOT NULL,
    fault TEXT NOT NULL,
    message TEXT,
    place TEXT,
    input_bytes BIGINT NOT NULL,
    input TEXT
);
CREATE INDEX contract_faults_by_intent ON contract_faults (intent, number);
CREATE INDEX contract_faults_by_time ON contract_faults (at_ms);
