//! The accounts that every microsecond of a request is booked to: parts of the work, and kinds of work.

/// One part of the work. A sample is booked to the part of the innermost function that belongs to one.
pub(super) struct Part {
    pub(super) name: &'static str,
    /// Pieces of names of functions.
    pub(super) marks: &'static [&'static str],
    /// Beginnings of names of threads, for samples without such a function.
    pub(super) threads: &'static [&'static str],
}

/// A kind of work. The innermost frames tell it.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) marks: &'static [&'static str],
    pub(super) is_kernel: bool,
}

/// Compiled code of contracts, which has no names.
pub(super) struct Contract {
    pub(super) name: &'static str,
    /// Piece of the path that compiled code is mapped from.
    pub(super) code: &'static str,
}

pub(super) const CONTRACT: Contract = Contract { name: "contract: its code", code: "/compiled/" };
pub(super) const UNNAMED: &str = "unnamed";
pub(super) const OTHER: &str = "code";

const fn part(name: &'static str, marks: &'static [&'static str], threads: &'static [&'static str]) -> Part {
    Part { name, marks, threads }
}

/// In the order in which they are looked for within one function's name. Sockets are nobody's own: what they cost is booked to
/// whoever sends or receives.
pub(super) const PARTS: &[Part] = &[
    part("contract: instance, way in and out", &["wasmtime", "intent_gateway_sandbox"], &["contract-"]),
    part(
        "payload: forbidden fields, options",
        &["intent_gateway_routing::payload", "intent_gateway_routing::scan", "intent_gateway_domain::forbidden"],
        &[],
    ),
    part("partner client", &["intent_gateway_partners"], &[]),
    part("outbound: rates, breaker, cache, retries", &["intent_gateway_outbound"], &[]),
    part(
        "receipt",
        &[
            "intent_gateway_domain::receipt",
            "search::ranking::receipt",
            "intent_gateway_store::journal",
            "intent_gateway_store::packing",
            "intent_gateway_store::receipts",
            "intent_gateway_store::evidence",
        ],
        &["receipt-"],
    ),
    part("store", &["intent_gateway_store", "rusqlite", "sqlite3"], &["store-"]),
    part("references: sealed and opened", &["intent_gateway_routing::reference", "chacha20", "poly1305"], &[]),
    part(
        "caller: token, scopes, quotas",
        &[
            "intent_gateway_http::auth",
            "jsonwebtoken",
            "intent_gateway_http::quota",
            "intent_gateway_http::audience",
            "intent_gateway_http::route_scopes",
        ],
        &[],
    ),
    part("report: signature, intake, entry", &["intent_gateway_ledger", "intent_gateway_http::reports"], &[]),
    part("calls and orders", &["intent_gateway_domain::order", "intent_gateway_routing::calling"], &[]),
    part("search: check, select, rank, put together", &["intent_gateway_routing", "intent_gateway_domain"], &[]),
    part("answer as JSON", &["intent_gateway_api", "intent_gateway_http::wire"], &[]),
    part("admission, connections, spans, body", &["intent_gateway_http"], &[]),
    part("routes and layers", &["axum", "tower"], &[]),
    part("metrics, log and traces", &["metrics", "tracing", "opentelemetry"], &[]),
    part("HTTP, callers' side", &["hyper", "httparse"], &[]),
    part(
        "tasks, wake-ups, timers",
        &["tokio::runtime::scheduler", "tokio::runtime::task", "tokio::sync", "tokio::time", "futures_", "parking_lot"],
        &["tokio-rt"],
    ),
];

const fn kernel(name: &'static str, marks: &'static [&'static str]) -> Kind {
    Kind { name, marks, is_kernel: true }
}

const fn user(name: &'static str, marks: &'static [&'static str]) -> Kind {
    Kind { name, marks, is_kernel: false }
}

pub(super) const KINDS: &[Kind] = &[
    kernel("kernel: send", &["sys_sendto", "sys_writev", "sys_sendmsg"]),
    kernel("kernel: receive", &["sys_recvfrom", "sys_recvmsg", "sys_readv"]),
    kernel("kernel: wait for sockets", &["epoll"]),
    kernel("kernel: wake or wait for a thread", &["futex"]),
    kernel("kernel: write and sync files", &["sys_write", "sys_pwrite", "sys_fsync", "sys_fdatasync"]),
    kernel(
        "kernel: memory",
        &["madvise", "mmap", "mprotect", "munmap", "pagemap", "asm_exc_page_fault", "exc_page_fault"],
    ),
    user("allocator", &["_rjem", "je_", "malloc", "rallocx", "sdallocx"]),
    user("copies", &["memmove", "memcpy", "memset", "memcmp", "__mem"]),
    user(
        "hashing and ciphers",
        &["sha2", "sha256", "sha512", "hmac", "blake3", "siphash", "aes", "poly1305", "chacha"],
    ),
    user("JSON", &["serde_json", "serde_core", "ryu", "itoa"]),
    user("clock", &["clock_gettime", "vdso"]),
];
