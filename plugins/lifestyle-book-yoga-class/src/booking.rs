//! The tools that are not a search: the rest of the Service shape (spec 1, "Tool sets per intent shape").
//!
//! The spec names these tools and their return types and shows no members of them. So only what the platform
//! cannot do without is asked: the identifiers that tie a call to an option and to a booking. What else partners
//! and orchestrators agree on passes as it comes.

use crate::judge::Index;
use crate::option::{Offer, YogaClassOption, YogaSlotOption};
use crate::{YogaClass, findings, tables};
use contract_sdk::json::Parser;
use contract_sdk::shape::{At, DateTime, Described, Inr, Text, ValueDesc};
use contract_sdk::{AnswerRules, Shape, Subject, Tool, ToolPolicy, Violations, code};

pub struct GetProviderDetail;

#[derive(Debug, Shape)]
pub struct DetailArguments<'a> {
    /// Identifier of the request that the option came from.
    pub request_id: Text<'a>,
    /// The studio, by `yoga_studio.identity.id` of the option.
    pub yoga_studio_id: Text<'a>,
}

impl Tool for GetProviderDetail {
    type Intent = YogaClass;
    type Arguments<'a> = DetailArguments<'a>;
    type Answer<'a> = YogaClassOption<'a>;

    const POLICY: ToolPolicy = tables::DETAIL;

    fn answer_rules(
        arguments: &DetailArguments<'_>,
        option: &YogaClassOption<'_>,
        _: &Subject<'_, Offer<'_>>,
        rules: &mut AnswerRules,
    ) {
        rules.refuse_other(
            &option.yoga_studio.identity.id,
            &arguments.yoga_studio_id,
            "/yoga_studio/identity/id",
            "the studio that was asked for",
        );
        findings::of(option, |code, pointer, message| rules.finding_if(true, code, pointer, message));
    }

    fn reference<'r>(_: &'r YogaClassOption<'_>) -> Option<&'r str> {
        None
    }
}

pub struct GetAvailableSlots;

#[derive(Debug, Shape)]
pub struct SlotsArguments<'a> {
    /// Identifier of the request that the option came from.
    pub request_id: Text<'a>,
    /// The studio, by `yoga_studio.identity.id` of the option.
    pub yoga_studio_id: Text<'a>,
    /// Only slots of this class.
    pub class_id: Option<Text<'a>>,
    /// Only slots of this instructor.
    pub instructor_id: Option<Text<'a>>,
}

/// The slots of a studio, as they should be sent.
#[derive(Debug, Shape)]
pub struct SlotObject<'a> {
    /// The slots; may be empty.
    pub slots: Vec<YogaSlotOption<'a>>,
}

/// The slots of a studio, as they may be sent: in their object, or as a bare array, as a search may be answered. The
/// schema shows the object alone.
#[derive(Debug)]
pub struct SlotList<'a> {
    slots: Vec<YogaSlotOption<'a>>,
    /// Where the array stands in the answer: its JSON Pointer.
    place: &'static str,
}

impl Described for SlotList<'_> {
    const DESC: ValueDesc = <SlotObject<'static> as Described>::DESC;
}

impl<'a> Shape<'a> for SlotList<'a> {
    fn read(from: &mut Parser<'a>, at: &At<'_>, out: &mut Violations) -> Option<Self> {
        if from.peek() == b'[' {
            return Vec::read(from, at, out).map(|slots| Self { slots, place: "" });
        }
        SlotObject::read(from, at, out).map(|SlotObject { slots }| Self { slots, place: "/slots" })
    }
}

impl Tool for GetAvailableSlots {
    type Intent = YogaClass;
    type Arguments<'a> = SlotsArguments<'a>;
    type Answer<'a> = SlotList<'a>;

    const POLICY: ToolPolicy = tables::SLOTS;

    fn answer_rules(
        arguments: &SlotsArguments<'_>,
        list: &SlotList<'_>,
        subject: &Subject<'_, Offer<'_>>,
        rules: &mut AnswerRules,
    ) {
        let asked = |wanted: &Option<Text<'_>>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
        let place = list.place;
        for (index, slot) in list.slots.iter().enumerate() {
            rules.refuse_if(
                !asked(&arguments.class_id, &slot.class_id),
                code::UNEXPECTED_VALUE,
                format_args!("{place}/{index}/class_id"),
                "Expected slots of the class that was asked for, and no other.",
            );
            rules.refuse_if(
                !asked(&arguments.instructor_id, &slot.instructor_id_assigned),
                code::UNEXPECTED_VALUE,
                format_args!("{place}/{index}/instructor_id_assigned"),
                "Expected slots of the instructor that was asked for, and no other.",
            );
        }
        if let Some(Offer { option, .. }) = subject.quoted {
            find_unknown(option, list, rules);
        }
    }

    fn reference<'r>(_: &'r SlotList<'_>) -> Option<&'r str> {
        None
    }
}

/// Slots of classes and instructors that the quoted option does not have.
fn find_unknown(option: &YogaClassOption<'_>, list: &SlotList<'_>, rules: &mut AnswerRules) {
    let classes = Index::of(option.yoga_class_catalog.iter().map(|class| &*class.class_id));
    let instructors = Index::of(option.instructors.iter().map(|instructor| &*instructor.instructor_id));
    let place = list.place;
    for (index, slot) in list.slots.iter().enumerate() {
        rules.finding_if(
            classes.find(&slot.class_id).is_none(),
            "UNKNOWN_CLASS",
            format_args!("{place}/{index}/class_id"),
            "The slot names no class of the quoted option.",
        );
        rules.finding_if(
            instructors.find(&slot.instructor_id_assigned).is_none(),
            "UNKNOWN_INSTRUCTOR",
            format_args!("{place}/{index}/instructor_id_assigned"),
            "The slot names no instructor of the quoted option.",
        );
    }
}

pub struct BookSlot;

#[derive(Debug, Shape)]
pub struct BookArguments<'a> {
    /// Identifier of the request; the same one gives the same booking.
    pub request_id: Text<'a>,
    /// The studio, by `yoga_studio.identity.id` of the option.
    pub yoga_studio_id: Text<'a>,
    /// The class of the slot.
    pub class_id: Text<'a>,
    /// The instructor of the slot.
    pub instructor_id: Text<'a>,
    /// When the slot starts.
    pub scheduled_for_iso: Option<DateTime>,
}

#[derive(Debug, Shape)]
pub struct BookingRef<'a> {
    /// The partner's identifier of the booking.
    pub booking_ref: Text<'a>,
}

impl Tool for BookSlot {
    type Intent = YogaClass;
    type Arguments<'a> = BookArguments<'a>;
    type Answer<'a> = BookingRef<'a>;

    const POLICY: ToolPolicy = tables::BOOK;

    fn reference<'r>(booking: &'r BookingRef<'_>) -> Option<&'r str> {
        Some(&booking.booking_ref)
    }
}

pub struct CancelBooking;

#[derive(Debug, Shape)]
pub struct CancelArguments<'a> {
    /// Identifier of the request that the booking came from.
    pub request_id: Text<'a>,
    /// The booking to cancel.
    pub booking_ref: Text<'a>,
    /// Why; the values are those of the gym session intent.
    pub reason_code: Option<Text<'a>>,
}

#[derive(Debug, Shape)]
pub struct RefundInfo<'a> {
    /// The booking that was cancelled.
    pub booking_ref: Option<Text<'a>>,
    /// What the user gets back, in INR.
    #[shape(min = 0)]
    pub refund_amount_inr: Option<Inr>,
}

impl Tool for CancelBooking {
    type Intent = YogaClass;
    type Arguments<'a> = CancelArguments<'a>;
    type Answer<'a> = RefundInfo<'a>;

    const POLICY: ToolPolicy = tables::CANCEL;

    fn answer_rules(
        arguments: &CancelArguments<'_>,
        refund: &RefundInfo<'_>,
        _: &Subject<'_, Offer<'_>>,
        rules: &mut AnswerRules,
    ) {
        if let Some(found) = &refund.booking_ref {
            rules.refuse_other(found, &arguments.booking_ref, "/booking_ref", "the booking that was to be cancelled");
        }
    }

    fn reference<'r>(refund: &'r RefundInfo<'_>) -> Option<&'r str> {
        refund.booking_ref.as_deref()
    }
}

pub struct ModifyBooking;

#[derive(Debug, Shape)]
pub struct ModifyArguments<'a> {
    /// Identifier of the request that the booking came from.
    pub request_id: Text<'a>,
    /// The booking to change.
    pub booking_ref: Text<'a>,
    /// The class instead.
    pub class_id: Option<Text<'a>>,
    /// The instructor instead.
    pub instructor_id: Option<Text<'a>>,
    /// When the slot instead starts.
    pub scheduled_for_iso: Option<DateTime>,
}

#[derive(Debug, Shape)]
pub struct RevisedBookingInfo<'a> {
    /// The booking as it is known from now on; partners may give a changed booking another identifier.
    pub booking_ref: Text<'a>,
}

impl Tool for ModifyBooking {
    type Intent = YogaClass;
    type Arguments<'a> = ModifyArguments<'a>;
    type Answer<'a> = RevisedBookingInfo<'a>;

    const POLICY: ToolPolicy = tables::MODIFY;

    fn reference<'r>(booking: &'r RevisedBookingInfo<'_>) -> Option<&'r str> {
        Some(&booking.booking_ref)
    }
}
