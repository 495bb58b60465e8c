-- Documents that businesses upload for their review: what is known of them, one record an account, and what stands in them,
-- sealed, one record a document. Tables of the form that every kind of record has.

CREATE TABLE documents (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX documents_by_status ON documents (status, key);

CREATE TABLE document_contents (
    key TEXT NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    lookup TEXT UNIQUE,
    status TEXT,
    body TEXT NOT NULL
);
CREATE INDEX document_contents_by_status ON document_contents (status, key);
