-- What a finding is shown with to its partner: where it was found, the option's place in the answer, and an excerpt of
-- what was sent. What was kept before has none of them.

ALTER TABLE findings ADD COLUMN source TEXT;
ALTER TABLE findings ADD COLUMN option_place BIGINT;
ALTER TABLE findings ADD COLUMN excerpt TEXT;
