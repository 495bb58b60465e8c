//! Temporary: tries cases until the CLI can.
#![allow(clippy::print_stdout, clippy::allow_attributes_without_reason)]
use intent_gateway_core::ports::Contract as _;
use intent_gateway_kit::cases::{Suite, gaps, run};
use intent_gateway_sandbox::{Engine, LoadedContract, SandboxConfig};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let suite = Suite::read(std::path::Path::new(&args[2])).unwrap_or_else(|e| {
        let mut s = Some(&e as &dyn std::error::Error);
        while let Some(x) = s {
            println!("{x}");
            s = x.source();
        }
        std::process::exit(2)
    });
    let bytes = std::fs::read(&args[1]).unwrap();
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    rt.block_on(async {
        let engine = Engine::new(&SandboxConfig::default()).unwrap();
        let contract = LoadedContract::compile(&engine, &bytes).await.unwrap();
        let report = run(&contract, &suite).await;
        for f in &report.failures {
            println!("FAIL {} | {} | expected {} | found {}", f.file, f.case, f.expected, f.found);
        }
        let g = gaps(contract.descriptor(), &suite);
        for g in &g {
            println!("GAP {} {} : {}", g.document, g.place, g.missing);
        }
        println!("{} cases, {} failures, {} gaps", report.cases, report.failures.len(), g.len());
    });
}
