-- Where each record stands in the feed of its changes: at the number of its latest one.

CREATE TABLE record_changes (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    feed TEXT NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (kind, key)
);
CREATE INDEX record_changes_by_feed ON record_changes (kind, feed, number);

-- The feed of an order is the mark of its orchestrator. The name that each order has had from the first says it.
INSERT INTO record_changes (kind, key, feed, number)
SELECT kind, key, SUBSTR(name, 14), ROW_NUMBER() OVER (ORDER BY key)
FROM record_names WHERE kind = 'orders' AND SUBSTR(name, 1, 13) = 'orchestrator/';

INSERT INTO counters (name, value) SELECT 'record_changes', COUNT(*) FROM record_changes;
