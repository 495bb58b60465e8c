-- What PostgreSQL says in its own way. Keys are ordered by their bytes, whatever the locale of the database, as SQLite
-- orders them.

ALTER TABLE accounts ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE email_codes ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE credentials ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE webhooks ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE manifests ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE reviews ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE connections ALTER COLUMN key TYPE TEXT COLLATE "C";
ALTER TABLE counters ALTER COLUMN name TYPE TEXT COLLATE "C";
ALTER TABLE mail ALTER COLUMN id TYPE TEXT COLLATE "C";

-- The audit log takes new entries and nothing else.
CREATE FUNCTION audit_log_refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END
$$;

CREATE TRIGGER audit_log_keeps BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION audit_log_refuse();

CREATE TRIGGER audit_log_stays BEFORE TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse();
