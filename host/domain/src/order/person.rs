//! An order without the person whose it is: what is left of it when its user is erased.
//!
//! It can still be called by its partner's identifiers, reported and charged; nobody can say whose it was.

use crate::contract::{OrderSource, OrderWay};
use crate::vault::Vault;

use super::{Happening, Order};

/// What the mark of an order that is nobody's is made for.
const NOBODY: &str = "order-of-nobody";

impl Order {
    /// Takes the person out. It is then under a mark of its own, which says nothing of whose it was. The names that it had
    /// before stay until its record is removed and kept anew.
    ///
    /// What the contract keeps of arguments goes; where its way is not known, all goes that is kept but the partner's
    /// identifiers.
    pub fn forget_person(&mut self, vault: &Vault, way: Option<&OrderWay>) {
        self.is_nobodys = true;
        self.owner.asker = vault.mark(NOBODY, self.id.as_str());
        let identifiers = &self.identifiers;
        self.kept.retain(|name, value| match way {
            Some(way) => !is_of_arguments(way, name),
            None => value.as_str().is_some_and(|text| identifiers.contains(text)),
        });
        for event in &mut self.history {
            if let Happening::Called { attempt, .. } = &mut event.what {
                *attempt = None;
            }
        }
    }

    /// Where the calls of its history are kept under their keys.
    pub fn attempts(&self) -> impl Iterator<Item = &str> {
        self.history.iter().filter_map(|event| match &event.what {
            Happening::Called { attempt, .. } => attempt.as_deref(),
            _ => None,
        })
    }
}

/// Whether some step keeps a value out of its arguments, unless the report is judged by it.
fn is_of_arguments(way: &OrderWay, name: &str) -> bool {
    let is_needed = [&way.amount, &way.due_after].into_iter().flatten().any(|needed| needed == name);
    let mut keeps = way.steps.iter().flat_map(|step| &step.keeps).filter(|value| value.name == name);
    !is_needed && keeps.any(|value| value.source == OrderSource::Arguments && !value.identifies)
}
