//! One order with what its contract says of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use intent_gateway_domain::contract::{Descriptor, Milestone, OrderSource, OrderWay};
use intent_gateway_domain::money::Paise;
use intent_gateway_domain::order::{FAILED, Order, OrderedOption, PENDING};
use intent_gateway_domain::partner::Partner;
use intent_gateway_domain::pointer;
use intent_gateway_domain::ports::find_version;
use intent_gateway_domain::store::{StoreError, load};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Orders;
use crate::pinned::PinnedContract;

/// An order with what stands around it.
#[derive(Clone, Debug)]
pub struct OrderView {
    pub order: Order,
    /// Whether nobody knows if the partner has it, at the time of looking.
    pub in_doubt: bool,
    /// The option as the search returned it, where it is kept.
    pub option: Option<Box<RawValue>>,
    /// The partner, where its server is known.
    pub partner: Option<Arc<Partner>>,
    /// The contract under which it was opened; the intent's live one where that is gone.
    pub contract: Option<PinnedContract>,
}

impl Orders {
    /// An order with what stands around it.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    pub async fn view(&self, order: Order) -> Result<OrderView, StoreError> {
        let option = load::<OrderedOption>(&*self.store, order.id.as_str()).await?;
        let contract = find_version(&*self.contracts, order.contract).await;
        let contract = contract.or_else(|| self.contracts.live(order.intent.as_str()));
        Ok(OrderView {
            in_doubt: order.is_in_doubt(self.clock.now()),
            option: option.map(|kept| kept.value.option),
            partner: self.directory.find_known(&order.partner),
            contract: contract.map(PinnedContract),
            order,
        })
    }
}

impl OrderView {
    pub(super) fn descriptor(&self) -> Option<&Descriptor> {
        self.contract.as_ref().map(|contract| contract.descriptor())
    }

    pub(super) fn way(&self) -> Option<&OrderWay> {
        self.descriptor()?.order.as_ref()
    }

    /// What its state means, for people. None where no contract is left that knows it.
    #[must_use]
    pub fn meaning(&self) -> Option<&str> {
        let Order { state, report, .. } = &self.order;
        match state.as_str() {
            PENDING => Some("The call that opens it has no answer yet."),
            FAILED => Some("The call that was to open it certainly did nothing."),
            _ if report.is_some() => Some("The partner has reported that it is over."),
            state => Some(&self.way()?.state(state)?.meaning),
        }
    }

    /// What the user has, or owes, in its state.
    #[must_use]
    pub fn milestones(&self) -> &[Milestone] {
        let state = self.way().and_then(|way| way.state(&self.order.state));
        state.map_or(&[], |state| &state.milestones)
    }

    /// What the user was told to pay in all: what the order keeps of it, else the price of the option.
    #[must_use]
    pub fn quoted_amount(&self) -> Option<Paise> {
        let kept = self.way().and_then(|way| self.order.kept.get(way.amount.as_ref()?));
        if let Some(Value::Number(amount)) = kept {
            return Paise::from_inr(&amount.to_string()).ok();
        }
        let at = self.descriptor()?.search.price_pointer.as_ref()?;
        Paise::from_inr(pointer::find_in(self.option.as_ref()?, at)?.get()).ok()
    }

    /// What is kept that the partner itself has said: of its option, or in its answers. What only the user's side has said is
    /// left out, and so is everything where the contract that told the two apart is not loaded any more.
    #[must_use]
    pub fn kept_of_partner(&self) -> BTreeMap<&str, &Value> {
        let own = self.contract.as_ref().is_some_and(|contract| contract.digest() == self.order.contract);
        let Some(way) = self.way().filter(|_| own) else { return BTreeMap::new() };
        let (mut said, mut of_arguments) = (BTreeSet::new(), BTreeSet::new());
        for value in way.steps.iter().flat_map(|step| &step.keeps) {
            match value.source {
                OrderSource::Arguments => of_arguments.insert(value.name.as_str()),
                OrderSource::Option | OrderSource::Answer => said.insert(value.name.as_str()),
            };
        }
        let names = said.difference(&of_arguments);
        names.filter_map(|name| Some((*name, self.order.kept.get(*name)?))).collect()
    }
}
