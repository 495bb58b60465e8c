-- The catalogue of contracts: what is wanted of each intent, which name means which, the components in parts, and what each
-- gateway has of it. Tables of the form that every kind of record has.

CREATE TABLE contracts (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX contracts_by_status ON contracts (status, key);

CREATE TABLE contract_names (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX contract_names_by_status ON contract_names (status, key);

CREATE TABLE component_parts (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX component_parts_by_status ON component_parts (status, key);

CREATE TABLE contract_states (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX contract_states_by_status ON contract_states (status, key);
