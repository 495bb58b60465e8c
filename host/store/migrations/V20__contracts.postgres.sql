-- What PostgreSQL says in its own way: keys are ordered by their bytes, whatever the locale of the database.

ALTER TABLE contracts ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE contract_names ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE component_parts ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE contract_states ALTER COLUMN key TYPE TEXT COLLATE "C";
