-- What PostgreSQL says in its own way. Marks are compared by their bytes, as SQLite compares them.

ALTER TABLE receipts ALTER COLUMN user_mark TYPE TEXT COLLATE "C";
CREATE INDEX receipts_by_user ON receipts (user_mark, number) WHERE user_mark IS NOT NULL;
