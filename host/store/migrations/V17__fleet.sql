-- The gateways that share the database, and which of them does what only one is to do. Times are the database's own.

CREATE TABLE gateway_leases (
    id TEXT NOT NULL PRIMARY KEY,
    run TEXT NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    started_ms BIGINT NOT NULL,
    renewed_ms BIGINT NOT NULL,
    ends_ms BIGINT NOT NULL,
    length_ms BIGINT NOT NULL
);

CREATE TABLE duty_leases (
    duty TEXT NOT NULL PRIMARY KEY,
    gateway TEXT NOT NULL,
    run TEXT NOT NULL,
    renewed_ms BIGINT NOT NULL,
    ends_ms BIGINT NOT NULL,
    length_ms BIGINT NOT NULL
);

-- The latest calls of a rate that gateways count together, the newest first; 0 for none. A keyed mark says whose.
CREATE TABLE shared_calls (
    mark TEXT NOT NULL PRIMARY KEY,
    calls BIGINT NOT NULL,
    per_ms BIGINT NOT NULL,
    t1 BIGINT NOT NULL,
    t2 BIGINT NOT NULL,
    t3 BIGINT NOT NULL,
    t4 BIGINT NOT NULL,
    t5 BIGINT NOT NULL
);

-- Partners that have asked to be left alone, and until when.
CREATE TABLE shared_back_offs (
    partner TEXT NOT NULL PRIMARY KEY,
    times BIGINT NOT NULL,
    until_ms BIGINT NOT NULL
);
