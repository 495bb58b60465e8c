//! Components before they are compiled: what makes compiling costly is counted.
//!
//! What cannot be read is refused, what is valid is read to its end, and what passes has by another count no more of anything
//! than the bounds say.
//!
//! Input: whether the component follows, or the code of a function of one, which is given its lengths and `i32` locals, as many
//! as the next two bytes say; then either.

use wasmparser::{Operator, Parser, Payload, Validator};

use self::failure::LoadError;

// The files themselves: their crate, the sandbox, brings the compiler of contracts. Its errors know no compiler.
#[expect(dead_code, unreachable_pub, reason = "the sandbox uses all of it")]
#[path = "../../../../host/sandbox/src/failure.rs"]
pub(crate) mod failure;

#[path = "../../../../host/sandbox/src/compiling/bounds.rs"]
mod bounds;

/// What an instance may have, bytes.
const MEMORY_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Counts one component.
///
/// # Panics
/// Where the count is not that of a plain one.
pub(crate) fn run(data: &[u8]) {
    match data {
        [how, component @ ..] if how % 2 == 0 => check(component),
        [_, high, low, code @ ..] => check(&wrap(u32::from(*high) << 8 | u32::from(*low), code)),
        _ => {}
    }
}

/// A component of one module of one function. Lengths within lengths are what no engine gets right.
fn wrap(locals: u32, code: &[u8]) -> Vec<u8> {
    let body = [&[1][..], &leb128(locals), &[0x7f], code, &[0x0b]].concat();
    let body = [leb128(length(&body)), body].concat();
    let section = |id: u8, content: &[u8]| [&[id][..], &leb128(length(content)), content].concat();
    let (types, functions, code) = (section(1, &[1, 0x60, 0, 0]), section(3, &[1, 0]), [vec![1], body].concat());
    let module = [b"\0asm\x01\0\0\0".to_vec(), types, functions, section(10, &code)].concat();
    [b"\0asm\x0d\0\x01\0".to_vec(), section(1, &module)].concat()
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("inputs are small")
}

fn leb128(mut number: u32) -> Vec<u8> {
    let mut written = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).expect("seven bits");
        number >>= 7;
        if number == 0 {
            written.push(low);
            return written;
        }
        written.push(low | 0x80);
    }
}

fn check(data: &[u8]) {
    let is_readable = Parser::new(0).parse_all(data).all(|payload| payload.is_ok());
    let max = usize::try_from(MEMORY_MAX_BYTES).expect("it fits");
    match bounds::check(data, max) {
        Ok(()) => assert!(is_readable, "what cannot be read was counted"),
        Err(LoadError::TooCostly { found, max, .. }) => {
            assert!(found > max, "{found} is within {max}");
            return;
        }
        Err(LoadError::MemoryAtStart { bytes, .. }) => {
            assert!(bytes > MEMORY_MAX_BYTES, "{bytes} bytes are within the bound");
            return;
        }
        Err(LoadError::Compile(cause)) => {
            let valid = Validator::new().validate_all(data);
            assert!(valid.is_err(), "what is valid was not read: {cause}");
            return;
        }
        Err(other) => panic!("no error of counting: {other}"),
    }
    if Validator::new().validate_all(data).is_ok() {
        let counts = Counts::of(data);
        assert!(counts.modules <= 100 && counts.components <= 100, "{counts:?}");
        assert!(counts.functions <= 100_000 && counts.data_segments <= 20_000, "{counts:?}");
        assert!(counts.memory_bytes <= MEMORY_MAX_BYTES, "{counts:?}");
        assert!(counts.locals <= 10_000 && counts.depth <= 10_000 && counts.loop_depth <= 64, "{counts:?}");
    }
}

/// What a valid component has.
#[derive(Debug, Default)]
struct Counts {
    modules: u64,
    components: u64,
    functions: u64,
    data_segments: u64,
    memory_bytes: u64,
    /// The most of one function.
    locals: u64,
    depth: usize,
    loop_depth: usize,
}

impl Counts {
    fn of(component: &[u8]) -> Self {
        let mut counts = Self::default();
        for payload in Parser::new(0).parse_all(component) {
            match payload.expect("it was read before") {
                Payload::ModuleSection { .. } => counts.modules += 1,
                Payload::ComponentSection { .. } => counts.components += 1,
                Payload::DataSection(section) => counts.data_segments += u64::from(section.count()),
                Payload::MemorySection(section) => {
                    let pages: u64 = section.into_iter().map(|memory| memory.expect("valid").initial).sum();
                    counts.memory_bytes += pages * 65_536;
                }
                Payload::CodeSectionEntry(body) => {
                    counts.functions += 1;
                    let locals = body.get_locals_reader().expect("valid");
                    let locals = locals.into_iter().map(|local| u64::from(local.expect("valid").0)).sum();
                    counts.locals = counts.locals.max(locals);
                    let mut open = Vec::new();
                    for operator in body.get_operators_reader().expect("valid") {
                        match operator.expect("valid") {
                            Operator::Loop { .. } => open.push(true),
                            Operator::Block { .. } | Operator::If { .. } | Operator::TryTable { .. } => {
                                open.push(false)
                            }
                            Operator::End => drop(open.pop()),
                            _ => {}
                        }
                        counts.depth = counts.depth.max(open.len());
                        counts.loop_depth = counts.loop_depth.max(open.iter().filter(|is_loop| **is_loop).count());
                    }
                }
                _ => {}
            }
        }
        counts
    }
}
