//! `#[derive(CardJson)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::{Data, DeriveInput, Error, Field, Fields, Result};

use crate::text_attribute;

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "a card is a struct; of a vocabulary, give its value"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "the fields of a card are the slots of the widget: name them"));
    };
    let mut keys: Vec<String> = Vec::new();
    let mut values = Vec::new();
    for field in &fields.named {
        let key = key(field)?;
        if keys.contains(&key) {
            return Err(Error::new_spanned(&field.ident, format!("the key {key:?} is there twice")));
        }
        let before = format!("{}{}:", if keys.is_empty() { '{' } else { ',' }, quote_key(&key));
        let (ident, ty) = (&field.ident, &field.ty);
        values.push(quote! {
            json.push_str(#before);
            <#ty as ::contract_sdk::CardJson>::push_json(&self.#ident, json);
        });
        keys.push(key);
    }
    let end = if keys.is_empty() { "{}" } else { "}" };
    let ident = &input.ident;
    let (of_impl, of_type, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        impl #of_impl ::contract_sdk::CardJson for #ident #of_type #bounds {
            fn push_json(&self, json: &mut ::std::string::String) {
                #(#values)*
                json.push_str(#end);
            }
        }
    })
}

/// The field's key: its name, or another that the author gives it.
fn key(field: &Field) -> Result<String> {
    let name = field.ident.as_ref().map(|ident| ident.unraw().to_string()).unwrap_or_default();
    Ok(text_attribute(&field.attrs, "card", "rename")?.unwrap_or(name))
}

/// A key as it stands in JSON.
pub(crate) fn quote_key(key: &str) -> String {
    let mut escaped = String::from('"');
    for letter in key.chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            '\0'..' ' => escaped.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => escaped.push(letter),
        }
    }
    escaped.push('"');
    escaped
}

#[cfg(test)]
mod tests {
    use super::expand;

    fn made(text: &str) -> Result<String, String> {
        let made = expand(&syn::parse_str(text).expect("a type"));
        made.map(|tokens| tokens.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_are_constants_in_the_order_of_the_fields() {
        let made = made(r#"struct Card<'i> { r#type: &'i str, #[card(rename = "a\"b")] second: i64 }"#).unwrap();
        let place = |text: &str| made.find(text).unwrap_or_else(|| panic!("{text}\n{made}"));
        assert!(place(r#""{\"type\":""#) < place(r#"",\"a\\\"b\":""#));
        assert!(place(r#"",\"a\\\"b\":""#) < place(r#""}""#));
        assert!(made.starts_with("impl < 'i > :: contract_sdk :: CardJson for Card < 'i >"), "{made}");
    }

    #[test]
    fn what_is_no_card_is_told() {
        for (text, told) in [
            ("enum Card { One }", "a card is a struct"),
            ("struct Card(i64);", "name them"),
            (r#"struct Card { one: i64, #[card(rename = "one")] two: i64 }"#, "the key \"one\" is there twice"),
            (r#"struct Card { #[card(skip = "one")] two: i64 }"#, "only `rename` is known here"),
        ] {
            let error = made(text).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }
}
