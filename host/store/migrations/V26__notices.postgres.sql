-- What PostgreSQL says in its own way: keys are ordered by their bytes, whatever the locale of the database.

ALTER TABLE notices ALTER COLUMN key TYPE TEXT COLLATE "C";
