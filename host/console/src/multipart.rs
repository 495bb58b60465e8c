//! A form with a file, as browsers send it (`multipart/form-data`). The whole body is at hand, and bounded by who reads it.

use std::convert::Infallible;

use axum::body::Bytes;
use futures_util::stream;
use multer::Multipart;

/// Parts of a form.
const PARTS_MAX: usize = 20;

/// A file that a form brings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SentFile {
    /// What the browser calls it: a path is cut to its last part.
    pub(crate) name: String,
    /// As the browser says it.
    pub(crate) media_type: Option<String>,
    pub(crate) content: Bytes,
}

/// What such a form brings: its fields, and the first file that was chosen.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FileForm {
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) file: Option<SentFile>,
}

/// Reads a form; none where it is not written as one, or has too many parts.
pub(crate) async fn parse(boundary: String, body: Bytes) -> Option<FileForm> {
    let mut parts = Multipart::new(stream::once(async { Ok::<_, Infallible>(body) }), boundary);
    let mut form = FileForm::default();
    for _ in 0..PARTS_MAX {
        let Some(part) = parts.next_field().await.ok()? else { return Some(form) };
        let name = part.name()?.to_owned();
        let file_name = part.file_name().map(|path| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned());
        let media_type = part.content_type().map(ToString::to_string);
        let content = part.bytes().await.ok()?;
        match file_name {
            None => form.fields.push((name, String::from_utf8_lossy(&content).into_owned())),
            // Where nobody has chosen a file, browsers send one without a name.
            Some(name) if !name.is_empty() && form.file.is_none() => {
                form.file = Some(SentFile { name, media_type, content });
            }
            Some(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(parts: &[(&str, &str)], end: &str) -> Option<FileForm> {
        let part = |(head, content): &(&str, &str)| {
            format!("--edge\r\ncontent-disposition: form-data; {head}\r\n\r\n{content}\r\n")
        };
        let body: String = parts.iter().map(part).collect();
        futures_executor::block_on(parse("edge".to_owned(), Bytes::from(format!("{body}{end}"))))
    }

    #[test]
    fn fields_and_the_first_file_that_was_chosen_are_read() {
        let none = ("name=\"file\"; filename=\"\"", "");
        let one = (
            "name=\"file\"; filename=\"C:\\\\papers\\\\shop.pdf\"\r\ncontent-type: application/pdf",
            "%PDF\r\n--edg\r\n",
        );
        let other = ("name=\"file\"; filename=\"other.pdf\"", "x");
        let form = read(&[("name=\"kind\"", "shop"), none, one, other], "--edge--\r\n").expect("a form");
        assert_eq!(form.fields, [("kind".to_owned(), "shop".to_owned())]);
        let file = form.file.expect("a file");
        assert_eq!((file.name.as_str(), file.media_type.as_deref()), ("shop.pdf", Some("application/pdf")));
        assert_eq!(&file.content[..], b"%PDF\r\n--edg\r\n");
    }

    #[test]
    fn what_is_no_whole_form_is_refused() {
        let field = ("name=\"kind\"", "shop");
        assert_eq!(read(&[field], ""), None, "it does not end");
        assert_eq!(read(&[("filename=\"a\"", "x")], "--edge--\r\n"), None, "a part has no name");
        assert!(read(&[field; PARTS_MAX - 1], "--edge--\r\n").is_some());
        assert_eq!(read(&[field; PARTS_MAX + 1], "--edge--\r\n"), None, "too many parts");
    }
}
