-- What PostgreSQL says in its own way.

CREATE INDEX findings_strikes ON findings (number) WHERE severity = 'strike';
