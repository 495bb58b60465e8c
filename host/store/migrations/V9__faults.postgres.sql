-- What PostgreSQL says in its own way. Names are compared by their bytes, as SQLite compares them.

ALTER TABLE contract_faults
    ALTER COLUMN number TYPE BIGINT,
    ALTER COLUMN intent TYPE TEXT COLLATE "C";
