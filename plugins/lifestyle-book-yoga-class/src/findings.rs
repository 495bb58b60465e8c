//! What is wrong in an option, whatever the request (spec 3, "Rules that must hold"). The option stays; the
//! platform team is told.
//!
//! The other rules there speak of what no payload shows: temperatures, hygiene, chains of teachers, who taught last
//! month. Those are the platform team's to look into.

use crate::option::YogaClassOption;
use crate::vocabulary::CertifyingAuthority;
use std::fmt::Arguments;

/// Tells everything that is found, as code, pointer and message.
pub(crate) fn of(option: &YogaClassOption<'_>, mut tell: impl FnMut(&'static str, Arguments<'_>, Arguments<'_>)) {
    for (index, class) in option.yoga_class_catalog.iter().enumerate() {
        let (typical, most) = (class.class_size_typical, class.class_size_max);
        if typical > most {
            tell(
                "CLASS_SIZE",
                format_args!("/yoga_class_catalog/{index}/class_size_typical"),
                format_args!("An average of {typical} cannot come to a class that lets in {most}."),
            );
        }
    }
    for (index, instructor) in option.instructors.iter().enumerate() {
        let claims = instructor.certifications.iter().any(|held| held.claims_registry());
        if claims && !instructor.certifying_authorities.contains(&CertifyingAuthority::RegistryBody) {
            tell(
                "REGISTRY_UNBACKED",
                format_args!("/instructors/{index}/certifications"),
                format_args!("A registry certification is claimed, but registry_body is no certifying authority."),
            );
        }
    }
}
