-- What PostgreSQL says in its own way: keys are ordered by their bytes, whatever the locale of the database.

ALTER TABLE record_changes
    ALTER COLUMN kind TYPE TEXT COLLATE "C",
    ALTER COLUMN key TYPE TEXT COLLATE "C",
    ALTER COLUMN feed TYPE TEXT COLLATE "C";
