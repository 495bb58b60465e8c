-- Which installation the store belongs to: one row, made when the first gateway starts on it.

CREATE TABLE installation (
    id TEXT NOT NULL PRIMARY KEY,
    begun_at_ms BIGINT NOT NULL
);
