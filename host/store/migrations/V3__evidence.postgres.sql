-- What PostgreSQL says in its own way. Names are compared by their bytes, as SQLite compares them; what is compressed
-- already is not compressed once more.

ALTER TABLE findings
    ALTER COLUMN number TYPE BIGINT,
    ALTER COLUMN partner TYPE TEXT COLLATE "C";

ALTER TABLE receipts
    ALTER COLUMN number TYPE BIGINT,
    ALTER COLUMN id TYPE TEXT COLLATE "C",
    ALTER COLUMN request_id TYPE TEXT COLLATE "C",
    ALTER COLUMN body SET STORAGE EXTERNAL;

ALTER TABLE receipt_parts
    ALTER COLUMN partner TYPE TEXT COLLATE "C",
    ALTER COLUMN request_id TYPE TEXT COLLATE "C",
    ALTER COLUMN intent TYPE TEXT COLLATE "C",
    ALTER COLUMN quoted SET STORAGE EXTERNAL,
    ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE INDEX findings_by_partner ON findings (partner, number);
