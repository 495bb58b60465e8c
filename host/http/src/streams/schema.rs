//! What the events of each stream look like, for the document.
//!
//! OpenAPI 3.1 has no word for one event of a stream: to it the answer is text. So each stream has a schema of its events
//! among the components, and its operation names that under [`EVENT`].

use utoipa::ToSchema;
use utoipa::openapi::schema::{AllOf, Components, ObjectBuilder, OneOf, Type};
use utoipa::openapi::{Object, Ref, RefOr, Schema};

use super::event::Ended;
use super::export::Counted;
use super::follow::Progress;
use super::search::SearchSnapshot;
use crate::body::JSON;

/// Names in an operation the schema of its events.
pub(crate) const EVENT: &str = "x-event";

/// Data of an update or a failure that a reader gets in place of others.
const MISSED: &str = "How many events before it were not sent, because the reader was too slow; absent where none.";

/// One kind of event.
struct Kind {
    /// Its name on the wire.
    event: &'static str,
    /// The schema that describes it.
    schema: &'static str,
    /// The schema of its data.
    data: &'static str,
    /// Whether it has an `id`, to go on behind.
    resumable: bool,
    /// Whether its data may have `missed`.
    skips: bool,
}

/// One stream.
struct Stream {
    path: &'static str,
    schema: &'static str,
    kinds: &'static [Kind],
}

const fn plain(event: &'static str, schema: &'static str, data: &'static str) -> Kind {
    Kind { event, schema, data, resumable: false, skips: false }
}

const fn resumable(event: &'static str, schema: &'static str, data: &'static str) -> Kind {
    Kind { resumable: true, ..plain(event, schema, data) }
}

const fn follow_event(event: &'static str, schema: &'static str, data: &'static str) -> Kind {
    Kind { skips: true, ..resumable(event, schema, data) }
}

const FAILED: Kind = plain("error", "FailedEvent", "ErrorBody");
const ENDED: Kind = plain("end", "EndEvent", "StreamEnd");
const ENDED_RESUMABLY: Kind = resumable("end", "ResumableEndEvent", "StreamEnd");

const STREAMS: [Stream; 5] = [
    Stream {
        path: "/api/v1/intents/{intent}/search",
        schema: "SearchEvent",
        kinds: &[plain("snapshot", "SnapshotEvent", "SearchSnapshot"), FAILED, ENDED],
    },
    Stream {
        path: "/api/v1/intents/{intent}/tools/{tool}/stream",
        schema: "FollowEvent",
        kinds: &[
            follow_event("update", "FollowUpdateEvent", "ToolAnswer"),
            follow_event("progress", "FollowProgressEvent", "FollowProgress"),
            follow_event("error", "FollowFailedEvent", "ErrorBody"),
            ENDED_RESUMABLY,
        ],
    },
    Stream {
        path: "/api/v1/orders/events",
        schema: "OrderEvent",
        kinds: &[resumable("order", "OrderChangeEvent", "OrderChange"), ENDED_RESUMABLY],
    },
    Stream {
        path: "/api/v1/admin/contracts/compare",
        schema: "ComparisonEvent",
        kinds: &[
            plain("progress", "ComparisonProgressEvent", "ComparisonProgress"),
            plain("report", "ComparisonReportEvent", "ComparisonReport"),
            FAILED,
            ENDED,
        ],
    },
    Stream {
        path: "/api/v1/admin/receipts/export",
        schema: "ExportEvent",
        kinds: &[
            plain("counted", "ExportCountedEvent", "ExportCounted"),
            plain("receipt", "ExportReceiptEvent", "RankingReceipt"),
            plain("summary", "ExportSummaryEvent", "ExportSummary"),
            FAILED,
            ENDED,
        ],
    },
];

/// The schema of the events of a path, where it has any.
pub(crate) fn find(path: &str) -> Option<&'static str> {
    STREAMS.iter().find(|stream| stream.path == path).map(|stream| stream.schema)
}

/// Adds the events of all streams, and what their data holds that no plain answer has.
pub(crate) fn describe(components: &mut Components) {
    let mut add = |name: String, schema: RefOr<Schema>| components.schemas.insert(name, schema);
    let data = [
        (SearchSnapshot::name(), <SearchSnapshot<'_> as utoipa::PartialSchema>::schema()),
        (Ended::name(), <Ended as utoipa::PartialSchema>::schema()),
        (Progress::name(), <Progress<'_> as utoipa::PartialSchema>::schema()),
        (Counted::name(), <Counted as utoipa::PartialSchema>::schema()),
    ];
    for (name, schema) in data {
        add(name.into_owned(), schema);
    }
    for stream in &STREAMS {
        let mut one_of = OneOf::new();
        one_of.description = Some(format!("One event of the stream of `{}`.", stream.path));
        for kind in stream.kinds {
            one_of.items.push(Ref::from_schema_name(kind.schema).into());
            add(kind.schema.to_owned(), Schema::Object(event(kind)).into());
        }
        add(stream.schema.to_owned(), Schema::OneOf(one_of).into());
    }
}

/// An event as a reader of event streams hands it out.
fn event(kind: &Kind) -> Object {
    let data: RefOr<Schema> = Ref::from_schema_name(kind.data).into();
    let data = if kind.skips { with_missed(data) } else { data };
    let name = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([kind.event]));
    let object = ObjectBuilder::new().description(Some(format!("The event `{}`; its data is {JSON}.", kind.event)));
    let object = object.property("event", name).required("event").property("data", data).required("data");
    if !kind.resumable {
        return object.build();
    }
    let id = ObjectBuilder::new().schema_type(Type::String);
    object.property("id", id.description(Some("What to go on behind, as `Last-Event-ID`."))).build()
}

fn with_missed(data: RefOr<Schema>) -> RefOr<Schema> {
    let count = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).description(Some(MISSED));
    let mut all_of = AllOf::new();
    all_of.items = vec![data, Schema::Object(ObjectBuilder::new().property("missed", count).build()).into()];
    Schema::AllOf(all_of).into()
}
