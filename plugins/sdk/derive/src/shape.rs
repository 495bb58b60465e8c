//! `#[derive(Shape)]`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Error, Expr, Field, Fields, GenericParam, Lit, LitStr, Meta, Result, Type};

/// Bounds of which the first may not lie above the second: no value would ever pass.
const RANGES: [(&str, &str); 3] = [("min", "max"), ("min_len", "max_len"), ("min_items", "max_items")];
/// The end of the message on a bound that would have no effect.
const WHAT_TAKES_WHAT: &str = "`min` and `max` are for numbers, `one_of` for integers, `equals` and lengths for strings, \
                               numbers of items for arrays";

/// What the attributes of one field say.
struct Member<'f> {
    field: &'f syn::Ident,
    ty: &'f Type,
    name: String,
    doc: String,
    /// The bounds that differ from none.
    bounds: Vec<Bound>,
}

/// One bound as it was written.
struct Bound {
    name: String,
    value: TokenStream,
    /// Of its name: what is wrong with it is told there.
    span: Span,
}

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "Shape is derived for structs; for enums there is Vocabulary"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(&input.ident, "the fields of a Shape are the members of an object: name them"));
    };
    let members = fields.named.iter().map(member).collect::<Result<Vec<_>>>()?;
    for (index, member) in members.iter().enumerate() {
        if members[..index].iter().any(|earlier| earlier.name == member.name) {
            return Err(Error::new_spanned(member.field, format!("the member {:?} is declared twice", member.name)));
        }
    }
    let lifetime = lifetime(input)?;
    Ok(implementation(input, &members, lifetime.as_ref()))
}

/// The one lifetime of the struct: what its strings borrow from the document.
fn lifetime(input: &DeriveInput) -> Result<Option<syn::Lifetime>> {
    let mut found = None;
    for param in &input.generics.params {
        match param {
            GenericParam::Lifetime(param) if found.is_none() => found = Some(param.lifetime.clone()),
            other => {
                return Err(Error::new_spanned(other, "a Shape takes at most one lifetime and no other parameter"));
            }
        }
    }
    Ok(found)
}

fn member(field: &Field) -> Result<Member<'_>> {
    let Some(ident) = &field.ident else {
        return Err(Error::new_spanned(field, "the field has no name"));
    };
    let mut member = Member {
        field: ident,
        ty: &field.ty,
        name: ident.to_string().trim_start_matches("r#").to_owned(),
        doc: doc(field),
        bounds: Vec::new(),
    };
    for attr in field.attrs.iter().filter(|attr| attr.path().is_ident("shape")) {
        attr.parse_nested_meta(|meta| {
            let Some(key) = meta.path.get_ident().map(ToString::to_string) else {
                return Err(meta.error("expected a single word"));
            };
            let value = meta.value()?;
            let bound = match key.as_str() {
                "rename" => {
                    member.name = value.parse::<LitStr>()?.value();
                    return Ok(());
                }
                "min" | "max" => {
                    let number = value.parse::<Expr>()?;
                    quote!((#number) as f64)
                }
                "equals" | "len" | "min_len" | "max_len" | "items" | "min_items" | "max_items" => {
                    let number = value.parse::<Expr>()?;
                    quote!(#number)
                }
                "one_of" => {
                    let list = value.parse::<Expr>()?;
                    quote!(&#list)
                }
                _ => {
                    return Err(meta.error(
                        "unknown bound; there are rename, min, max, one_of, equals, len, min_len, max_len, items, \
                         min_items, max_items",
                    ));
                }
            };
            member.bounds.push(Bound { name: key, value: bound, span: meta.path.span() });
            Ok(())
        })?;
    }
    if member.doc.is_empty() {
        return Err(Error::new_spanned(ident, "partners read the doc comment of each field: write one"));
    }
    Ok(member)
}

/// Items that do not compile where a lower bound lies above the upper one. Bounds may be constants, so only the compiler
/// knows their values.
fn check_ranges<'m>(member: &'m Member<'_>) -> impl Iterator<Item = TokenStream> + 'm {
    let find = |name: &str| member.bounds.iter().find(|bound| bound.name == name);
    RANGES.iter().filter_map(move |(lower, upper)| {
        let (least, most) = (find(lower)?, find(upper)?);
        let message = format!(
            "the member `{}` has `{lower}` above `{upper}`, so no value would pass; change one of the two",
            member.name
        );
        let (least, most) = (&least.value, &most.value);
        Some(quote_spanned! { find(lower)?.span =>
            const _: () = {
                let (lower, upper) = (#least, #most);
                ::core::assert!(lower <= upper, #message);
            };
        })
    })
}

/// The doc comment in one line.
fn doc(field: &Field) -> String {
    let mut lines = Vec::new();
    for attr in field.attrs.iter().filter(|attr| attr.path().is_ident("doc")) {
        if let Meta::NameValue(pair) = &attr.meta
            && let Expr::Lit(literal) = &pair.value
            && let Lit::Str(text) = &literal.lit
        {
            lines.push(text.value().trim().to_owned());
        }
    }
    lines.join(" ").trim().to_owned()
}

fn implementation(input: &DeriveInput, members: &[Member<'_>], lifetime: Option<&syn::Lifetime>) -> TokenStream {
    let ident = &input.ident;
    // Without a lifetime of its own the struct can be read from a document of any lifetime.
    let (de, this, partial) = match lifetime {
        Some(lifetime) => (quote!(#lifetime), quote!(#ident<#lifetime>), quote!(Partial<#lifetime>)),
        None => (quote!('de), quote!(#ident), quote!(Partial)),
    };
    let own = lifetime.map(|lifetime| quote!(<#lifetime>));
    let fields: Vec<_> = members.iter().map(|member| member.field).collect();
    let types: Vec<_> = members.iter().map(|member| member.ty).collect();
    let names: Vec<_> = members.iter().map(|member| &member.name).collect();
    let quoted: Vec<_> = members.iter().map(|member| format!("{}:", crate::card::quote_key(&member.name))).collect();
    let indices: Vec<_> = (0..members.len()).collect();
    let count = members.len();
    // Fields may have any name, so the locals that hold them get names that no parameter has.
    let locals: Vec<_> = (0..members.len()).map(|index| format_ident!("member_{index}")).collect();
    let descs = members.iter().map(|member| {
        let Member { ty, name, doc, bounds, .. } = member;
        let first = bounds.first().map(|bound| bound.span);
        let set = bounds.iter().map(|Bound { name, value, .. }| {
            let slot = format_ident!("{name}");
            quote!(#slot: ::core::option::Option::Some(#value))
        });
        // With every bound given, the update syntax would be needless.
        let mut bounds = quote!(::contract_sdk::shape::Bounds { #(#set,)* ..::contract_sdk::shape::Bounds::NONE });
        if let Some(span) = first {
            let message = format!("the member `{name}` has a bound that its type does not take; {WHAT_TAKES_WHAT}");
            bounds = quote_spanned! { span =>
                ::contract_sdk::shape::Bounds::beside(
                    #bounds, <#ty as ::contract_sdk::shape::Described>::DESC, #message,
                )
            };
        }
        quote! {
            ::contract_sdk::shape::FieldDesc {
                name: #name,
                doc: #doc,
                required: !<#ty as ::contract_sdk::shape::Described>::OPTIONAL,
                absence_ruled: <#ty as ::contract_sdk::shape::Described>::ABSENCE_RULED,
                value: <#ty as ::contract_sdk::shape::Described>::DESC,
                bounds: #bounds,
            }
        }
    });
    let ranges = members.iter().flat_map(check_ranges);
    quote! {
        const _: () = {
            #(#ranges)*
            #[expect(unreachable_pub, reason = "an associated type of a public trait cannot be private")]
            #[derive(Default)]
            pub struct #partial {
                #(#fields: ::contract_sdk::shape::Member<#types>,)*
            }
            impl #own ::contract_sdk::shape::Fields for #this {
                const FIELDS: &'static [::contract_sdk::shape::FieldDesc] = &[#(#descs),*];
            }
            impl #own ::contract_sdk::shape::Described for #this {
                const DESC: ::contract_sdk::shape::ValueDesc = ::contract_sdk::shape::ValueDesc::of(
                    ::contract_sdk::shape::Kind::Object(&[<Self as ::contract_sdk::shape::Fields>::FIELDS]),
                );
            }
            impl<#de> ::contract_sdk::shape::ObjectShape<#de> for #this {
                type Partial = #partial;
                const COUNT: usize = #count;

                #[inline]
                fn index(name: &str) -> ::core::option::Option<usize> {
                    match name {
                        #(#names => ::core::option::Option::Some(#indices),)*
                        _ => ::core::option::Option::None,
                    }
                }

                #[inline]
                fn in_order(
                    partial: &mut Self::Partial,
                    mut first: bool,
                    from: &mut ::contract_sdk::json::Parser<#de>,
                    at: &::contract_sdk::shape::At<'_>,
                    out: &mut ::contract_sdk::Violations,
                ) -> bool {
                    #(if from.take_key(first, #quoted) {
                        partial.#fields.read(
                            &<Self as ::contract_sdk::shape::Fields>::FIELDS[#indices], from, at, out,
                        );
                        first = false;
                    })*
                    first
                }

                fn member(
                    partial: &mut Self::Partial,
                    index: usize,
                    from: &mut ::contract_sdk::json::Parser<#de>,
                    at: &::contract_sdk::shape::At<'_>,
                    out: &mut ::contract_sdk::Violations,
                ) {
                    match index {
                        #(#indices => partial.#fields.read(
                            &<Self as ::contract_sdk::shape::Fields>::FIELDS[#indices], from, at, out,
                        ),)*
                        _ => from.skip(),
                    }
                }

                fn finish(
                    partial: Self::Partial,
                    at: &::contract_sdk::shape::At<'_>,
                    out: &mut ::contract_sdk::Violations,
                ) -> ::core::option::Option<Self> {
                    #(let #locals = partial.#fields.finish(
                        &<Self as ::contract_sdk::shape::Fields>::FIELDS[#indices], at, out,
                    );)*
                    ::core::option::Option::Some(Self { #(#fields: #locals?,)* })
                }
            }
            impl<#de> ::contract_sdk::shape::Shape<#de> for #this {
                fn read(
                    from: &mut ::contract_sdk::json::Parser<#de>,
                    at: &::contract_sdk::shape::At<'_>,
                    out: &mut ::contract_sdk::Violations,
                ) -> ::core::option::Option<Self> {
                    ::contract_sdk::shape::read_object(from, at, out)
                }
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::expand;

    fn remove_spaces(text: &str) -> String {
        text.split_whitespace().collect()
    }

    /// What is made of a struct with one field, without blanks.
    fn made(bounds: &str) -> String {
        let text = format!("struct Tea {{ /// Degrees.\n #[shape({bounds})] heat: i64 }}");
        remove_spaces(&expand(&syn::parse_str(&text).expect("a struct")).expect("a shape").to_string())
    }

    #[test]
    fn a_lower_bound_above_the_upper_one_does_not_compile() {
        for (bounds, values, lower, upper) in [
            ("min = 5, max = 3", "((5)asf64,(3)asf64)", "min", "max"),
            ("max_len = MOST, min_len = 4", "(4,MOST)", "min_len", "max_len"),
            ("min_items = 2, max_items = 1", "(2,1)", "min_items", "max_items"),
        ] {
            let told = format!("the member `heat` has `{lower}` above `{upper}`, so no value would pass");
            let made = made(bounds);
            let told = remove_spaces(&told);
            let wanted = format!("const_:()={{let(lower,upper)={values};::core::assert!(lower<=upper,\"{told}");
            assert!(made.contains(&wanted), "{wanted}\n{made}");
        }
        // Whether a type takes a bound, the SDK knows; it is asked with the member's name.
        let asked = made("min = 5");
        let wanted = remove_spaces("<i64 as ::contract_sdk::shape::Described>::DESC,\"the member `heat` has a bound");
        assert!(asked.contains(&wanted), "{asked}");
        for alone in ["min = 5", "max = 3", "min = 5, max_len = 3", "len = 4"] {
            assert!(!made(alone).contains("assert!"), "{alone}");
        }
    }
}
