-- What PostgreSQL says in its own way: keys are ordered by their bytes, whatever the locale of the database.

ALTER TABLE partner_events ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE queued_events ALTER COLUMN key TYPE TEXT COLLATE "C";
