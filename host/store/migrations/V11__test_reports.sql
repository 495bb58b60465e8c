-- Completion reports of businesses that were never live: a table of the form that every kind of record has.

CREATE TABLE test_reports (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX test_reports_by_status ON test_reports (status, key);

-- Connections say from now on when they first went live. Of those that are kept, the audit log tells. The text is put in front,
-- so that nothing else in the record is written anew.
UPDATE connections
SET body = '{"first_live_at_ms":' || (
        SELECT MIN(at_ms) FROM audit_log WHERE action = 'connection.switched_on' AND subject = connections.key
    ) || ',' || SUBSTR(body, 2)
WHERE EXISTS (SELECT 1 FROM audit_log WHERE action = 'connection.switched_on' AND subject = connections.key);
