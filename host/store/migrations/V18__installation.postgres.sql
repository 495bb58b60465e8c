-- What PostgreSQL says in its own way. Keys are ordered by their bytes, as SQLite orders them.

ALTER TABLE installation ALTER COLUMN id TYPE TEXT COLLATE "C";
