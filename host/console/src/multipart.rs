//! A form with a file, as browsers send it (`multipart/form-data`, RFC 7578). The whole body is at hand, and bounded by who reads it.

use axum::body::Bytes;

/// Parts of a form.
const PARTS_MAX: usize = 20;
/// Bytes of the head of a part.
const HEAD_MAX_BYTES: usize = 4 * 1024;
/// Bytes of a boundary, as RFC 2046 bounds it.
const BOUNDARY_MAX_BYTES: usize = 70;

/// A part of a form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Name of the file, where the part is one. It is what the browser says: a path is cut to its last part.
    pub(crate) file_name: Option<String>,
    /// As the browser says it.
    pub(crate) media_type: Option<String>,
    pub(crate) content: Bytes,
}

/// The boundary that a `Content-Type` names; none where it is no such form.
pub(crate) fn boundary_of(content_type: &str) -> Option<&str> {
    let (media_type, parameters) = content_type.split_once(';')?;
    if !media_type.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let named = parameters.split(';').filter_map(|parameter| parameter.trim().split_once('='));
    let (_, boundary) = named.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("boundary"))?;
    let boundary = boundary.trim().trim_matches('"');
    (1..=BOUNDARY_MAX_BYTES).contains(&boundary.len()).then_some(boundary)
}

/// The parts of a form; none where it is not written as one.
pub(crate) fn parse(body: &Bytes, boundary: &str) -> Option<Vec<Part>> {
    let delimiter = format!("\r\n--{boundary}");
    let first = delimiter.strip_prefix("\r\n")?;
    let mut at = find(body, first.as_bytes(), 0)? + first.len();
    let mut parts = Vec::new();
    loop {
        if body.get(at..)?.starts_with(b"--") {
            return Some(parts);
        }
        if parts.len() == PARTS_MAX || !body.get(at..)?.starts_with(b"\r\n") {
            return None;
        }
        let head_at = at + 2;
        let head_end = find(body, b"\r\n\r\n", head_at).filter(|end| end - head_at <= HEAD_MAX_BYTES)?;
        let head = std::str::from_utf8(body.get(head_at..head_end)?).ok()?;
        let content_at = head_end + 4;
        let content_end = find(body, delimiter.as_bytes(), content_at)?;
        parts.push(read_head(head, body.slice(content_at..content_end))?);
        at = content_end + delimiter.len();
    }
}

fn read_head(head: &str, content: Bytes) -> Option<Part> {
    let fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let find = |wanted: &str| {
        let mut fields = fields.clone();
        fields.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim())
    };
    let disposition = find("content-disposition")?;
    let last_of = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    Some(Part {
        name: parameter(disposition, "name")?,
        file_name: parameter(disposition, "filename").map(|path| last_of(&path)),
        media_type: find("content-type").map(str::to_owned),
        content,
    })
}

/// A parameter in quotation marks. Browsers write a quotation mark in it as `%22`.
fn parameter(disposition: &str, name: &str) -> Option<String> {
    let mut rest = disposition;
    while let Some((before, after)) = rest.split_once("=\"") {
        let own = before.rsplit([';', ' ']).next().unwrap_or_default();
        let (value, further) = after.split_once('"')?;
        if own.eq_ignore_ascii_case(name) {
            return Some(value.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n"));
        }
        rest = further;
    }
    None
}

/// Where a text begins, from a place on.
fn find(body: &[u8], text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        // Most bytes of a file are not the first of a delimiter.
        at += body.get(at..)?.iter().position(|byte| Some(byte) == text.first())?;
        if body.get(at..)?.starts_with(text) {
            return Some(at);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(parts: &[&str]) -> Bytes {
        let mut body = String::new();
        for part in parts {
            body.push_str("--B\r\n");
            body.push_str(part);
            body.push_str("\r\n");
        }
        body.push_str("--B--\r\n");
        body.into()
    }

    #[test]
    fn a_form_is_read_as_browsers_send_it() {
        let body = form(&[
            "Content-Disposition: form-data; name=\"form_token\"\r\n\r\nabc",
            "Content-Disposition: form-data; name=\"file\"; filename=\"C:\\papers\\a%22b.pdf\"\r\nContent-Type: application/pdf\r\n\r\n%PDF\r\n--b\r\n\r\n",
            "Content-Disposition: form-data; name=\"empty\"; filename=\"\"\r\n\r\n",
        ]);
        let parts = parse(&body, "B").expect("a form");
        let [token, file, empty] = parts.as_slice() else { panic!("{parts:?}") };
        assert_eq!((token.name.as_str(), &token.content[..], &token.file_name), ("form_token", &b"abc"[..], &None));
        assert_eq!(file.file_name.as_deref(), Some("a\"b.pdf"));
        assert_eq!(
            (file.media_type.as_deref(), &file.content[..]),
            (Some("application/pdf"), &b"%PDF\r\n--b\r\n\r\n"[..])
        );
        assert_eq!((empty.file_name.as_deref(), empty.content.len()), (Some(""), 0));
    }

    #[test]
    fn what_is_no_form_is_none() {
        let whole = form(&["Content-Disposition: form-data; name=\"a\"\r\n\r\n1"]);
        for length in 0..whole.len() - 4 {
            assert_eq!(parse(&whole.slice(..length), "B"), None, "{length}");
        }
        assert!(parse(&form(&["Content-Type: text/plain\r\n\r\n1"]), "B").is_none(), "a part without a name");
        assert!(parse(&form(&[&format!("A: {}\r\n\r\n1", "x".repeat(HEAD_MAX_BYTES))]), "B").is_none());
        let part = "Content-Disposition: form-data; name=\"a\"\r\n\r\n1";
        assert!(parse(&form(&[part; PARTS_MAX]), "B").is_some() && parse(&form(&[part; PARTS_MAX + 1]), "B").is_none());
    }

    #[test]
    fn boundaries_are_found_and_bounded() {
        assert_eq!(
            boundary_of("multipart/form-data; boundary=----WebKitFormBoundaryx"),
            Some("----WebKitFormBoundaryx")
        );
        assert_eq!(boundary_of("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\""), Some("a b"));
        for other in ["", "multipart/form-data", "multipart/form-data; boundary=", "text/plain; boundary=x"] {
            assert_eq!(boundary_of(other), None, "{other}");
        }
        assert_eq!(boundary_of(&format!("multipart/form-data; boundary={}", "x".repeat(71))), None);
    }
}
