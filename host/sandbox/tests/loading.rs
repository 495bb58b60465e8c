//! Components that must never become a version, and that each says exactly why. The ones that break the
//! interface itself are written as component text.

mod support;

use intent_gateway_sandbox::{Engine, LoadError, LoadedContract, SandboxConfig};
use support::hostile;

/// A component that exports these members (instance text) under this name.
fn exporting(name: &str, members: &str) -> Vec<u8> {
    wat::parse_str(format!(
        r#"(component
            (core module $m (func (export "f")))
            (core instance $core (instantiate $m))
            (func $f (canon lift (core func $core "f")))
            (instance $contract {members})
            (export "{name}" (instance $contract)))"#
    ))
    .expect("the text is a component")
}

async fn refusal(bytes: &[u8]) -> LoadError {
    let engine = Engine::new(&SandboxConfig { max_concurrent_instances: 2, ..SandboxConfig::default() })
        .expect("the engine starts");
    match LoadedContract::compile(&engine, bytes).await {
        Err(error) => error,
        Ok(contract) => contract.run_examples().await.expect_err("it must not load"),
    }
}

const ALL: &str = r#"
    (export "describe" (func $f)) (export "classify" (func $f)) (export "check-request" (func $f))
    (export "evaluate" (func $f)) (export "check-response" (func $f)) (export "check-completion" (func $f))
    (export "examples" (func $f))"#;

#[tokio::test]
async fn what_is_no_component_is_refused() {
    for bytes in [&b"hello"[..], b"", &wat::parse_str("(module)").expect("a module")] {
        assert_eq!(refusal(bytes).await.code(), "NOT_A_COMPONENT");
    }
    let mut damaged = hostile("1.0.0", "honest");
    damaged.truncate(damaged.len() / 2);
    assert_eq!(refusal(&damaged).await.code(), "COMPILE_FAILED");
}

#[tokio::test]
async fn compiled_code_is_refused() {
    let engine = wasmtime::Engine::default();
    let component = wat::parse_str("(component)").expect("a component");
    let compiled = engine.precompile_component(&component).expect("it compiles");
    assert_eq!(refusal(&compiled).await.code(), "COMPILED_INPUT_REFUSED");
    assert_eq!(refusal(b"\x7fELF and so on").await.code(), "COMPILED_INPUT_REFUSED");
}

#[tokio::test]
async fn another_interface_version_is_named() {
    let error = refusal(&exporting("intent-gateway:contract/contract@2.1.0", ALL)).await;
    assert_eq!(error.code(), "ABI_MISMATCH");
    let text = error.to_string();
    assert!(text.contains("@2.1.0") && text.contains("@1.0.0"), "{text}");
}

#[tokio::test]
async fn a_missing_export_is_named() {
    let error = refusal(&exporting("some:other/thing@1.0.0", ALL)).await;
    assert_eq!(error.code(), "MISSING_EXPORT");
    assert!(error.to_string().contains("intent-gateway:contract/contract@1.0.0"), "{error}");

    let without = ALL.replace(r#"(export "evaluate" (func $f))"#, "");
    let error = refusal(&exporting("intent-gateway:contract/contract@1.0.0", &without)).await;
    assert_eq!(error.code(), "MISSING_EXPORT");
    assert!(error.to_string().contains("#evaluate"), "{error}");
}

#[tokio::test]
async fn a_wrong_type_is_named() {
    // A later minor version of the interface passes by its number; its functions are compared all the same.
    for version in ["1.0.0", "1.4.0"] {
        let error = refusal(&exporting(&format!("intent-gateway:contract/contract@{version}"), ALL)).await;
        assert_eq!(error.code(), "EXPORT_TYPE_MISMATCH");
        assert!(error.to_string().contains("`describe`"), "{error}");
    }
}

#[tokio::test]
async fn forbidden_imports_are_named() {
    for import in [
        "wasi:sockets/network@0.2.0",
        "wasi:http/types@0.2.0",
        "evil:host/shell@1.0.0",
        "env",
        "intent-gateway:contract/faults@2.0.0",
        "intent-gateway:contract/faults-too@1.0.0",
        "intent-gateway:contract/faults",
    ] {
        let text = format!(r#"(component (import "{import}" (instance)))"#);
        let error = refusal(&wat::parse_str(text).expect("a component")).await;
        assert_eq!(error.code(), "FORBIDDEN_IMPORT");
        assert!(error.to_string().contains(import), "{error}");
    }
}

#[tokio::test]
async fn a_contract_may_say_why_it_fails_and_need_not() {
    let report = r#"(export "report" (func (param "message" string) (param "place" (option string))))"#;
    for version in ["1.0.0", "1.7.0"] {
        let text = format!(r#"(component (import "intent-gateway:contract/faults@{version}" (instance {report})))"#);
        let error = refusal(&wat::parse_str(text).expect("a component")).await;
        assert_eq!(error.code(), "MISSING_EXPORT", "the import is none of its faults");
    }
    assert_eq!(refusal(&wat::parse_str("(component)").expect("a component")).await.code(), "MISSING_EXPORT");
}

#[tokio::test]
async fn more_memory_than_an_instance_may_have_is_refused() {
    let text = r#"(component (core module $m (memory 2000)) (core instance (instantiate $m)))"#;
    let error = refusal(&wat::parse_str(text).expect("a component")).await;
    assert_eq!(error.code(), "COMPILE_FAILED");
    let told = error.to_string();
    assert!(told.starts_with("the component starts with 131072000 bytes of memory"), "{told}");
    assert!(told.contains("at most 67108864; make its constant data smaller"), "{told}");
}

#[tokio::test]
async fn a_failing_describe_is_told() {
    for (mode, cause) in [("describe-traps", "trapped"), ("describe-spins", "deadline")] {
        let error = refusal(&hostile("1.0.0", mode)).await;
        assert_eq!(error.code(), "DESCRIBE_FAILED");
        let source = std::error::Error::source(&error).expect("it has a cause").to_string();
        assert!(source.contains(cause), "{source}");
    }
}

#[tokio::test]
async fn a_bad_descriptor_is_told_with_every_problem() {
    let error = refusal(&hostile("1.0.0", "bad-descriptor")).await;
    assert_eq!(error.code(), "DESCRIPTOR_INVALID");
    let text = error.to_string();
    for part in [
        "`domain` is `auto`",
        "no semantic version",
        "another role than search",
        "`search.options-key` is empty",
        "`search.price-pointer` is `thing_inr`",
        "`search.max-options` is 0",
        "the axis weights sum to 1.25",
        "`ranking.declared-share` is 2",
        "the weights of the time signals sum to 0.9",
        "tool `search_things` occurs twice",
        "charged status `sold`",
        "the HTTP status of `FEE_DUE` is 99",
        "there are no cues",
        "names the tool `search_nothing`, which there is not",
        "the request schema of `search_things` is no JSON object",
        "the schema of the completion report is no JSON object",
    ] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
}

#[tokio::test]
async fn examples_must_hold_and_cover_every_function() {
    let error = refusal(&hostile("1.0.0", "example-fails")).await;
    assert_eq!(error.code(), "EXAMPLE_FAILED");
    let text = error.to_string();
    assert!(text.contains("`options are ranked`"), "{text}");
    assert!(text.contains("second, first") && text.contains("first, second"), "{text}");

    let error = refusal(&hostile("1.0.0", "example-traps")).await;
    assert_eq!(error.code(), "EXAMPLE_FAILED");
    assert!(error.to_string().contains("trapped"), "{error}");

    let error = refusal(&hostile("1.0.0", "example-missing")).await;
    assert_eq!(error.code(), "EXAMPLES_INVALID");
    assert!(error.to_string().contains("`check-response`"), "{error}");
}
