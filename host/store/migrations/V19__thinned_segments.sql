-- A segment of receipts may be written anew without some of them. Of each segment, therefore: the number of the file or partition
-- where it lies (its own where nothing is said), how many receipts were left when it was written anew last (nothing where it never
-- was), up to which time it was looked through, and how often what it holds was changed, so that no copy of it is taken for the
-- newest. A row of the state `copying` is a copy under way, that is nobody's segment.

ALTER TABLE receipt_segments ADD COLUMN file BIGINT;
ALTER TABLE receipt_segments ADD COLUMN remaining BIGINT;
ALTER TABLE receipt_segments ADD COLUMN looked_at_ms BIGINT NOT NULL DEFAULT 0;
ALTER TABLE receipt_segments ADD COLUMN changes BIGINT NOT NULL DEFAULT 0;

-- Whether a fault points to a receipt is asked of each that may go.
CREATE INDEX contract_faults_by_request ON contract_faults (request_id) WHERE request_id IS NOT NULL;
