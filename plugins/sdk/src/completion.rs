//! Completion reports: the common members and those of the intent, read from one object in one pass.

use crate::Violations;
use crate::common::CommonReport;
use crate::json::Parser;
use crate::shape::{At, Described, FieldDesc, Fields, Kind, ObjectShape, Shape, ValueDesc, read_object};

/// A completion report: the members that every intent has, and those of this one.
#[derive(Debug, Clone)]
pub struct Report<'a, E> {
    pub common: CommonReport<'a>,
    pub extra: E,
}

impl<E: Fields> Described for Report<'_, E> {
    const DESC: ValueDesc = ValueDesc::of(Kind::Object(&[<CommonReport<'static> as Fields>::FIELDS, E::FIELDS]));
}

impl<E> Fields for Report<'_, E> {
    /// The common members; those of the intent are in `E::FIELDS`.
    const FIELDS: &'static [FieldDesc] = <CommonReport<'static> as Fields>::FIELDS;
}

impl<'a, E: ObjectShape<'a>> Shape<'a> for Report<'a, E> {
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        read_object(from, at, out)
    }
}

/// Index of the first member of the intent: those before it are the common ones.
const EXTRA: usize = <CommonReport<'static> as ObjectShape<'static>>::COUNT;

impl<'a, E: ObjectShape<'a>> ObjectShape<'a> for Report<'a, E> {
    type Partial = (<CommonReport<'a> as ObjectShape<'a>>::Partial, E::Partial);
    const COUNT: usize = EXTRA + E::COUNT;

    fn index(name: &str) -> Option<usize> {
        CommonReport::index(name).or_else(|| E::index(name).map(|index| EXTRA + index))
    }

    fn in_order(
        (common, extra): &mut Self::Partial,
        first: bool,
        from: &mut Parser<'a>,
        at: &At<'_>,
        out: &mut Violations,
    ) -> bool {
        let first = CommonReport::in_order(common, first, from, at, out);
        E::in_order(extra, first, from, at, out)
    }

    fn member(
        (common, extra): &mut Self::Partial,
        index: usize,
        from: &mut Parser<'a>,
        at: &At<'_>,
        out: &mut Violations,
    ) {
        if index < EXTRA {
            CommonReport::member(common, index, from, at, out);
        } else {
            E::member(extra, index - EXTRA, from, at, out);
        }
    }

    fn finish((common, extra): Self::Partial, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        let common = CommonReport::finish(common, at, out);
        let extra = E::finish(extra, at, out);
        Some(Self { common: common?, extra: extra? })
    }
}
