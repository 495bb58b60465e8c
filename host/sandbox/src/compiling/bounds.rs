//! What a component may have of what makes compiling costly: counted in one pass over its bytes, which takes time in
//! proportion to them and hardly any memory, before anything of it is compiled.
//!
//! A few kilobytes can ask for work without end: locals are declared a thousand at a time, and each block of a function
//! may have to carry each of them. The bounds lie well above what compilers of real languages write. What they let pass
//! and is costly all the same, the limits of the compiling process end.

use wasmparser::{BinaryReaderError, CompositeInnerType, FunctionBody, Operator, Parser, Payload};

use crate::failure::LoadError;

/// Core modules of a component, those of nested components included.
const MODULES_MAX: u64 = 100;
/// Components in a component, at any depth.
const COMPONENTS_MAX: u64 = 100;
/// Functions with a body, of all modules.
const FUNCTIONS_MAX: u64 = 100_000;
/// Parameters and results of one function type of a core module.
const FUNCTION_ARITY_MAX: u64 = 200;
/// Body of one function, bytes.
const FUNCTION_MAX_BYTES: u64 = 2 * 1024 * 1024;
/// Local variables of one function, its parameters not counted.
const LOCALS_MAX: u64 = 10_000;
/// Blocks of one function that lie in each other. Go nests one for each point at which a function can be resumed.
const NESTING_MAX: u64 = 10_000;
/// Loops of one function that lie in each other: with each, what all of them carry is carried once more.
const LOOP_NESTING_MAX: u64 = 64;
/// Blocks of one function, times its local variables: what may have to be carried from block to block. A loop counts
/// [`LOOP_WEIGHT`] times.
const CARRIED_MAX: u64 = 20_000_000;
/// How much more a loop costs than another block: what it carries arrives from two sides.
const LOOP_WEIGHT: u64 = 4;
/// Segments of data, of all modules. Snapshots of an initialised memory have the most.
const DATA_SEGMENTS_MAX: u64 = 20_000;

/// What was counted of a whole component.
#[derive(Default)]
struct Counts {
    modules: u64,
    components: u64,
    functions: u64,
    data_segments: u64,
    /// What all memories begin with, bytes.
    memory_bytes: u64,
}

/// Checks a component against the bounds.
///
/// # Errors
/// [`LoadError::TooCostly`] and [`LoadError::MemoryAtStart`] for the first bound that it breaks, [`LoadError::Compile`]
/// when it cannot be read to its end.
pub(crate) fn check(bytes: &[u8], memory_max_bytes: usize) -> Result<(), LoadError> {
    let mut counts = Counts::default();
    for payload in Parser::new(0).parse_all(bytes) {
        counts.add(payload.map_err(unreadable)?)?;
        let max = u64::try_from(memory_max_bytes).unwrap_or(u64::MAX);
        if counts.memory_bytes > max {
            return Err(LoadError::MemoryAtStart { bytes: counts.memory_bytes, max: memory_max_bytes });
        }
    }
    Ok(())
}

impl Counts {
    fn add(&mut self, payload: Payload<'_>) -> Result<(), LoadError> {
        match payload {
            Payload::ModuleSection { .. } => raise(&mut self.modules, 1, MODULES_MAX, "core modules"),
            Payload::ComponentSection { .. } => raise(&mut self.components, 1, COMPONENTS_MAX, "components in it"),
            Payload::FunctionSection(section) => {
                raise(&mut self.functions, section.count().into(), FUNCTIONS_MAX, "functions")
            }
            Payload::DataSection(section) => {
                raise(&mut self.data_segments, section.count().into(), DATA_SEGMENTS_MAX, "segments of data")
            }
            Payload::MemorySection(section) => {
                for memory in section {
                    let memory = memory.map_err(unreadable)?;
                    let bytes =
                        memory.initial.saturating_mul(1_u64.checked_shl(memory.page_size_log2()).unwrap_or(u64::MAX));
                    self.memory_bytes = self.memory_bytes.saturating_add(bytes);
                }
                Ok(())
            }
            Payload::TypeSection(section) => {
                for group in section {
                    for subtype in group.map_err(unreadable)?.types() {
                        if let CompositeInnerType::Func(function) = &subtype.composite_type.inner {
                            let arity = function.params().len() + function.results().len();
                            within(wide(arity), FUNCTION_ARITY_MAX, "parameters and results of one function")?;
                        }
                    }
                }
                Ok(())
            }
            Payload::CodeSectionEntry(body) => check_function(&body),
            _ => Ok(()),
        }
    }
}

fn check_function(body: &FunctionBody<'_>) -> Result<(), LoadError> {
    within(wide(body.as_bytes().len()), FUNCTION_MAX_BYTES, "bytes of code in one function")?;
    let mut locals = 0;
    for declared in body.get_locals_reader().map_err(unreadable)? {
        let (count, _) = declared.map_err(unreadable)?;
        raise(&mut locals, count.into(), LOCALS_MAX, "local variables in one function")?;
    }
    // Which of the blocks that are open are loops. The first `end` without one is that of the function itself.
    let mut open = Vec::new();
    let (mut loops, mut blocks) = (0_u64, 0_u64);
    let mut operators = body.get_operators_reader().map_err(unreadable)?;
    while !operators.eof() {
        match operators.read().map_err(unreadable)? {
            Operator::Block { .. } | Operator::If { .. } | Operator::TryTable { .. } => {
                open.push(false);
                blocks += 1;
            }
            Operator::Loop { .. } => {
                open.push(true);
                blocks += LOOP_WEIGHT;
                raise(&mut loops, 1, LOOP_NESTING_MAX, "loops in each other in one function")?;
            }
            Operator::End => loops -= u64::from(open.pop() == Some(true)),
            _ => {}
        }
        within(wide(open.len()), NESTING_MAX, "blocks in each other in one function")?;
    }
    within(blocks.saturating_mul(locals), CARRIED_MAX, "blocks times local variables in one function")
}

/// Adds to a count that has a bound.
fn raise(count: &mut u64, by: u64, max: u64, bound: &'static str) -> Result<(), LoadError> {
    *count = count.saturating_add(by);
    within(*count, max, bound)
}

fn within(found: u64, max: u64, bound: &'static str) -> Result<(), LoadError> {
    if found <= max { Ok(()) } else { Err(too_costly(found, max, bound)) }
}

fn too_costly(found: u64, max: u64, bound: &'static str) -> LoadError {
    LoadError::TooCostly { found, max, bound }
}

/// What cannot be counted is not compiled.
fn unreadable(error: BinaryReaderError) -> LoadError {
    LoadError::Compile(error.into())
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound that a component breaks, with what was found.
    fn broken(component: &str) -> Option<(&'static str, u64)> {
        let bytes = wat::parse_str(component).expect("the text is a component");
        match check(&bytes, 64 * 1024 * 1024) {
            Ok(()) => None,
            Err(LoadError::TooCostly { bound, found, .. }) => Some((bound, found)),
            Err(other) => panic!("{other:?}"),
        }
    }

    fn module(body: &str) -> String {
        format!("(component (core module {body}))")
    }

    fn function(locals: u64, body: &str) -> String {
        let locals = "i32 ".repeat(usize::try_from(locals).expect("few"));
        module(&format!("(func (local {locals}) {body})"))
    }

    /// Each bound holds one, and refuses one more.
    fn holds(bound: &'static str, max: u64, component: impl Fn(u64) -> String) {
        assert_eq!(broken(&component(max)), None, "{bound}");
        assert_eq!(broken(&component(max + 1)), Some((bound, max + 1)));
    }

    fn repeat(text: &str, times: u64) -> String {
        text.repeat(usize::try_from(times).expect("few"))
    }

    #[test]
    fn each_count_has_its_bound() {
        holds("core modules", MODULES_MAX, |n| format!("(component {})", repeat("(core module)", n)));
        holds("components in it", COMPONENTS_MAX, |n| format!("(component {})", repeat("(component)", n)));
        holds("functions", FUNCTIONS_MAX, |n| module(&repeat("(func)", n)));
        holds("segments of data", DATA_SEGMENTS_MAX, |n| module(&repeat("(data)", n)));
        holds("parameters and results of one function", FUNCTION_ARITY_MAX, |n| {
            module(&format!("(type (func (param {}) (result i32)))", repeat("i32 ", n - 1)))
        });
        holds("local variables in one function", LOCALS_MAX, |n| function(n, ""));
        holds("blocks in each other in one function", NESTING_MAX, |n| {
            function(0, &format!("{}{}", repeat("block ", n), repeat("end ", n)))
        });
        holds("loops in each other in one function", LOOP_NESTING_MAX, |n| {
            function(0, &format!("{}{} loop end", repeat("loop block ", n), repeat("end end ", n)))
        });
    }

    #[test]
    fn a_body_has_its_bound() {
        let body = |n: u64| function(0, &repeat("nop ", n));
        // Before the operators there is the empty list of locals, and behind them an end.
        assert_eq!(broken(&body(FUNCTION_MAX_BYTES - 2)), None);
        let bound = "bytes of code in one function";
        assert_eq!(broken(&body(FUNCTION_MAX_BYTES - 1)), Some((bound, FUNCTION_MAX_BYTES + 1)));
    }

    #[test]
    fn what_is_carried_from_block_to_block_has_its_bound() {
        let bound = "blocks times local variables in one function";
        for (block, weight) in [("block end ", 1), ("loop end ", LOOP_WEIGHT)] {
            let most = CARRIED_MAX / LOCALS_MAX / weight;
            assert_eq!(broken(&function(LOCALS_MAX, &repeat(block, most))), None, "{block}");
            let found = Some((bound, (most + 1) * weight * LOCALS_MAX));
            assert_eq!(broken(&function(LOCALS_MAX, &repeat(block, most + 1))), found);
        }
    }

    #[test]
    fn what_lies_in_nested_components_counts() {
        let half = repeat("(core module)", MODULES_MAX / 2);
        let nested = |more: &str| format!("(component {half} (component (component {half} {more})))");
        assert_eq!(broken(&nested("")), None);
        assert_eq!(broken(&nested("(core module)")), Some(("core modules", MODULES_MAX + 1)));
    }

    #[test]
    fn all_memories_together_begin_within_the_cap_of_an_instance() {
        let memories = |pages: [u64; 2]| {
            let [first, second] = pages;
            let text = format!("(component (core module (memory {first})) (core module (memory {second})))");
            check(&wat::parse_str(text).expect("a component"), 64 * 1024 * 1024)
        };
        assert!(memories([512, 512]).is_ok());
        let refused = memories([512, 513]);
        assert!(matches!(refused, Err(LoadError::MemoryAtStart { bytes: 67_174_400, max: 67_108_864 })), "{refused:?}");
    }

    #[test]
    fn what_cannot_be_read_is_not_compiled() {
        let mut bytes = wat::parse_str(module("(func)")).expect("a component");
        bytes.pop();
        assert!(matches!(check(&bytes, 0), Err(LoadError::Compile(_))));
    }
}
