-- What SQLite says in its own way. An index ends with the number of its row by itself.

CREATE UNIQUE INDEX ledger_by_order ON ledger (partner, intent, external_id, turn);
CREATE UNIQUE INDEX ledger_by_reversed ON ledger (reverses) WHERE reverses > 0;
CREATE INDEX ledger_by_month ON ledger (partner, month);

-- The ledger takes new entries and nothing else, and of an order none before the one that it follows.
CREATE TRIGGER ledger_keeps BEFORE UPDATE ON ledger
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

CREATE TRIGGER ledger_stays BEFORE DELETE ON ledger
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

CREATE TRIGGER ledger_follows BEFORE INSERT ON ledger
WHEN NEW.turn > 0 AND NOT EXISTS (
    SELECT 1 FROM ledger WHERE partner = NEW.partner AND intent = NEW.intent
    AND external_id = NEW.external_id AND turn = NEW.turn - 1
)
BEGIN
    SELECT RAISE(ABORT, 'an entry of the ledger does not follow one of its order');
END;
