//! Why a component did not become a version, by type, with a stable code for each.

use intent_gateway_domain::error::ContractFault;
use intent_gateway_domain::platform_code::PlatformCode;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Problems of one descriptor that are listed; the rest is only counted.
const PROBLEMS_LISTED_MAX: usize = 20;

/// A component was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It is larger than a contract may be.
    #[error("the component has {bytes} bytes; a contract has at most {max}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The bound.
        max: usize,
    },
    /// The file could not be read.
    #[error("the file could not be read")]
    Unreadable(#[source] std::io::Error),
    /// It is no WebAssembly component.
    #[error("this is no WebAssembly component: {0}")]
    NotAComponent(&'static str),
    /// It is machine code. The gateway runs only code that it compiled itself.
    #[error("this is compiled code; hand in the WebAssembly component, the gateway compiles it itself")]
    CompiledInput,
    /// It has more of something than can be compiled at a bearable cost.
    #[error("the component has {found} {bound}; a contract has at most {max}")]
    TooCostly {
        /// What there is too much of.
        bound: &'static str,
        /// How much was counted, at least.
        found: u64,
        /// The bound.
        max: u64,
    },
    /// Compiling it ran into a bound.
    #[error("the component is too costly to compile: {0}")]
    CompileTooCostly(CompileBound),
    /// It does not validate, or needs more than an instance may have.
    #[error("the component does not compile")]
    Compile(#[source] Cause),
    /// It starts with more memory than an instance may have.
    #[error(
        "the component starts with {bytes} bytes of memory, and an instance has at most {max}; make its constant data smaller, \
         or build it with less memory to begin with"
    )]
    MemoryAtStart {
        /// What it starts with.
        bytes: u64,
        /// The bound.
        max: usize,
    },
    /// It was built for another version of the contract interface.
    #[error(
        "the component exports `{found}`; this gateway runs `{expected}`: build it against the interface of this gateway's \
         release (wit/contract.wit)"
    )]
    AbiMismatch {
        /// What it exports.
        found: String,
        /// What is expected.
        expected: String,
    },
    /// Something that every contract exports is not there.
    #[error(
        "the component does not export `{0}`; a contract exports the whole interface of wit/contract.wit, in Rust by \
         `contract_sdk::export!`"
    )]
    MissingExport(String),
    /// A function is there with other types.
    #[error("the exported function `{function}` has the wrong type")]
    ExportType {
        /// Name of the function.
        function: &'static str,
        /// How it differs.
        #[source]
        cause: Cause,
    },
    /// It wants something that no contract may have.
    #[error(
        "the component imports `{0}`, which no contract may; take out what needs it: a contract has its arguments and \
         nothing else"
    )]
    ForbiddenImport(String),
    /// `describe` failed.
    #[error("`describe` failed{}", said(.0))]
    Describe(#[source] ContractFault),
    /// What `describe` returned breaks the rules.
    #[error("the descriptor is not valid: {}", list_problems(.0))]
    Descriptor(Vec<String>),
    /// `examples` failed.
    #[error("`examples` failed{}", said(.0))]
    Examples(#[source] ContractFault),
    /// There is no example for a function.
    #[error("there is no example for `{0}`; each function needs one")]
    ExampleMissing(&'static str),
    /// There are more examples than are run.
    #[error("there are {count} examples; at most {max} are run, so take some out")]
    TooManyExamples {
        /// How many.
        count: usize,
        /// The bound.
        max: usize,
    },
    /// The examples took too long together.
    #[error("the examples took more than {0} s together; take some out, or make them smaller")]
    ExamplesTooSlow(u64),
    /// An example came out otherwise than it says.
    #[error("example `{name}`: expected {expected}, got {got}")]
    ExampleFailed {
        name: String,
        /// What it says.
        expected: String,
        /// What came out.
        got: String,
    },
    /// The thread or process that compiled it could not do its work, a defect of the gateway.
    #[error("loading broke off")]
    Broken(#[source] Cause),
}

/// What compiling one component may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileBound {
    /// Time, milliseconds.
    #[error("it took more than `sandbox.compile_timeout_ms`, {0} ms")]
    Time(u64),
    /// Memory of the compiling process, bytes.
    #[error("it took more than `sandbox.compile_memory_max_bytes`, {0} bytes")]
    Memory(usize),
    /// Size of the compiled code, bytes.
    #[error("the compiled code has more than {0} bytes, the most for a component of its size")]
    Output(usize),
}

impl LoadError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "COMPONENT_TOO_LARGE",
            Self::Unreadable(_) => "COMPONENT_UNREADABLE",
            Self::NotAComponent(_) => "NOT_A_COMPONENT",
            Self::CompiledInput => "COMPILED_INPUT_REFUSED",
            Self::TooCostly { .. } | Self::CompileTooCostly(_) => "COMPILE_TOO_COSTLY",
            Self::Compile(_) | Self::MemoryAtStart { .. } => "COMPILE_FAILED",
            Self::AbiMismatch { .. } => "ABI_MISMATCH",
            Self::MissingExport(_) => "MISSING_EXPORT",
            Self::ExportType { .. } => "EXPORT_TYPE_MISMATCH",
            Self::ForbiddenImport(_) => "FORBIDDEN_IMPORT",
            Self::Describe(_) => "DESCRIBE_FAILED",
            Self::Descriptor(_) => "DESCRIPTOR_INVALID",
            Self::Examples(_) | Self::ExampleMissing(_) | Self::TooManyExamples { .. } | Self::ExamplesTooSlow(_) => {
                "EXAMPLES_INVALID"
            }
            Self::ExampleFailed { .. } => "EXAMPLE_FAILED",
            Self::Broken(_) => PlatformCode::InternalError.as_str(),
        }
    }
}

/// What the contract said of its fault, as the middle of a message: the fault itself is the cause and comes behind it.
fn said(fault: &ContractFault) -> String {
    fault.told().map_or_else(String::new, |told| format!(", saying {told}"))
}

fn list_problems(problems: &[String]) -> String {
    let mut text = problems.iter().take(PROBLEMS_LISTED_MAX).map(String::as_str).collect::<Vec<_>>().join("; ");
    if let Some(more) = problems.len().checked_sub(PROBLEMS_LISTED_MAX).filter(|more| *more > 0) {
        text.push_str(&format!("; and {more} more"));
    }
    text
}
