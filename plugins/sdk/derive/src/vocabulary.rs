//! `#[derive(Vocabulary)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, LitStr, Result};

use crate::text_attribute;

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "Vocabulary is derived for enums"));
    };
    let ident = &input.ident;
    let name = vocabulary_name(input)?;
    let mut variants = Vec::new();
    let mut values: Vec<String> = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(variant, "a value of a vocabulary carries no data"));
        }
        let mut value = snake_case(&variant.ident.to_string());
        for attr in variant.attrs.iter().filter(|attr| attr.path().is_ident("value")) {
            value = attr.parse_args::<LitStr>()?.value();
        }
        if values.contains(&value) {
            return Err(Error::new_spanned(variant, format!("the value {value:?} occurs twice")));
        }
        variants.push(&variant.ident);
        values.push(value);
    }
    Ok(quote! {
        const _: () = {
            impl ::contract_sdk::shape::Vocabulary for #ident {
                const DESC: ::contract_sdk::shape::VocabularyDesc = ::contract_sdk::shape::VocabularyDesc {
                    name: #name,
                    values: &[#(#values),*],
                };
                fn from_value(value: &str) -> ::core::option::Option<Self> {
                    #(if ::contract_sdk::json::same_text(value, #values) {
                        return ::core::option::Option::Some(Self::#variants);
                    })*
                    ::core::option::Option::None
                }
                fn value(&self) -> &'static str {
                    match self {
                        #(Self::#variants => #values,)*
                    }
                }
            }
            impl ::contract_sdk::shape::Described for #ident {
                const DESC: ::contract_sdk::shape::ValueDesc = ::contract_sdk::shape::ValueDesc::of(
                    ::contract_sdk::shape::Kind::Vocabulary(&<#ident as ::contract_sdk::shape::Vocabulary>::DESC),
                );
            }
            impl<'de> ::contract_sdk::shape::Shape<'de> for #ident {
                fn read(
                    from: &mut ::contract_sdk::json::Parser<'de>,
                    at: &::contract_sdk::shape::At<'_>,
                    out: &mut ::contract_sdk::Violations,
                ) -> ::core::option::Option<Self> {
                    ::contract_sdk::shape::read_vocabulary(from, at, out)
                }
            }
        };
    })
}

fn vocabulary_name(input: &DeriveInput) -> Result<String> {
    let named = text_attribute(&input.attrs, "vocabulary", "name")?;
    Ok(named.unwrap_or_else(|| snake_case(&input.ident.to_string())))
}

/// `OemAuthorised` becomes `oem_authorised`, `R1234yf` becomes `r1234yf`.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for (index, letter) in name.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}
