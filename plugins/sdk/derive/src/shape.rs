//! `#[derive(Shape)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Expr, Field, Fields, GenericParam, Lit, LitStr, Meta, Result, Type};

/// What the attributes of one field say.
struct Member<'f> {
    field: &'f syn::Ident,
    ty: &'f Type,
    name: String,
    doc: String,
    /// Initialisers of the `Bounds` that differ from none.
    bounds: Vec<TokenStream>,
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
                _ => return Err(meta.error("unknown bound; the derive's documentation lists them")),
            };
            let slot = format_ident!("{key}");
            member.bounds.push(quote!(#slot: ::core::option::Option::Some(#bound)));
            Ok(())
        })?;
    }
    if member.doc.is_empty() {
        return Err(Error::new_spanned(ident, "partners read the doc comment of each field: write one"));
    }
    Ok(member)
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
    let indices: Vec<_> = (0..members.len()).collect();
    let count = members.len();
    // Fields may have any name, so the locals that hold them get names that no parameter has.
    let locals: Vec<_> = (0..members.len()).map(|index| format_ident!("member_{index}")).collect();
    let descs = members.iter().map(|member| {
        let Member { ty, name, doc, bounds, .. } = member;
        // With every bound given, the update syntax would be needless.
        quote! {
            ::contract_sdk::shape::FieldDesc {
                name: #name,
                doc: #doc,
                required: !<#ty as ::contract_sdk::shape::Described>::OPTIONAL,
                absence_ruled: <#ty as ::contract_sdk::shape::Described>::ABSENCE_RULED,
                value: <#ty as ::contract_sdk::shape::Described>::DESC,
                bounds: ::contract_sdk::shape::Bounds { #(#bounds,)* ..::contract_sdk::shape::Bounds::NONE },
            }
        }
    });
    quote! {
        const _: () = {
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
                    mut open: bool,
                    from: &mut ::contract_sdk::json::Parser<#de>,
                    at: &::contract_sdk::shape::At<'_>,
                    out: &mut ::contract_sdk::Violations,
                ) -> bool {
                    #(if open && from.take_key(#names) {
                        partial.#fields.read(
                            &<Self as ::contract_sdk::shape::Fields>::FIELDS[#indices], from, at, out,
                        );
                        open = from.more(b'}', false);
                    })*
                    open
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
