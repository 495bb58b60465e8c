-- What PostgreSQL says in its own way. Keys are ordered by their bytes, as SQLite orders them.

ALTER TABLE chain_starts ALTER COLUMN chain TYPE TEXT COLLATE "C";
