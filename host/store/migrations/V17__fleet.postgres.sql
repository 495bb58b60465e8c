-- What PostgreSQL says in its own way. Keys are compared by their bytes, as SQLite compares them. Counts of a minute need not
-- outlive a crash of the server: nothing waits for a disk to count a call.

ALTER TABLE gateway_leases ALTER COLUMN id TYPE TEXT COLLATE "C";
ALTER TABLE duty_leases ALTER COLUMN duty TYPE TEXT COLLATE "C";
ALTER TABLE shared_calls ALTER COLUMN mark TYPE TEXT COLLATE "C";
ALTER TABLE shared_back_offs ALTER COLUMN partner TYPE TEXT COLLATE "C";
ALTER TABLE shared_calls SET UNLOGGED;
ALTER TABLE shared_back_offs SET UNLOGGED;
-- A row has room beside it for its next versions, so that a call writes no index.
ALTER TABLE shared_calls SET (fillfactor = 50);
