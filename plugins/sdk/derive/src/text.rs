//! `text!`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Error, Expr, LitStr, Result, Token};

/// Bytes that most values need at most.
const USUAL_BYTES: usize = 24;
/// Most decimals of `{:.1}`.
const MAX_PLACES: u32 = 3;

/// What stands in `text!(..)`: a pattern, and the values that it does not name.
pub(crate) struct Text {
    pattern: LitStr,
    values: Punctuated<Expr, Token![,]>,
}

impl Parse for Text {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let pattern = input.parse()?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok(Self { pattern, values: input.parse_terminated(Expr::parse, Token![,])? })
    }
}

/// A part of a pattern.
#[derive(Debug, PartialEq)]
enum Part {
    Words(String),
    Value {
        /// Of a variable; `None` takes the next value.
        name: Option<String>,
        /// Decimals, where the pattern says how many.
        places: Option<u32>,
    },
}

pub(crate) fn expand(text: &Text) -> Result<TokenStream> {
    let span = text.pattern.span();
    let parts = parts(&text.pattern.value()).map_err(|told| Error::new(span, told))?;
    let mut values = text.values.iter();
    let mut pushes = Vec::new();
    let mut bytes = 0;
    // Not a name that the author's expressions could mean.
    let made = syn::Ident::new("made", Span::mixed_site());
    for part in &parts {
        let (name, places) = match part {
            Part::Words(words) => {
                bytes += words.len();
                pushes.push(quote!(#made.push_str(#words);));
                continue;
            }
            Part::Value { name, places } => (name, places),
        };
        bytes += USUAL_BYTES;
        let value = match name {
            Some(name) => {
                let name = syn::Ident::new(name, span);
                quote!(#name)
            }
            None => {
                let value =
                    values.next().ok_or_else(|| Error::new(span, "the pattern takes more values than there are"))?;
                quote!(#value)
            }
        };
        let span = value.span();
        pushes.push(match places {
            Some(places) => quote_spanned! { span =>
                ::contract_sdk::card::Decimals::push_rounded_to(&(#value), #places, &mut #made);
            },
            None => quote_spanned!(span => ::contract_sdk::card::Piece::push_to(&(#value), &mut #made);),
        });
    }
    if let Some(unused) = values.next() {
        return Err(Error::new_spanned(unused, "the pattern does not take this value"));
    }
    Ok(quote!({
        let mut #made = ::std::string::String::with_capacity(#bytes);
        #(#pushes)*
        #made
    }))
}

/// Takes a pattern apart.
fn parts(pattern: &str) -> std::result::Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut words = String::new();
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let behind = &rest[letter.len_utf8()..];
        rest = match letter {
            '{' | '}' if behind.starts_with(letter) => {
                words.push(letter);
                &behind[1..]
            }
            '{' => {
                let (inside, behind) = behind
                    .split_once('}')
                    .ok_or("a `{` of the pattern has no `}`; a brace by itself is written `{{`")?;
                if !words.is_empty() {
                    parts.push(Part::Words(std::mem::take(&mut words)));
                }
                parts.push(value(inside)?);
                behind
            }
            '}' => return Err("a `}` of the pattern has no `{`; a brace by itself is written `}}`".to_owned()),
            _ => {
                words.push(letter);
                behind
            }
        };
    }
    if !words.is_empty() {
        parts.push(Part::Words(words));
    }
    Ok(parts)
}

/// What stands between the braces.
fn value(inside: &str) -> std::result::Result<Part, String> {
    let (name, form) = inside.split_once(':').unwrap_or((inside, ""));
    let places = match form.strip_prefix('.') {
        Some(places) => places.parse().ok().filter(|places| *places <= MAX_PLACES),
        None => None,
    };
    if !form.is_empty() && places.is_none() {
        return Err(format!(
            "`text!` knows `{{}}` and `{{:.0}}` to `{{:.{MAX_PLACES}}}`, not `{{:{form}}}`; `format!` does"
        ));
    }
    let name = (!name.is_empty()).then(|| name.to_owned());
    let is_variable = |name: &str| name == "self" || syn::parse_str::<syn::Ident>(name).is_ok();
    if let Some(name) = name.as_deref().filter(|name| !is_variable(name)) {
        return Err(format!("`{name}` is no variable; other values stand behind the pattern"));
    }
    Ok(Part::Value { name, places })
}

#[cfg(test)]
mod tests {
    use super::{Part, Text, expand, parts};

    fn words(text: &str) -> Part {
        Part::Words(text.to_owned())
    }

    fn value(name: Option<&str>, places: Option<u32>) -> Part {
        Part::Value { name: name.map(str::to_owned), places }
    }

    #[test]
    fn patterns_are_taken_apart_as_format_does() {
        assert_eq!(
            parts("{} · {:.1} km{{{x}}}{years:.2}"),
            Ok(vec![
                value(None, None),
                words(" · "),
                value(None, Some(1)),
                words(" km{"),
                value(Some("x"), None),
                words("}"),
                value(Some("years"), Some(2)),
            ])
        );
        assert_eq!(parts(""), Ok(Vec::new()));
        assert_eq!(parts("{{}}"), Ok(vec![words("{}")]));
    }

    #[test]
    fn what_text_does_not_know_is_told() {
        for (text, told) in [
            (r#""{:04}", 1"#, "not `{:04}`; `format!` does"),
            (r#""{:.4}", 1.0"#, "not `{:.4}`"),
            (r#""{:?}", 1"#, "not `{:?}`"),
            (r#""{0}", 1"#, "`0` is no variable"),
            (r#""{as}""#, "`as` is no variable"),
            (r#""{a.b}""#, "`a.b` is no variable"),
            (r#""{""#, "has no `}`"),
            (r#""}""#, "has no `{`"),
            (r#""{}""#, "more values than there are"),
            (r#""{a}", 1"#, "does not take this value"),
        ] {
            let error = expand(&syn::parse_str::<Text>(text).expect("a pattern and values")).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn every_value_stands_in_its_place() {
        let text = syn::parse_str::<Text>(r#""{}-{n}-{:.1}", a + 1, b,"#).expect("a pattern and values");
        let made = expand(&text).expect("it is sound").to_string();
        let place = |text: &str| made.find(text).unwrap_or_else(|| panic!("{text}\n{made}"));
        assert!(place("(a + 1)") < place("(n)") && place("(n)") < place("(b) , 1u32"));
    }
}
