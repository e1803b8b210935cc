//! What must hold for any input.

use proptest::prelude::*;
use steersman_wire::{Format, WireError, parse_arguments, redact};

use crate::cases::{answers, shown};

#[test]
fn the_cut_of_a_stream_does_not_matter() {
    for case in answers().iter().filter(|case| case.is_stream()) {
        let whole = shown(case.read(usize::MAX));
        for chunk in [1, 2, 3, 7, 64] {
            assert_eq!(shown(case.read(chunk)), whole, "{} by {chunk}", case.path.display());
        }
    }
}

/// A stream that ends early is never taken for a whole answer, except behind its end mark.
#[test]
fn a_stream_that_ends_early_is_a_failure() {
    for case in answers().iter().filter(|case| case.is_stream()) {
        let Ok(whole) = case.read(usize::MAX) else { continue };
        for end in 0..case.bytes.len() {
            let mut reader = case.format.stream();
            reader.push(&case.bytes[..end]).unwrap();
            match reader.finish() {
                // The usage may be missing: it comes behind the end mark.
                Ok(answer) => assert_eq!(answer.message, whole.message, "{}", case.path.display()),
                Err(WireError::CutOff { .. }) => {}
                Err(other) => panic!("{}: {other}", case.path.display()),
            }
        }
    }
}

/// What can be read can be stored and read back, however deep it nests.
#[test]
fn what_nests_too_deep_is_no_answer() {
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"content": [{{"type": "new", "x": {open}{close}}}]}}"#)
    };
    let answer = Format::Anthropic.answer(nested(60).as_bytes()).unwrap();
    let stored = serde_json::to_string(&answer).unwrap();
    assert_eq!(serde_json::from_str::<steersman_wire::Answer>(&stored).unwrap(), answer);
    let error = Format::Anthropic.answer(nested(62).as_bytes()).unwrap_err().to_string();
    assert!(error.contains("nested deeper than 64 levels"), "{error}");
}

fn read_everything(bytes: &[u8]) {
    for format in Format::ALL {
        let _ = format.answer(bytes);
        let mut reader = format.stream();
        let _ = bytes.chunks(5).try_for_each(|chunk| reader.push(chunk).map(|_| ()));
        let _ = reader.partial();
        let _ = reader.finish();
        let header = |_: &str| std::str::from_utf8(bytes).ok();
        let failure = format.failure(429, header, bytes, 1_795_348_800_000);
        assert!(failure.message.chars().count() <= 1001, "{}", failure.message);
    }
}

fn bounded() -> ProptestConfig {
    ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() }
}

/// What replaces a piece of an answer.
fn odd() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "null",
        "[]",
        "{}",
        "\"",
        "1e999",
        "-1",
        "data: {\"error\":1}\n\n",
        "\u{fffd}",
    ])
}

proptest! {
    #![proptest_config(bounded())]

    #[test]
    fn chunks_of_any_size_give_the_same(
        pick in any::<prop::sample::Index>(),
        cuts in prop::collection::vec(1..200_usize, 1..50),
    ) {
        let cases: Vec<_> = answers().into_iter().filter(|case| case.is_stream()).collect();
        let case = pick.get(&cases);
        let mut reader = case.format.stream();
        let mut rest = &case.bytes[..];
        let mut sizes = cuts.iter().cycle();
        let mut failed = None;
        while !rest.is_empty() && failed.is_none() {
            let (chunk, after) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            failed = reader.push(chunk).err();
            rest = after;
        }
        let read = failed.map_or_else(|| reader.finish(), Err);
        prop_assert_eq!(shown(read), shown(case.read(usize::MAX)));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_everything(&bytes);
    }

    #[test]
    fn no_change_of_an_answer_panics(
        pick in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        len in 0..20_usize,
        put in odd(),
    ) {
        let cases = answers();
        let case = pick.get(&cases);
        let mut bytes = case.bytes.clone();
        let at = at.index(bytes.len());
        bytes.splice(at..(at + len).min(bytes.len()), put.bytes());
        read_everything(&bytes);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = parse_arguments(&text);
        let _ = redact(&text);
    }
}
