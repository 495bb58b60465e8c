//! The component's exports, for any contract.
//!
//! [`crate::export!`] names the contract in the contract's own crate; what it names is [`Component`].

use crate::bindings::{
    CheckedCompletion, CheckedResponse, Classification, Context, Descriptor, Evaluation, Example, Exchange, Guest,
    PastOrder, Payload, PreparedRequest, Refusal, Subject,
};
use crate::contract::Contract;
use crate::engine;
use std::marker::PhantomData;

/// A contract as a component.
pub struct Component<C>(PhantomData<C>);

/// What comes before every call: from here on a panic is told to the host. An instance serves one call, so this is once.
fn enter() {
    #[cfg(target_arch = "wasm32")]
    crate::faults::tell_of_panics();
}

impl<C: Contract> Guest for Component<C> {
    fn describe() -> Descriptor {
        enter();
        engine::describe::<C>()
    }

    fn classify(utterance: String, locale: String) -> Classification {
        enter();
        engine::classify::<C>(&utterance, &locale)
    }

    fn check_request(
        context: Context,
        tool: String,
        arguments: String,
        about: Subject,
    ) -> Result<PreparedRequest, Refusal> {
        enter();
        engine::check_request::<C>(&context, &tool, arguments, &about)
    }

    fn evaluate(
        context: Context,
        request: String,
        payloads: Vec<Payload>,
        history: Vec<PastOrder>,
    ) -> Result<Evaluation, Refusal> {
        enter();
        engine::evaluate::<C>(&context, &request, &payloads, &history)
    }

    fn check_response(context: Context, exchange: Exchange) -> Result<CheckedResponse, Refusal> {
        enter();
        engine::check_response::<C>(&context, &exchange)
    }

    fn check_completion(context: Context, report: String, about: Subject) -> Result<CheckedCompletion, Refusal> {
        enter();
        engine::check_completion::<C>(&context, &report, &about)
    }

    fn examples() -> Vec<Example> {
        enter();
        engine::examples::<C>()
    }
}

/// Makes the component's exports of a contract. Once per component, in its own crate.
///
/// Natively it only checks that the type is a contract, so that the same crate is an ordinary library there.
#[macro_export]
macro_rules! export {
    ($contract:ty) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            type Exported = $crate::export::Component<$contract>;
    $crate::bindings::export_component!(Exported with_types_in $crate::bindings);
        };
        #[cfg(not(target_arch = "wasm32"))]
        const _: fn() = || {
            fn is_contract<C: $crate::Contract>() {}
            is_contract::<$contract>();
        };
    };
}
