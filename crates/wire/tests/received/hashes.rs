//! Which spellings of an item are one item.

use steersman_wire::Format;

fn hash(format: Format, item: &str) -> u64 {
    let key = match format {
        Format::OpenAiResponses => "input",
        Format::Gemini => "contents",
        _ => "messages",
    };
    let body = format!(r#"{{"{key}": [{item}]}}"#);
    format.receive(body.as_bytes()).unwrap().item_hash(0)
}

/// The cases stand in `tests/golden/received/hashes.txt`.
#[test]
fn the_same_content_has_the_same_hash() {
    let cases = include_str!("../golden/received/hashes.txt");
    let mut seen = 0;
    for line in cases.lines().filter(|line| !line.starts_with('#')) {
        let [format, expected, one, other] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let format = format.parse().unwrap();
        let (first, second) = (hash(format, one), hash(format, other));
        let found = if first == second { "same" } else { "other" };
        assert_eq!(found, expected, "{line}");
        seen += 1;
    }
    assert!(seen >= 28, "{seen}");
}

/// Stored with sessions: a hash is the same for ever.
#[test]
fn hashes_stay() {
    let item = r#"{"role":"user","content":"Fix the tests."}"#;
    assert_eq!(format!("{:016x}", hash(Format::Anthropic, item)), "5b64aa909b523830");
}

#[test]
fn the_prelude_is_system_and_tools() {
    let prelude = |body: &str| Format::Anthropic.receive(body.as_bytes()).unwrap().prelude_hash();
    let one = prelude(r#"{"model":"a","system":"s","tools":[{"name":"x","description":"d"}]}"#);
    let blocks = r#"[{"type":"text","text":"s","cache_control":{}}]"#;
    let same = format!(r#"{{"model":"b","system":{blocks},"tools":[{{"name":"x"}}]}}"#);
    assert_eq!(one, prelude(&same));
    assert_ne!(one, prelude(r#"{"system":"s","tools":[{"name":"y"}]}"#));
    assert_ne!(one, prelude(r#"{"system":"t","tools":[{"name":"x"}]}"#));
    assert_ne!(one, prelude(r#"{"system":"s"}"#));
}

#[test]
fn depth_costs_no_stack() {
    let deep = |levels: usize, inside: &str| {
        format!(r#"{{"x":{}{inside}{}}}"#, "[".repeat(levels), "]".repeat(levels))
    };
    for format in Format::ALL {
        assert_eq!(hash(format, &deep(50, "1, 2")), hash(format, &deep(50, "1,2")));
        let levels = 100_000;
        assert_ne!(hash(format, &deep(levels, "1")), hash(format, &deep(levels, "2")));
    }
}
