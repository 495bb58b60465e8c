//! The documents that a business uploads for its review: their kinds, and what a file of one may be.
//!
//! Not here: keeping them ([`Documents`](crate::Documents)), and what they say, which a person reads.

use serde::{Deserialize, Serialize};

/// Largest document, bytes.
pub const DOCUMENT_MAX_BYTES: usize = 5 * 1024 * 1024;
/// Documents of one account.
pub const DOCUMENTS_MAX: usize = 20;
/// Characters of a document's file name.
pub const FILE_NAME_MAX_CHARS: usize = 120;

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// What shows the legal entity: certificate of incorporation, partnership deed.
    LegalEntity,
    /// Certificate of the tax registration.
    TaxRegistration,
    /// Privacy policy, as it was published.
    PrivacyPolicy,
    /// Food safety licence or registration.
    Fssai,
    /// Registration with a real-estate regulator.
    Rera,
    /// Shop or establishment licence.
    Shop,
    /// Certificate for handling refrigerants.
    RefrigerantHandling,
    /// Insurance agent's licence.
    InsuranceAgent,
    /// Insurance broker's licence.
    InsuranceBroker,
    /// Appointment of the grievance officer.
    GrievanceOfficer,
    /// What shows where the business serves: a list of branches, for one that claims the whole country.
    ServiceArea,
    /// Anything else that the platform team has asked for.
    Other,
}

impl DocumentKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::LegalEntity,
        Self::TaxRegistration,
        Self::PrivacyPolicy,
        Self::Fssai,
        Self::Rera,
        Self::Shop,
        Self::RefrigerantHandling,
        Self::InsuranceAgent,
        Self::InsuranceBroker,
        Self::GrievanceOfficer,
        Self::ServiceArea,
        Self::Other,
    ];

    /// As it is written on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LegalEntity => "legal_entity",
            Self::TaxRegistration => "tax_registration",
            Self::PrivacyPolicy => "privacy_policy",
            Self::Fssai => "fssai",
            Self::Rera => "rera",
            Self::Shop => "shop",
            Self::RefrigerantHandling => "refrigerant_handling",
            Self::InsuranceAgent => "insurance_agent",
            Self::InsuranceBroker => "insurance_broker",
            Self::GrievanceOfficer => "grievance_officer",
            Self::ServiceArea => "service_area",
            Self::Other => "other",
        }
    }

    /// A kind by its name on the wire.
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == written)
    }

    /// The kinds that show an item of the checklist; any one of them does.
    #[must_use]
    pub(crate) fn showing(item: &str) -> &'static [Self] {
        // What was flagged of an intent has the intent behind its code.
        match item.split(':').next().unwrap_or_default() {
            "LEGAL_ENTITY" => &[Self::LegalEntity],
            "TAX_NUMBER" => &[Self::TaxRegistration],
            "PRIVACY_POLICY" => &[Self::PrivacyPolicy],
            "FOOD_LICENCE" => &[Self::Fssai],
            "REAL_ESTATE_REGISTRATION" => &[Self::Rera],
            "SHOP_LICENCE" => &[Self::Shop],
            "REFRIGERANT_CERTIFICATE" => &[Self::RefrigerantHandling],
            "INSURANCE_LICENCE" => &[Self::InsuranceAgent, Self::InsuranceBroker],
            "GRIEVANCE_OFFICER" => &[Self::GrievanceOfficer],
            "VERIFY_WHOLE_COUNTRY" => &[Self::ServiceArea],
            _ => &[],
        }
    }
}

/// The forms that a document may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MediaType {
    /// A PDF.
    #[serde(rename = "application/pdf")]
    Pdf,
    /// An image, lossless.
    #[serde(rename = "image/png")]
    Png,
    /// A photograph.
    #[serde(rename = "image/jpeg")]
    Jpeg,
}

impl MediaType {
    /// Every form.
    pub const ALL: [Self; 3] = [Self::Pdf, Self::Png, Self::Jpeg];

    /// As it stands in `content-type`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }

    /// The bytes that every such file begins with.
    fn magic(self) -> &'static [u8] {
        match self {
            Self::Pdf => b"%PDF-",
            Self::Png => b"\x89PNG\r\n\x1a\n",
            Self::Jpeg => b"\xff\xd8\xff",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Png => "png",
            Self::Jpeg => "jpg",
        }
    }

    /// A form by its name in `content-type`, parameters passed over.
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        let essence = written.split(';').next().unwrap_or_default().trim();
        Self::ALL.into_iter().find(|form| form.as_str().eq_ignore_ascii_case(essence))
    }

    /// Whether bytes begin as such a file does.
    #[must_use]
    pub fn fits(self, bytes: &[u8]) -> bool {
        bytes.starts_with(self.magic())
    }
}

/// A file's name as it is kept: without folders, without what misleads or breaks a header, and of bounded length. One of
/// which nothing is left is named by its kind.
#[must_use]
pub(crate) fn clean_file_name(written: &str, kind: DocumentKind, form: MediaType) -> String {
    let last = written.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ' | '(' | ')') { c } else { '_' };
    let name: String = last.chars().map(kept).take(FILE_NAME_MAX_CHARS).collect();
    let name = name.trim_matches([' ', '.', '_']);
    if name.is_empty() { format!("{}.{}", kind.as_str(), form.extension()) } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_forms_are_written_as_they_are_read() {
        for kind in DocumentKind::ALL {
            assert_eq!(DocumentKind::parse(kind.as_str()), Some(kind));
            assert_eq!(serde_json::to_value(kind).expect("serialises"), kind.as_str());
        }
        for form in MediaType::ALL {
            assert_eq!(MediaType::parse(form.as_str()), Some(form));
            assert_eq!(serde_json::to_value(form).expect("serialises"), form.as_str());
        }
        assert_eq!(MediaType::parse("Application/PDF; charset=binary"), Some(MediaType::Pdf));
        assert_eq!((DocumentKind::parse("passport"), MediaType::parse("text/html")), (None, None));
    }

    #[test]
    fn a_file_begins_as_its_form_says() {
        assert!(MediaType::Pdf.fits(b"%PDF-1.7\n"));
        assert!(MediaType::Png.fits(b"\x89PNG\r\n\x1a\n\0\0"));
        assert!(MediaType::Jpeg.fits(b"\xff\xd8\xff\xe0"));
        for form in MediaType::ALL {
            for bad in [&b""[..], b"<html>", b"%PDF", b"PK\x03\x04", b"\x89PNG"] {
                assert!(!form.fits(bad), "{form:?} {bad:?}");
            }
        }
        assert!(!MediaType::Png.fits(b"%PDF-1.7"));
    }

    #[test]
    fn names_are_cleaned() {
        let clean = |written: &str| clean_file_name(written, DocumentKind::Shop, MediaType::Pdf);
        for (written, kept) in [
            ("Shop licence (2026).pdf", "Shop licence (2026).pdf"),
            ("../../etc/passwd", "passwd"),
            ("C:\\scans\\a.pdf", "a.pdf"),
            ("a\"; filename=\"b.exe\r\nX: y", "a__ filename__b.exe__X_ y"),
            ("\u{202e}fdp.exe", "fdp.exe"),
            ("लाइसेंस", "shop.pdf"),
            ("...", "shop.pdf"),
            ("", "shop.pdf"),
        ] {
            assert_eq!(clean(written), kept, "{written:?}");
        }
        assert_eq!(clean(&"x".repeat(500)).len(), FILE_NAME_MAX_CHARS);
    }
}
