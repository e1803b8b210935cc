use std::format;

use proptest::prelude::*;

use super::*;
use crate::tool::ToolKind::{self, Edit, Execute, Other, Poll, Read, Search, Test};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Ok,
    Empty,
    Error,
    Transient,
}

fn says(content: &str, is_error: Option<bool>, exit_code: Option<i32>, kind: ToolKind) -> Says {
    match outcome(content, is_error, exit_code, kind) {
        Outcome::Ok => Says::Ok,
        Outcome::Empty => Says::Empty,
        Outcome::Error { transient: false, .. } => Says::Error,
        Outcome::Error { transient: true, .. } => Says::Transient,
    }
}

#[test]
fn tables_are_sorted() {
    error_words::SIGNS.assert_sorted();
    intent_words::SAYINGS.assert_sorted();
    task_words::HINTS.assert_sorted();
}

#[test]
fn flags_and_codes_say_what_happened() {
    let cases = [
        ("x", Some(true), None, Execute, Says::Error),
        ("Error: x", Some(false), None, Execute, Says::Ok),
        ("boom", None, Some(2), Execute, Says::Error),
        ("", None, Some(1), Search, Says::Empty),
        ("grep: x: No such file or directory", None, Some(2), Search, Says::Error),
        ("< a\n> b", None, Some(1), Search, Says::Ok),
        ("Exit code 1", Some(true), None, Search, Says::Empty),
        ("", None, Some(1), Read, Says::Empty),
        ("1 failed, 3 passed", Some(true), Some(1), Test, Says::Ok),
        ("1 failed, 3 passed", None, Some(1), Test, Says::Ok),
        ("bash: pytest: command not found", None, Some(127), Test, Says::Error),
        ("python: No module named pytest", None, Some(1), Test, Says::Error),
        ("Killed", None, Some(137), Test, Says::Error),
        ("fine", None, Some(0), Execute, Says::Ok),
        ("Error: not really", None, Some(0), Execute, Says::Ok),
        (
            "Traceback (most recent call last):\n  File \"a\"\nKeyError: 'a'",
            None,
            Some(0),
            Execute,
            Says::Error,
        ),
    ];
    for (content, is_error, exit_code, kind, expected) in cases {
        let found = says(content, is_error, exit_code, kind);
        assert_eq!(found, expected, "{content:?} {is_error:?} {exit_code:?} {kind:?}");
    }
}

#[test]
fn texts_say_what_happened() {
    let listing = format!("src/error.rs\nsrc/lib.rs\n{}", "src/fatal.rs\n".repeat(40));
    let source = format!("{}raise ValueError('x')\n# Error: never\n", "x = 1\n".repeat(100));
    let cases = [
        ("Traceback (most recent call last):\n  File \"a\"\nValueError: x", Execute, Says::Error),
        ("Error: user not found", Read, Says::Error),
        ("error[E0432]: unresolved import", Execute, Says::Error),
        ("fatal: not a git repository", Execute, Says::Error),
        ("/bin/bash: line 1: rg: command not found", Search, Says::Error),
        ("cat: a.txt: No such file or directory", Read, Says::Error),
        ("java.io.IOException: broken", Execute, Says::Error),
        ("{\"error\": \"bad id\"}", Read, Says::Error),
        ("{\"error\": null, \"rows\": [1]}", Read, Says::Ok),
        (
            "[{\"query\":\"ls\",\"error\":\"Command exited\",\"success\":false}]",
            Execute,
            Says::Error,
        ),
        ("Invalid action", Other, Says::Error),
        ("Nothing happens.", Edit, Says::Error),
        ("Unknown city.", Search, Says::Error),
        ("<tool_use_error>File does not exist.</tool_use_error>", Read, Says::Error),
        ("File not found: /a/b", Read, Says::Error),
        ("unsupported call: frobnicate", Other, Says::Error),
        ("Error: 429 Too Many Requests — rate limit exceeded", Search, Says::Transient),
        ("Error: search service unavailable (HTTP 503).", Search, Says::Transient),
        ("503 UNAVAILABLE. {'error': {'code': 503}}", Other, Says::Ok),
        ("Error: total price is 503, but paid 299", Edit, Says::Error),
        ("Error: The read operation timed out", Search, Says::Transient),
        ("ERROR: service temporarily unavailable. Retry the call.", Read, Says::Transient),
        (listing.as_str(), Search, Says::Ok),
        (source.as_str(), Read, Says::Ok),
        ("No errors found. 3 warnings.", Execute, Says::Ok),
        ("Build succeeded with 0 errors", Execute, Says::Ok),
        ("FAILED tests/a.py::test_x - ValueError: x\n1 failed", Test, Says::Ok),
        ("On the shelf 8, you see nothing.", Read, Says::Ok),
        ("   \n", Search, Says::Empty),
        ("No matches found", Search, Says::Empty),
        ("No results.", Search, Says::Empty),
        ("Found 0 files", Search, Says::Empty),
        ("[]", Search, Says::Empty),
        ("{\"ranked_spans\": [], \"query\": \"x\"}", Search, Says::Empty),
        ("None", Read, Says::Empty),
        ("(no output)", Execute, Says::Empty),
        ("(Bash completed with no output)", Execute, Says::Empty),
        ("Could not find [Milhouse]. Similar: ['Milhouse']", Search, Says::Empty),
        ("Nothing new", Poll, Says::Ok),
    ];
    for (content, kind, expected) in cases {
        assert_eq!(says(content, None, None, kind), expected, "{kind:?} {content:?}");
    }
}

#[test]
fn envelopes_are_taken_off() {
    let cases = [
        ("<returncode>1</returncode>\n<output>\n</output>", Search, Says::Empty),
        ("<returncode>0</returncode>\n<output>\nError: shown\n</output>", Read, Says::Ok),
        ("<returncode>2</returncode>\n<output>\nboom\n</output>", Execute, Says::Error),
        ("{\"returncode\":1,\"output\":\"\"}", Search, Says::Empty),
        ("{\"returncode\":1,\"output\":\"a\\nValueError: x\\n\"}", Execute, Says::Error),
        ("Exit code 3\nout", Execute, Says::Error),
        (
            "Chunk ID: 4f8250\nWall time: 0.0 seconds\nProcess exited with code 3\nOutput:\nx",
            Execute,
            Says::Error,
        ),
        ("x\n[Command finished with exit code 2]", Execute, Says::Error),
        ("x\n[Command finished with exit code 0]", Execute, Says::Ok),
        ("Command: ls\nOutput: a\nError: (none)\nExit Code: 0", Execute, Says::Ok),
        ("exitcode: 1 (execution failed)\nCode output: x", Execute, Says::Error),
        ("a\n\n<system-reminder>\nError: none of yours\n</system-reminder>", Read, Says::Ok),
        ("<system-reminder>only this</system-reminder>", Search, Says::Empty),
    ];
    for (content, kind, expected) in cases {
        assert_eq!(says(content, None, None, kind), expected, "{content:?}");
    }
}

fn signature(content: &str) -> u64 {
    match outcome(content, Some(true), None, Execute) {
        Outcome::Error { signature, .. } => signature,
        other => panic!("{content:?} is {other:?}"),
    }
}

#[test]
fn the_same_error_has_the_same_signature() {
    let cases = [
        ("Error: user 17 not found", "Error: user 4 not found", true),
        ("Error: user not found", "Error: order not found", false),
        ("cat: /a/b.txt: No such file or directory", "cat: c/d: No such file or directory", true),
        (
            "Exit code 1\nfatal: bad object 9f3c2a11",
            "Exit code 1\nfatal: bad object 0b7d33aa",
            true,
        ),
        ("Error: Table 'a' doesn't exist", "Error: Table 'b_c' doesn't exist", true),
        ("error[E0432]: unresolved import", "error[E0308]: mismatched types", false),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 3",
            "Traceback (most recent call last):\n  File \"b.py\", line 9, in x\n    y\nKeyError: 14",
            true,
        ),
        (
            "ModuleNotFoundError: No module named 'a'",
            "ModuleNotFoundError: No module named 'b'",
            false,
        ),
        ("a.rs:3: warning\nerror: x", "a.rs:5: warning\nmore\nerror: x", true),
        ("2026-01-02 10:11:12 ERROR failed", "2026-01-03 11:12:13 ERROR failed", true),
    ];
    for (a, b, equal) in cases {
        assert_eq!(signature(a) == signature(b), equal, "{a:?} against {b:?}");
    }
}

#[test]
fn tasks_tell_their_kind_and_complexity() {
    use Complexity::{Complex, Generation, Medium, Simple};
    use TaskType::{Analyze, Create, CreateSimple, Design, Edit, General, Research, Search};
    let issue = "<pr_description>\nTypeError when multiplying Point and number\nDescription\n\
                 1. a\n2. b\n3. c\n4. d\n\nExpected behavior: no error.\n</pr_description>";
    let plan = "Implement the following plan:\n1. parser\n2. writer\n3. command\n4. docs";
    let cases = [
        ("What is 2+2?", General, Simple),
        ("hi", General, Simple),
        ("", General, Simple),
        ("Read config.py and explain it", Analyze, Medium),
        ("Analyze entire Victor architecture", Analyze, Complex),
        ("Refactor the entire code base to async", Edit, Complex),
        ("write a haiku", CreateSimple, Generation),
        ("create a script", CreateSimple, Generation),
        ("Write a python function to add two numbers.", CreateSimple, Generation),
        ("Implement a cache for the resolver and add tests", Create, Generation),
        ("Fix the failing test in parser.rs", Edit, Medium),
        ("Resolve the following problem statement:\n\ncrash on start", Edit, Medium),
        (issue, Edit, Medium),
        (plan, Create, Complex),
        ("Rename the label 'A' to 'B'.", Edit, Medium),
        ("Find where the configuration is loaded", Search, Medium),
        ("Which files import the parser?", Search, Medium),
        ("Can you review PR 227?", Analyze, Medium),
        ("How many lines does a.py have?", Analyze, Medium),
        ("Search the web for the latest release of Rust", Research, Medium),
        ("Who was the director of Alien?", Research, Simple),
        ("Propose a design for uploads, without writing code", Design, Medium),
        ("What city did Paul Clyne live in?", General, Simple),
    ];
    for (text, kind, size) in cases {
        assert_eq!((task_type(text), complexity(text, None)), (kind, size), "{text:?}");
    }
    let analysis = "Explain how retries work";
    assert_eq!(complexity(analysis, Some(50_000)), Medium);
    assert_eq!(complexity(analysis, Some(200_000)), Complex);
}

#[test]
fn replies_tell_their_intent() {
    use Intent::{AsksUser, Blocked, Empty, Finished, Stuck, WillContinue};
    let long = format!("{}\n\nI'll now update the file:", "Some analysis here. ".repeat(200));
    let cases = [
        ("", Empty),
        ("  \n", Empty),
        ("...", Empty),
        ("<think>I should look at a.rs first.</think>", Empty),
        ("<think>never closed", Empty),
        ("<thinking>hm</thinking>\nAll done. The bug is fixed.", Finished),
        ("I'll now update the file:", WillContinue),
        (long.as_str(), WillContinue),
        ("Let me check the tests first.", WillContinue),
        ("The parser is wrong. Now let me fix it...", WillContinue),
        ("Next, I will run the tests.", WillContinue),
        ("I will now look up the order. One moment please.", WillContinue),
        ("I'm going to run it:\n\n```bash\npytest -q\n```", WillContinue),
        ("<tool_call>{\"name\": \"ls\", \"arguments\": {}}</tool_call>", WillContinue),
        ("{\"name\": \"ls\", \"arguments\": {}}", WillContinue),
        ("I have completed the change. All tests pass.", Finished),
        ("Fixed. Let me know if you need anything.", Finished),
        ("Done! Let me know if you have any questions.", Finished),
        ("The task is not completed yet. I still need to fix b.rs.", WillContinue),
        ("Here is the function:\n\n```python\nprint(1)\n```", Finished),
        ("```rust\nfn main() {}\n```", Finished),
        ("42", Finished),
        ("The answer is Paris.", Finished),
        ("I've updated both files. Is there anything else I can help with?", Finished),
        ("I moved the helper. If you'd like, I can also add a test.", Finished),
        ("Should I also delete the old file?", AsksUser),
        ("The design is ready.\n\nWould you like me to implement it?", AsksUser),
        ("Which of the two do you prefer? Both are fine with me.", AsksUser),
        ("Please provide your user id so I can look up the order.", AsksUser),
        ("Could you confirm the date? Once confirmed, I'll book the flight.", AsksUser),
        ("Let me know which option you prefer.", AsksUser),
        ("I cannot proceed without the API key.", Blocked),
        ("I don't have access to that repository.", Blocked),
        ("I'm going in circles here; the same test keeps failing.", Stuck),
        ("I seem to be stuck in a loop.", Stuck),
    ];
    for (reply, expected) in cases {
        assert_eq!(intent(reply), expected, "{reply:?}");
    }
}

#[test]
fn claims_of_success_are_told_from_doubts() {
    let cases = [
        ("All tests pass.", true),
        ("I've fixed the bug and added a test.", true),
        ("The task has been completed successfully.", true),
        ("Everything works.", true),
        ("The issue has been resolved by guarding the index.", true),
        ("The task is not completed.", false),
        ("The fix was not successfully applied.", false),
        ("I fixed the import. Two tests still fail.", false),
        ("I was unable to fix it.", false),
        ("Once all tests pass, I'll commit.", false),
        ("Do all tests pass?", false),
        ("Here is what I found in the parser.", false),
        ("", false),
    ];
    for (text, expected) in cases {
        assert_eq!(claims_success(text), expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn no_reply_panics(text in r#"(\PC|[a-z. \n?!:`*<>/{}"]|I'll |Let me |```|<think>|</think>){0,120}"#) {
        let one = intent(&text);
        prop_assert_eq!(one, intent(&text));
        let _ = (claims_success(&text), task_type(&text), complexity(&text, None));
    }

    #[test]
    fn no_result_panics(
        text in r#"([a-zA-Z ]|[{}\[\]<>"'`:\\\n0-9/.#-]|Error|Exit code |<returncode>|é|—|’){0,80}"#,
        kind in prop::sample::select(&[Read, Search, Edit, Execute, Test, Poll, Other]),
        is_error in prop::option::of(any::<bool>()),
    ) {
        let one = outcome(&text, is_error, None, kind);
        prop_assert_eq!(one, outcome(&text, is_error, None, kind));
    }
}
