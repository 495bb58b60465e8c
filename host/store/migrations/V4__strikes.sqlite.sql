-- What SQLite says in its own way. An index ends with the number of its row by itself.

CREATE INDEX findings_strikes ON findings (severity) WHERE severity = 'strike';
