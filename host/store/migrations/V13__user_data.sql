-- Whose a ranking is, as a keyed mark of the user; nothing where the request named nobody. What was kept before has none.
-- What was found under one request is looked for when a user is erased.

ALTER TABLE receipts ADD COLUMN user_mark TEXT;
CREATE INDEX findings_by_request ON findings (request_id);
