-- What PostgreSQL says in its own way: keys are ordered by their bytes, whatever the locale of the database.

ALTER TABLE links ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE pending_links ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE link_clients ALTER COLUMN key TYPE TEXT COLLATE "C";
