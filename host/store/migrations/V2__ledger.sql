-- The commission ledger, for both engines: one row for each entry. Amounts are paise, times milliseconds since the epoch.
--
-- `turn` counts the entries of one order: 0 is its first booking, 1 the reversal of that, 2 the booking in its place. One
-- unique index over order and turn therefore holds that at most one booking of an order stands.
-- `kind`: 0 memorandum, 1 charge, 2 reversal of a memorandum, 3 reversal of a charge.
-- `late_minutes` is missing where the report does not tell.
-- The two legs are columns, for an entry has no others; `reverses` is 0 and `reason` empty where nothing is taken back.

CREATE TABLE ledger (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number > 0),
    turn BIGINT NOT NULL CHECK (turn >= 0),
    posted_at_ms BIGINT NOT NULL,
    closed_at_ms BIGINT NOT NULL,
    partner TEXT NOT NULL,
    intent TEXT NOT NULL,
    external_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    status TEXT NOT NULL,
    month TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount >= 0),
    rate BIGINT NOT NULL,
    judge TEXT NOT NULL,
    stand_in BIGINT NOT NULL CHECK (stand_in BETWEEN 0 AND 1),
    late_minutes BIGINT,
    report TEXT NOT NULL,
    kind BIGINT NOT NULL CHECK (kind BETWEEN 0 AND 3),
    receivable BIGINT NOT NULL,
    revenue BIGINT NOT NULL,
    reverses BIGINT NOT NULL,
    reason TEXT NOT NULL,
    hash TEXT NOT NULL,
    CHECK (receivable + revenue = 0),
    CHECK ((kind >= 2) = (turn % 2 = 1)),
    CHECK ((kind >= 2) = (reverses > 0))
);
