-- What PostgreSQL says in its own way: keys are ordered by their bytes, whatever the locale of the database.

ALTER TABLE orders ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE ordered_options ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE record_names
    ALTER COLUMN kind TYPE TEXT COLLATE "C",
    ALTER COLUMN name TYPE TEXT COLLATE "C",
    ALTER COLUMN key TYPE TEXT COLLATE "C";
