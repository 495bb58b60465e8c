-- What SQLite says in its own way. An index ends with the number of its row by itself.

CREATE INDEX receipts_by_user ON receipts (user_mark) WHERE user_mark IS NOT NULL;
