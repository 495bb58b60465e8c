//! `contract!`.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Lifetime, Result, Token, Visibility, braced, token};

/// One part of a contract, by the name that it has in the macro and in the trait.
struct Part {
    name: &'static str,
    kind: Kind,
    /// What an error says of a part that must be named and is not; `None` where it may be left out.
    missing: Option<Missing>,
}

/// What the trait asks for. Texts are Rust, without what the author names.
#[derive(Clone, Copy)]
enum Kind {
    /// A type, with the lifetime that it has in the trait.
    Type(&'static str),
    /// A constant, with its type.
    Const(&'static str),
    /// A function, with its signature and the arguments that it passes on.
    Function(&'static str, &'static str),
}

struct Missing {
    what: &'static str,
    usually: &'static str,
}

const fn required(name: &'static str, kind: Kind, what: &'static str, usually: &'static str) -> Part {
    Part { name, kind, missing: Some(Missing { what, usually }) }
}

const fn optional(name: &'static str, kind: Kind) -> Part {
    Part { name, kind, missing: None }
}

use Kind::{Const, Function, Type};

/// Every part of a contract, in the order in which an error lists what is missing.
const PARTS: &[Part] = &[
    required("ABOUT", Const("::contract_sdk::About"), "intent, version, title", "use tables::ABOUT;"),
    required("SEARCH", Const("::contract_sdk::Search"), "the search tool", "use tables::SEARCH;"),
    required("TOOLS", Const("&'static [::contract_sdk::ToolEntry]"), "the other tools", "use tables::TOOLS;"),
    required("ERRORS", Const("&'static [::contract_sdk::ErrorRow]"), "the error table", "use tables::ERRORS;"),
    required(
        "FORBIDDEN",
        Const("&'static [::contract_sdk::Forbidden]"),
        "the fields that no answer may carry",
        "use tables::FORBIDDEN;",
    ),
    optional("ORDER", Const("::core::option::Option<::contract_sdk::OrderWay>")),
    optional("LIFETIMES", Const("&'static [::contract_sdk::Lifetime]")),
    optional("GO_LIVE", Const("&'static [::contract_sdk::Requirement]")),
    required(
        "LEXICON",
        Const("::contract_sdk::lexicon::Lexicon"),
        "which utterances are meant",
        "use classification::LEXICON;",
    ),
    required("Request", Type("<'a>"), "the shape of a search request", "use request::MyRequest<'_> as Request;"),
    optional(
        "request_rules",
        Function("(request: &Self::Request<'_>, rules: &mut ::contract_sdk::RequestRules)", "(request, rules)"),
    ),
    required("Item", Type("<'a>"), "the shape of one option", "use option::MyOption<'_> as Item;"),
    required(
        "item_rules",
        Function(
            "(request: &Self::Request<'_>, item: &Self::Item<'_>, rules: &mut ::contract_sdk::ItemRules)",
            "(request, item, rules)",
        ),
        "the rules on an option",
        "use rules::item_rules;",
    ),
    optional("RULES", Const("&'static [::contract_sdk::RuleRow]")),
    required("RANKING", Const("::contract_sdk::Ranking"), "weights, signals, bands", "use ranking::RANKING;"),
    required("Scale", Type(""), "what a score needs to know of all options", "use ranking::Pool as Scale;"),
    optional(
        "scale",
        Function(
            "(pool: &[Self::Item<'_>], history: &[::contract_sdk::PastOrder<'_>]) -> Self::Scale",
            "(pool, history)",
        ),
    ),
    required(
        "score",
        Function(
            "(request: &Self::Request<'_>, item: &Self::Item<'_>, scale: &Self::Scale) \
             -> ::contract_sdk::bindings::Axes",
            "(request, item, scale)",
        ),
        "what the rules say of an option, per axis",
        "use ranking::score;",
    ),
    required("WIDGET", Const("::contract_sdk::WidgetTable"), "the widget and its slots", "use card::WIDGET;"),
    required("Card", Type("<'i>"), "the card of an option", "use card::Card<'_>;"),
    optional("card", Function("<'i>(item: &'i Self::Item<'_>) -> Self::Card<'i>", "(item)")),
    required("ReportExtra", Type("<'a>"), "what only its reports hold", "use completion::MyReport as ReportExtra;"),
    optional(
        "report_rules",
        Function(
            "(report: &::contract_sdk::Report<'_, Self::ReportExtra<'_>>, \
             subject: &::contract_sdk::Subject<'_, Self::Item<'_>>, rules: &mut ::contract_sdk::ReportRules)",
            "(report, subject, rules)",
        ),
    ),
    optional("STATUSES", Const("&'static [&'static str]")),
    optional("CHARGED", Const("&'static [&'static str]")),
    required(
        "AMOUNT_MAX_INR",
        Const("u32"),
        "most that any amount of a completion report may be, INR",
        "use completion::AMOUNT_MAX_INR;",
    ),
    required(
        "examples",
        Function("() -> ::std::vec::Vec<::contract_sdk::bindings::Example>", "()"),
        "what must hold before a version goes live",
        "use examples::examples;",
    ),
];

/// What stands in `contract! { .. }`.
pub(crate) struct Contract {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    named: Vec<Named>,
}

/// A part and the path to it.
struct Named {
    part: &'static Part,
    /// Of the last word of the path: what does not fit is told there.
    span: Span,
    path: TokenStream,
    /// Whether the type was written with `<'_>`.
    borrows: bool,
}

impl Parse for Contract {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![struct]>()?;
        let name = input.parse()?;
        input.parse::<Token![;]>()?;
        let mut named = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![use]>()?;
            read_tree(input, &TokenStream::new(), &mut named)?;
            input.parse::<Token![;]>()?;
        }
        Ok(Self { attributes, visibility, name, named })
    }
}

/// Reads what may follow `use`: a path that ends in a name or in a group of them.
fn read_tree(input: ParseStream<'_>, before: &TokenStream, named: &mut Vec<Named>) -> Result<()> {
    if input.peek(token::Brace) {
        let group;
        braced!(group in input);
        while !group.is_empty() {
            read_tree(&group, before, named)?;
            if !group.is_empty() {
                group.parse::<Token![,]>()?;
            }
        }
        return Ok(());
    }
    let segment = input.call(Ident::parse_any)?;
    if input.peek(Token![::]) {
        let colons = input.parse::<Token![::]>()?;
        return read_tree(input, &quote!(#before #segment #colons), named);
    }
    let borrows = read_lifetime(input)?;
    let alias = match input.parse::<Option<Token![as]>>()? {
        Some(_) => Some(input.parse::<Ident>()?),
        None => None,
    };
    let name = alias.as_ref().unwrap_or(&segment);
    let part = find_part(name, alias.is_some())?;
    if borrows && matches!(part.kind, Const(_) | Function(..) | Type("")) {
        return Err(Error::new_spanned(name, format!("`{name}` takes no `<'_>`")));
    }
    if named.iter().any(|other| other.part.name == part.name) {
        return Err(Error::new_spanned(name, format!("the contract names `{name}` twice")));
    }
    named.push(Named { part, span: segment.span(), path: quote!(#before #segment), borrows });
    Ok(())
}

/// Reads `<'_>`, if it is there.
fn read_lifetime(input: ParseStream<'_>) -> Result<bool> {
    if input.parse::<Option<Token![<]>>()?.is_none() {
        return Ok(false);
    }
    let lifetime = input.parse::<Lifetime>()?;
    if lifetime.ident != "_" {
        return Err(Error::new_spanned(lifetime, "the trait has the lifetime: write `<'_>`"));
    }
    input.parse::<Token![>]>()?;
    Ok(true)
}

fn find_part(name: &Ident, is_alias: bool) -> Result<&'static Part> {
    let text = name.to_string();
    if let Some(part) = PARTS.iter().find(|part| part.name == text) {
        return Ok(part);
    }
    let alike = PARTS.iter().find(|part| part.name.eq_ignore_ascii_case(&text));
    let advice = match alike {
        Some(part) => format!("did you mean `{}`?", part.name),
        None if is_alias => {
            let all: Vec<_> = PARTS.iter().map(|part| part.name).collect();
            format!("its parts are {}", all.join(", "))
        }
        None => format!("say which part it is, as in `{text} as Item`"),
    };
    Err(Error::new_spanned(name, format!("`{text}` is no part of a contract; {advice}")))
}

pub(crate) fn expand(contract: &Contract) -> Result<TokenStream> {
    let Contract { attributes, visibility, name, named } = contract;
    if let Some(error) = list_missing(contract) {
        return Err(error);
    }
    let mut items = named.iter().map(item).collect::<Result<Vec<_>>>()?;
    for (function, ty, argument) in [("scale", "Scale", "pool, history"), ("card", "Card", "item")] {
        // Without a function of its own, the type says how it is made.
        let made = named.iter().find(|one| one.part.name == ty).filter(|_| !names(named, function));
        if let (Some(ty), Some(part)) = (made, PARTS.iter().find(|part| part.name == function)) {
            let path = &ty.path;
            let of = parse_at(&format!("::of({argument})"), ty.span)?;
            items.push(function_item(part, ty.span, &quote!(#path #of))?);
        }
    }
    Ok(quote! {
        #(#attributes)*
        #visibility struct #name;

        impl ::contract_sdk::Intent for #name {
            #(#items)*
        }
    })
}

fn names(named: &[Named], part: &str) -> bool {
    named.iter().any(|one| one.part.name == part)
}

/// One error for all that a contract must name and does not.
fn list_missing(contract: &Contract) -> Option<Error> {
    let parts = PARTS.iter().filter(|part| !names(&contract.named, part.name));
    let errors = parts.filter_map(|Part { name, missing, .. }| {
        let Missing { what, usually } = missing.as_ref()?;
        let text = format!("the contract names no `{name}`: {what}; usually `{usually}`");
        Some(Error::new(contract.name.span(), text))
    });
    errors.reduce(|mut all, error| {
        all.combine(error);
        all
    })
}

/// The item of the trait that a part gives.
fn item(one: &Named) -> Result<TokenStream> {
    let Named { part, span, path, borrows } = one;
    let name = Ident::new(part.name, *span);
    Ok(match part.kind {
        Type(lifetime) => {
            let lifetime = parse_at(lifetime, *span)?;
            let given = borrows.then_some(&lifetime);
            quote!(type #name #lifetime = #path #given;)
        }
        Const(ty) => {
            let ty = parse_at(ty, *span)?;
            quote!(const #name: #ty = #path;)
        }
        Function(_, arguments) => {
            let arguments = parse_at(arguments, *span)?;
            function_item(part, *span, &quote!(#path #arguments))?
        }
    })
}

/// A function of the trait with this body.
fn function_item(part: &Part, span: Span, body: &TokenStream) -> Result<TokenStream> {
    let Function(signature, _) = part.kind else {
        return Err(Error::new(span, format!("`{}` is no function", part.name)));
    };
    let (name, signature) = (Ident::new(part.name, span), parse_at(signature, span)?);
    Ok(quote!(fn #name #signature { #body }))
}

/// Rust text whose tokens all lie at one place, so that the compiler tells what does not fit at the author's own word.
fn parse_at(text: &str, span: Span) -> Result<TokenStream> {
    fn place(tokens: TokenStream, span: Span) -> TokenStream {
        let moved = tokens.into_iter().map(|mut token| {
            if let TokenTree::Group(group) = &token {
                token = Group::new(group.delimiter(), place(group.stream(), span)).into();
            }
            token.set_span(span);
            token
        });
        moved.collect()
    }
    Ok(place(syn::parse_str(text)?, span))
}

#[cfg(test)]
mod tests {
    use super::{Contract, PARTS, Part, expand};

    const WHOLE: &str = "
        /// The contract.
        pub struct Tea;
        use tables::{ABOUT, SEARCH, TOOLS, ERRORS, FORBIDDEN};
        use classification::LEXICON;
        use request::TeaRequest<'_> as Request;
        use offer::{Offer<'_> as Item, rules::item_rules};
        use ranking::{RANKING, Pool as Scale, score};
        use card::{WIDGET, Card<'_>};
        use completion::{Extra as ReportExtra, AMOUNT_MAX_INR};
        use examples::examples;
    ";

    /// What is made of a macro's text, or its errors.
    fn read(text: &str) -> Result<String, Vec<String>> {
        let made = syn::parse_str::<Contract>(text).and_then(|contract| expand(&contract));
        made.map(|tokens| tokens.to_string()).map_err(|error| error.into_iter().map(|one| one.to_string()).collect())
    }

    fn squeeze(text: &str) -> String {
        text.split_whitespace().collect()
    }

    #[test]
    fn every_part_becomes_an_item_of_the_trait() {
        let made = squeeze(&read(WHOLE).expect("it is whole"));
        for item in [
            "pub struct Tea; impl ::contract_sdk::Intent for Tea {",
            "const ABOUT: ::contract_sdk::About = tables::ABOUT;",
            "type Request<'a> = request::TeaRequest<'a>;",
            "type Item<'a> = offer::Offer<'a>;",
            "{ offer::rules::item_rules(request, item, rules) }",
            "type Scale = ranking::Pool;",
            "{ ranking::Pool::of(pool, history) }",
            "type Card<'i> = card::Card<'i>;",
            "{ card::Card::of(item) }",
            "type ReportExtra<'a> = completion::Extra;",
            "const AMOUNT_MAX_INR: u32 = completion::AMOUNT_MAX_INR;",
            "fn examples() -> ::std::vec::Vec<::contract_sdk::bindings::Example> { examples::examples() }",
        ] {
            assert!(made.contains(&squeeze(item)), "{item}\n{made}");
        }
        let own = format!("{WHOLE} use ranking::scale; use card::show as card; use rules::request_rules;");
        let made = squeeze(&read(&own).expect("it is whole"));
        for item in ["{ranking::scale(pool,history)}", "{card::show(item)}", "{rules::request_rules(request,rules)}"] {
            assert!(made.contains(item), "{item}\n{made}");
        }
        assert!(!made.contains("::of("), "{made}");
    }

    #[test]
    fn all_that_is_missing_is_told_at_once() {
        let errors = read("struct Tea;").unwrap_err();
        let required: Vec<&Part> = PARTS.iter().filter(|part| part.missing.is_some()).collect();
        assert_eq!(errors.len(), required.len());
        for (error, part) in errors.iter().zip(required) {
            assert!(error.starts_with(&format!("the contract names no `{}`: ", part.name)), "{error}");
        }
        let errors = read(&WHOLE.replace("RANKING, ", "").replace("use examples::examples;", "")).unwrap_err();
        assert_eq!(
            errors,
            [
                "the contract names no `RANKING`: weights, signals, bands; usually `use ranking::RANKING;`",
                "the contract names no `examples`: what must hold before a version goes live; usually `use \
                 examples::examples;`",
            ]
        );
    }

    #[test]
    fn what_is_no_part_is_told_with_advice() {
        for (line, error) in [
            ("use ranking::Score;", "`Score` is no part of a contract; did you mean `score`?"),
            ("use a::Offer<'_>;", "`Offer` is no part of a contract; say which part it is, as in `Offer as Item`"),
            ("use a::b as Tools;", "`Tools` is no part of a contract; did you mean `TOOLS`?"),
            ("use ranking::score;", "the contract names `score` twice"),
            ("use rules::request_rules<'_>;", "`request_rules` takes no `<'_>`"),
            ("use a::B<'a> as Request;", "the trait has the lifetime: write `<'_>`"),
        ] {
            assert_eq!(read(&format!("{WHOLE} {line}")), Err(vec![error.to_owned()]));
        }
        let [error] = &read(&format!("{WHOLE} use a::b as offer;")).unwrap_err()[..] else { panic!("one error") };
        assert!(error.starts_with("`offer` is no part of a contract; its parts are ABOUT, SEARCH, "), "{error}");
    }

    #[test]
    fn what_is_no_list_of_parts_is_refused() {
        assert!(read("enum Tea {}").is_err());
        assert!(read("struct Tea; const ABOUT: u8 = 0;").is_err());
        assert!(read("struct Tea; use tables::{ABOUT SEARCH};").is_err());
        assert!(read("struct Tea; use tables::*;").is_err());
    }
}
