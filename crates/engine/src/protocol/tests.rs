use std::format;
use std::string::{String, ToString};
use std::vec;

use proptest::prelude::*;

use super::*;

const FULL: &str = r#"{
  "response": "Listed.",
  "continuation": {
    "status": "CONTINUE",
    "reason": "Need to create RFC after listing",
    "next_action": {"type": "tool_call", "tool": "create_rfc", "description": "Create", "parameters": {"a": [1]}},
    "progress": {
      "current_step": 1, "total_steps": 2, "completion_percentage": 50,
      "steps_completed": ["Listed existing RFCs"], "steps_remaining": ["Create new RFC"]
    }
  }
}"#;

fn status(text: &str) -> Option<Status> {
    read(text).map(|signal| signal.status)
}

#[test]
fn a_full_signal_is_read() {
    let expected = ContinuationSignal {
        status: Status::Continue,
        reason: Some("Need to create RFC after listing".to_string()),
        next_action: Some(NextAction {
            kind: Some("tool_call".to_string()),
            tool: Some("create_rfc".to_string()),
            description: Some("Create".to_string()),
        }),
        progress: Some(StepProgress {
            current_step: Some(1),
            total_steps: Some(2),
            completion_percentage: Some(50.0),
            steps_completed: vec!["Listed existing RFCs".to_string()],
            steps_remaining: vec!["Create new RFC".to_string()],
        }),
    };
    assert_eq!(read(FULL), Some(expected.clone()));
    assert_eq!(read(&format!("I listed them.\n\n```json\n{FULL}\n```\n")), Some(expected.clone()));
    assert_eq!(read(&format!("I listed them.\n{FULL}\nBye.")), Some(expected.clone()));
    let json = serde_json::to_string(&expected).unwrap();
    assert_eq!(serde_json::from_str::<ContinuationSignal>(&json).unwrap(), expected);
}

#[test]
fn signals_are_found_where_the_assistant_speaks() {
    use Status::{Continue, Terminate};
    const GO: &str = r#"{"continuation": {"status": "CONTINUE"}}"#;
    const END: &str = r#"{"continuation": {"status": "TERMINATE"}}"#;
    let cases = [
        (GO.to_string(), Some(Continue)),
        (r#"{"status": "terminate", "reason": "done"}"#.to_string(), Some(Terminate)),
        (format!("```json\n{END}\n```"), Some(Terminate)),
        (format!("```\n{END}\n```"), Some(Terminate)),
        // Quoted output before the protocol, and without it.
        (format!("The tool said:\n```\n{GO}\n```\nand so:\n```json\n{END}\n```"), Some(Terminate)),
        (format!("The tool said:\n```\n{GO}\nmore\n```\nStrange."), None),
        (format!("```\n{GO}\n```\nthen\n```python\nprint(1)\n```"), None),
        (format!("> {GO}\nA quotation."), None),
        (format!("First {GO} then {END}"), Some(Terminate)),
        (format!("{END} trailing words"), Some(Terminate)),
        ("\"continuation\": 5".to_string(), None),
        (r#"{"continuation": {"status": "MAYBE"}}"#.to_string(), None),
        (r#"{"continuation": {"status": 5}}"#.to_string(), None),
        (r#"{"continuation": null}"#.to_string(), None),
        ("{broken".to_string(), None),
        ("I will continue.".to_string(), None),
        (String::new(), None),
    ];
    for (text, expected) in cases {
        assert_eq!(status(&text), expected, "{text}");
    }
}

#[test]
fn wrong_types_are_left_out() {
    let text = r#"{"continuation": {"status": "CONTINUE", "reason": 5, "next_action": "run tests",
        "progress": {"current_step": "3", "total_steps": -4, "completion_percentage": 140,
        "steps_completed": "one", "steps_remaining": [1, "two", {}]}, "extra": {"deep": [[]]}}}"#;
    let signal = read(text).unwrap();
    assert_eq!(signal.reason, None);
    assert_eq!(signal.next_action.unwrap().description.as_deref(), Some("run tests"));
    let progress = signal.progress.unwrap();
    assert_eq!((progress.current_step, progress.total_steps), (Some(3), Some(0)));
    assert_eq!(progress.completion_percentage, Some(100.0));
    assert_eq!(progress.steps_completed, ["one"]);
    assert_eq!(progress.steps_remaining, ["two"]);
    let nan = r#"{"status": "CONTINUE", "progress": {"completion_percentage": "NaN"}}"#;
    assert_eq!(read(nan).unwrap().progress.unwrap().completion_percentage, None);
    let odd = r#"{"continuation": {"status": "CONTINUE", "progress": 40, "next_action": []}}"#;
    let odd = read(odd).unwrap();
    assert_eq!((odd.progress, odd.next_action), (None, None));
}

#[test]
fn texts_and_lists_are_bounded() {
    let steps: vec::Vec<_> = (0..100).map(|n| n.to_string()).collect();
    let text = serde_json::json!({"status": "CONTINUE", "reason": "é".repeat(1000),
        "progress": {"steps_remaining": steps}});
    let signal = read(&text.to_string()).unwrap();
    assert_eq!(signal.reason.unwrap().len(), TEXT_MAX);
    assert_eq!(signal.progress.unwrap().steps_remaining.len(), STEPS_MAX);
    let far = format!("{{\"continuation\": {{\"status\": \"CONTINUE\"}}}}{}", " x".repeat(LOOK));
    assert_eq!(read(&far), None);
}

#[test]
fn calls_signal_as_well() {
    use Status::{Continue, Terminate};
    let direct = r#"{"status":"CONTINUE","reason":"more"}"#;
    let wrapped = r#"{"continuation":{"status":"TERMINATE"}}"#;
    let cases = [
        ("report_progress", direct, Some(Continue)),
        ("mcp__gw__report_progress", direct, Some(Continue)),
        ("mcp_gw_report_progress", direct, Some(Continue)),
        ("reportProgress", direct, Some(Continue)),
        ("continuation", wrapped, Some(Terminate)),
        ("continue_or_terminate", wrapped, Some(Terminate)),
        ("write_file", direct, None),
        ("report_progress", "not json", None),
        ("report_progress", r#"{"percent": 5}"#, None),
    ];
    for (name, arguments, expected) in cases {
        let found = read_call(name, arguments).map(|signal| signal.status);
        assert_eq!(found, expected, "{name} {arguments}");
    }
}

#[test]
fn tables_are_sorted() {
    MARKS.assert_sorted();
}

#[test]
fn patterns_are_the_fallback() {
    use Status::{Continue, Terminate};
    let cases = [
        ("TERMINATE", Some(Terminate)),
        ("Status: CONTINUE", Some(Continue)),
        ("The task has been completed.", Some(Terminate)),
        ("The task is complete.", Some(Terminate)),
        ("I finished everything successfully.", Some(Terminate)),
        ("The task is not completed.", Some(Continue)),
        ("The task isn't complete.", Some(Continue)),
        ("I have not finished yet.", Some(Continue)),
        ("I need two more steps.", Some(Continue)),
        ("Not finished before. CONTINUE. Now the task is completed.", Some(Terminate)),
        ("When the task is completed, tell me.", None),
        ("Let me continue with the file.", None),
        ("He terminated the process.", None),
        ("```\nTERMINATE\n```\nThat was the log.", None),
        ("> TERMINATE\nsaid the tool.", None),
        ("The tests pass.", None),
        ("", None),
    ];
    for (text, expected) in cases {
        assert_eq!(patterns(text), expected, "{text:?}");
    }
}

#[test]
fn the_schema_is_json() {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let words = &schema["properties"]["continuation"]["properties"]["status"]["enum"];
    assert_eq!(words, &serde_json::json!(["CONTINUE", "TERMINATE"]));
}

proptest! {
    #[test]
    fn no_text_panics(text in r#"(\PC|[a-z \n{}\[\]",:`>]|"continuation"|"status"|"CONTINUE"|```|not |task |completed ){0,60}"#) {
        let one = read(&text);
        prop_assert_eq!(&one, &read(&text));
        let _ = (patterns(&text), read_call("report_progress", &text));
    }
}
