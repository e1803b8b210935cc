//! Rust source as a flat list of tokens, with what is test code marked.

use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, Group, LexError, TokenStream, TokenTree};

/// One token; brackets are tokens of their own.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) text: String,
    /// Line it begins on, from 1.
    pub(super) line: usize,
    /// Line it ends on; another than `line` for strings and brackets' insides only.
    pub(super) last_line: usize,
    /// Inside an item under `#[cfg(test)]` or `#[test]`, or in a file of tests.
    pub(super) in_test: bool,
}

/// Cuts source into tokens. Comments vanish; doc comments become attributes.
///
/// # Errors
/// The text is not Rust.
pub(super) fn lex(text: &str, in_test: bool) -> Result<Vec<Token>, LexError> {
    let mut tokens = Vec::new();
    flatten(text.parse::<TokenStream>()?, in_test, &mut tokens);
    Ok(tokens)
}

fn flatten(stream: TokenStream, in_test: bool, out: &mut Vec<Token>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut in_item = false;
    for (at, tree) in trees.iter().enumerate() {
        if is_punct(tree, '#')
            && let Some(TokenTree::Group(group)) = trees.get(at + 1)
        {
            in_item |= marks_test(group);
        }
        let in_test = in_test || in_item;
        match tree {
            TokenTree::Group(group) => flatten_group(group, in_test, out),
            _ => out.push(token(tree.to_string(), tree.span(), in_test)),
        }
        in_item &= !ends_item(tree);
    }
}

fn flatten_group(group: &Group, in_test: bool, out: &mut Vec<Token>) {
    let (open, close) = match group.delimiter() {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    };
    out.push(token(open.into(), group.span_open(), in_test));
    flatten(group.stream(), in_test, out);
    out.push(token(close.into(), group.span_close(), in_test));
}

fn token(text: String, span: proc_macro2::Span, in_test: bool) -> Token {
    Token { text, line: span.start().line, last_line: span.end().line, in_test }
}

fn is_punct(tree: &TokenTree, wanted: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn marks_test(attribute: &Group) -> bool {
    let text: String = attribute.stream().to_string().split_whitespace().collect();
    text == "cfg(test)" || text == "test"
}

fn ends_item(tree: &TokenTree) -> bool {
    let braces = matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    braces || is_punct(tree, ';')
}

/// Lines from the first to the last token of every stretch of test code.
pub(super) fn test_lines(tokens: &[Token]) -> Vec<RangeInclusive<usize>> {
    tokens
        .chunk_by(|a, b| a.in_test == b.in_test)
        .filter(|run| run.first().is_some_and(|token| token.in_test))
        .filter_map(|run| Some(run.first()?.line..=run.last()?.last_line))
        .collect()
}

/// Places where the tokens read exactly like `pattern`.
pub(super) fn find<'a>(
    tokens: &'a [Token],
    pattern: &'a [&str],
) -> impl Iterator<Item = &'a Token> {
    tokens
        .windows(pattern.len())
        .filter(move |window| window.iter().zip(pattern).all(|(token, text)| token.text == *text))
        .filter_map(|window| window.first())
}

/// The contents of every attribute, `#` and brackets left out.
pub(super) fn attributes(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let starts = (0..tokens.len()).filter(|&at| tokens[at].text == "#");
    starts.filter_map(move |at| {
        let bang = tokens.get(at + 1).is_some_and(|token| token.text == "!");
        let open = at + 1 + usize::from(bang);
        (tokens.get(open)?.text == "[").then(|| inside(&tokens[open..]))
    })
}

/// What is between the bracket that comes first and the one that closes it.
pub(super) fn inside(tokens: &[Token]) -> &[Token] {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth <= 1 => return &tokens[1..at.max(1)],
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
    }
    tokens
}
