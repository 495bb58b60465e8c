-- What PostgreSQL says in its own way: keys are ordered by their bytes, whatever the locale of the database.

ALTER TABLE web_sessions ALTER COLUMN key TYPE TEXT COLLATE "C";
