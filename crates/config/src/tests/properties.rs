//! Properties over policies and texts of any kind.

use proptest::prelude::*;
use serde_json::Value as Json;
use steersman_engine::Policy;

use crate::bounds::{self, Bounds, each_key};
use crate::shape::{Shape, is_file_key};
use crate::{parse, parse_bytes, to_yaml, to_yaml_over, with_overrides};

/// A change of one key: its path, with the names that stand for stars, and the value.
type Change = (Vec<String>, Json);

/// Names and texts with everything that could be taken for something else.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z*?.-]{1,12}",
        "\\PC{0,12}",
        any::<String>().prop_map(|text| text.chars().take(20).collect()),
        prop::sample::select(vec![
            "",
            " ",
            "~",
            "null",
            "true",
            "off",
            "no",
            "1",
            "1.5",
            "0x1",
            ".inf",
            "<<",
            "-",
            "- a",
            "a: b",
            "#x",
            "a #b",
            "\"",
            "'",
            "\\",
            "\n",
            "\t",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "\u{7f}",
            "\u{1b}[0m",
            "\u{fffe}",
            "%a",
            "@a",
            "`a",
            "{}",
            "[a]",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "?",
            "...",
            "---",
            "é",
            "日本",
            "😀",
            "a.b",
            "\u{202e}x",
        ])
        .prop_map(str::to_owned),
    ]
    .boxed()
}

/// A value that the key may have, as far as the key alone decides.
fn value(shape: &Shape, bounds: &Bounds) -> BoxedStrategy<Json> {
    match shape {
        Shape::Whole { min, max } => {
            let min = bounds.min.map_or(*min as u64, |min| min as u64);
            let max = bounds.max.map_or(*max as u64, |max| max as u64);
            prop_oneof![Just(min), Just(max), min..=max, min..=max.min(min.saturating_add(20))]
                .prop_map(Json::from)
                .boxed()
        }
        Shape::Number { .. } => {
            let min = bounds.min.or(bounds.above).unwrap_or(-1e6) as f32;
            let max = bounds.max.unwrap_or(1e6) as f32;
            (min..=max).prop_map(Json::from).boxed()
        }
        Shape::Switch => any::<bool>().prop_map(Json::from).boxed(),
        Shape::Text => text().prop_map(Json::from).boxed(),
        Shape::Choice(words) => {
            let names: Vec<String> = words.iter().map(|word| word.name.clone()).collect();
            prop::sample::select(names).prop_map(Json::from).boxed()
        }
        Shape::List(item) => prop::collection::vec(value(item, &Bounds::default()), 0..4)
            .prop_map(Json::from)
            .boxed(),
        Shape::Table(entry) if !matches!(**entry, Shape::Section(_)) => {
            prop::collection::btree_map(text(), value(entry, &Bounds::default()), 0..3)
                .prop_map(|map| map.into_iter().collect())
                .boxed()
        }
        _ => Just(Json::Null).boxed(),
    }
}

/// Any change of any key.
fn change() -> BoxedStrategy<Change> {
    let mut changes = Vec::new();
    each_key(|path, key, _| {
        let names: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
        let section = matches!(key.shape, Shape::Section(_));
        let table =
            matches!(&key.shape, Shape::Table(entry) if matches!(**entry, Shape::Section(_)));
        if section || table || is_file_key(&names[..names.len() - 1], &key.name) {
            return;
        }
        let values = value(&key.shape, &bounds::of(path, &key.shape));
        let nullable = key.nullable;
        let known = crate::shape::names(path);
        let values = if known.is_empty() {
            values
        } else {
            let names =
                prop::sample::select(known.iter().map(|(name, _)| *name).collect::<Vec<_>>());
            let texts = prop::collection::vec(text().prop_map(Json::from), 0..3);
            let entries = prop::collection::btree_map(names.prop_map(str::to_owned), texts, 0..3);
            entries
                .prop_map(|map| map.into_iter().map(|(k, v)| (k, Json::from(v))).collect())
                .boxed()
        };
        let change = (text(), values, any::<bool>()).prop_map(move |(name, value, null)| {
            let name = |part: &String| if part == "*" { name.clone() } else { part.clone() };
            let value = if nullable && null { Json::Null } else { value };
            (names.iter().map(name).collect::<Vec<_>>(), value)
        });
        changes.push(change.boxed());
    });
    prop::strategy::Union::new(changes).boxed()
}

/// A valid policy: a built-in one with changes, those left out that make it invalid.
fn policy() -> impl Strategy<Value = Policy> {
    let names = prop::sample::select(Policy::BUILT_IN.to_vec());
    (names, prop::collection::vec(change(), 0..8)).prop_map(|(name, changes)| {
        let mut policy = Policy::built_in(name).unwrap();
        for (path, value) in changes {
            let mut json = serde_json::to_value(&policy).unwrap();
            let (last, section) = path.split_last().unwrap();
            let mut at = &mut json;
            for name in section {
                let members = at.as_object_mut().unwrap();
                at = members.entry(name.clone()).or_insert(Json::Object(Default::default()));
            }
            at[last] = value;
            if let Ok(changed) = serde_json::from_value::<Policy>(json)
                && changed.validate().is_ok()
            {
                policy = changed;
            }
        }
        policy
    })
}

/// Pieces of policy files, so that what is put together comes near to one.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "base",
        "loops",
        "cycle",
        "notice",
        "tests",
        "preset",
        "task_types",
        "EDIT",
        "edit",
        "model_overrides",
        "\"gpt*\"",
        "continuation",
        "token_budgets",
        "exploration",
        "budgets",
        "action",
        "loop_detection",
        "local_minimum",
        "STUCK_THRESHOLD",
        "continuation_config",
        "timeout",
        ":",
        ": ",
        ":\n",
        "\n",
        "\n  ",
        "\n    ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "&a ",
        "*a",
        "!!str ",
        "<<",
        "|",
        ">",
        "'",
        "\"",
        "#",
        " ",
        "\t",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "null",
        "~",
        "true",
        "3",
        "-1",
        "0.5",
        "1e400",
        ".nan",
        "classic",
        "é",
        "\u{feff}",
        "? ",
        "\u{0}",
        "\r",
        "\u{2028}",
        "\\x",
        "日",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(48))]

    /// What is shown reads back as the same policy, over whichever base.
    #[test]
    fn a_policy_reads_back(policy in policy()) {
        let whole = to_yaml(&policy);
        let loaded = parse("whole", &whole).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(&loaded.policy, &policy, "{}", whole);
        for base in Policy::BUILT_IN {
            let over = to_yaml_over(&policy, base).unwrap();
            let loaded = parse("over", &over).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(&loaded.policy, &policy, "{}", over);
        }
    }

}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn no_text_panics(text in pieces()) {
        check_total(&text);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(error) = parse_bytes("any", &bytes) {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn no_override_panics(key in text(), value in pieces()) {
        if let Err(error) = with_overrides(Policy::default(), &[(&key, &value), (&value, &key)]) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

/// Either a policy that passes the check, or findings at places that exist.
fn check_total(text: &str) {
    match parse("any", text) {
        Ok(loaded) => assert_eq!(loaded.policy.validate(), Ok(()), "{text}"),
        Err(error) => {
            assert!(!error.findings().is_empty(), "{text}");
            let lines = text.split('\n').count();
            let exists = |finding: &crate::Finding| {
                finding.line().is_none_or(|line| (1..=lines).contains(&line))
            };
            assert!(error.findings().iter().all(exists), "{text}\n{error}");
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Texts that made parsers of YAML loop, overflow or blow up.
#[test]
fn hostile_texts_are_refused_quickly() {
    let texts = [
        "[".repeat(1 << 18),
        "{".repeat(1 << 18),
        "- ".repeat(1 << 17),
        "? ".repeat(1 << 17),
        "a: ".repeat(1 << 16),
        "a:\n".repeat(1 << 16),
        "- a\n".repeat(1 << 17),
        "\"".repeat(1 << 18),
        "{a: [".repeat(1 << 15),
        "'a': &b\n".repeat(1 << 17),
        "!".repeat(1 << 18),
        "x".repeat(1 << 18),
        format!("texts: {{{}: [a]}}", "k".repeat(1 << 17)),
        (0..20_000).map(|at| format!("k{at}: 1\n")).collect(),
        format!(
            "tools:\n{}",
            (0..20_000).map(|at| format!("  ' k{at}': read\n")).collect::<String>()
        ),
        format!("model_overrides: {{{}}}", "k: {a: 1}, ".repeat(9000)),
        format!(
            "task_types:\n{}",
            (0..20_000).map(|at| format!("  K{at}: {{description: 1}}\n")).collect::<String>()
        ),
        (0..(1 << 16)).map(|at| format!("k{at}: 1\n")).collect(),
        (0..40_000).map(|at| format!("k{at}: 1\n")).collect(),
        "{---".to_owned(),
        ":\n- !%".to_owned(),
        "\u{0}".to_owned(),
    ];
    for text in texts {
        let error = parse("hostile", &text).unwrap_err();
        assert!(error.to_string().len() < 200_000, "{}", &text[..20]);
    }
}
