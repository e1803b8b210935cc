//! Answers that have a JSON schema.

use serde_json::{Map, Value};
use steersman_wire::parse_arguments;

use super::calls::failed;
use super::plan::Probe;
use super::row::{Found, Row, told};
use super::step::Step;

/// The row about structured output.
pub(super) fn row(probe: &Probe) -> Row {
    let about = ("structured_output", "answer held to a JSON schema");
    let Some(heard) = probe.tries(Step::Schema).next() else {
        let why = probe.halted().unwrap_or_else(|| "the probe had ended".to_owned());
        return Row::new(about, "", Found::NotTold, &format!("not asked: {why}"));
    };
    let Some(answer) = heard.answer() else { return failed(Step::Schema, about, heard) };
    let (found, remark) = judge(&answer.message.text());
    Row::new(about, Step::Schema.sent(), found, &format!("{}{remark}", told(heard)))
}

fn judge(text: &str) -> (Found, &'static str) {
    if text.trim().is_empty() {
        return (Found::No, "");
    }
    let (object, strict) = match serde_json::from_str(text.trim()) {
        Ok(Value::Object(object)) => (object, true),
        _ => match parse_arguments(text) {
            Ok(object) => (object, false),
            Err(_) => return (Found::No, "; no JSON object"),
        },
    };
    match (fits(&object), strict) {
        (true, true) => (Found::Yes, ""),
        (true, false) => (Found::Partly, "; JSON of the shape, with something around it"),
        (false, _) => (Found::No, "; JSON of another shape"),
    }
}

fn fits(object: &Map<String, Value>) -> bool {
    let animal = object.get("animal").is_some_and(Value::is_string);
    let legs = object.get("legs").is_some_and(|legs| legs.is_i64() || legs.is_u64());
    animal && legs && object.len() == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shape_counts() {
        let cases = [
            (r#"{"animal": "spider", "legs": 8}"#, Found::Yes),
            ("```json\n{\"animal\": \"spider\", \"legs\": 8}\n```", Found::Partly),
            (r#"{"animal": "spider", "legs": "8"}"#, Found::No),
            (r#"{"animal": "spider", "legs": 8, "more": 1}"#, Found::No),
            (r#"{"animal": "spider"}"#, Found::No),
            (r#"{"animal": "spi"#, Found::No),
            ("A spider has 8 legs.", Found::No),
            ("[8]", Found::No),
            ("", Found::No),
        ];
        for (text, expected) in cases {
            assert_eq!(judge(text).0, expected, "{text}");
        }
    }
}
