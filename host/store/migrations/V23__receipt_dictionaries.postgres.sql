-- Those of all segments lie in one table, for there are few. Numbers say of which segment they are.

ALTER TABLE segment_receipts ADD COLUMN dictionary BIGINT;
ALTER TABLE segment_receipt_parts ADD COLUMN dictionary BIGINT;

CREATE OR REPLACE VIEW all_receipts AS
    SELECT number, id, at_ms, request_id, intent, version, contract, outcome, body, user_mark, dictionary FROM segment_receipts
    UNION ALL
    SELECT number, id, at_ms, request_id, intent, version, contract, outcome, body, user_mark, dictionary FROM receipts;

CREATE OR REPLACE VIEW all_receipt_parts AS
    SELECT receipt, place, partner, request_id, intent, at_ms, shown, quoted, body, dictionary FROM segment_receipt_parts
    UNION ALL
    SELECT receipt, place, partner, request_id, intent, at_ms, shown, quoted, body, dictionary FROM receipt_parts;
