-- What users have ordered, and the options that they ordered: tables of the form that every kind of record has.

CREATE TABLE orders (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX orders_by_status ON orders (status, key);

CREATE TABLE ordered_options (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX ordered_options_by_status ON ordered_options (status, key);

-- Names that records of a kind share: whose an order is, what its partner calls it, which request it came from.
CREATE TABLE record_names (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (kind, name, key)
);
CREATE INDEX record_names_by_key ON record_names (kind, key);
