-- What PostgreSQL says in its own way. Texts are ordered by their bytes, as SQLite orders them.

ALTER TABLE ledger
    ALTER COLUMN number TYPE BIGINT,
    ALTER COLUMN partner TYPE TEXT COLLATE "C",
    ALTER COLUMN intent TYPE TEXT COLLATE "C",
    ALTER COLUMN external_id TYPE TEXT COLLATE "C",
    ALTER COLUMN month TYPE TEXT COLLATE "C";

CREATE UNIQUE INDEX ledger_by_order ON ledger (partner, intent, external_id, turn);
CREATE UNIQUE INDEX ledger_by_reversed ON ledger (reverses) WHERE reverses > 0;
CREATE INDEX ledger_by_month ON ledger (partner, month, number);

-- The ledger takes new entries and nothing else, and of an order none before the one that it follows.
CREATE FUNCTION ledger_refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only';
END
$$;

CREATE TRIGGER ledger_keeps BEFORE UPDATE OR DELETE ON ledger
    FOR EACH ROW EXECUTE FUNCTION ledger_refuse();

CREATE TRIGGER ledger_stays BEFORE TRUNCATE ON ledger
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse();

CREATE FUNCTION ledger_follow() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM ledger WHERE partner = NEW.partner AND intent = NEW.intent
        AND external_id = NEW.external_id AND turn = NEW.turn - 1
    ) THEN
        RAISE EXCEPTION 'an entry of the ledger does not follow one of its order';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER ledger_follows BEFORE INSERT ON ledger
    FOR EACH ROW WHEN (NEW.turn > 0) EXECUTE FUNCTION ledger_follow();
