//! The scenario suite: loops that must be noticed, work that must not be stopped.

mod script;

use script::Script;
use steersman_engine::{Action, Policy};

/// Plays a loop; it must be noticed within `turns` turns of its start in turn `start`.
#[track_caller]
fn noticed(run: &Script, start: u32, turns: u32) {
    let decisions = run.play(&Policy::default());
    let first = decisions.first().map(|decision| decision.turn);
    let told: Vec<_> = decisions.iter().map(|d| (d.turn, d.action, d.reason.name())).collect();
    assert!(
        first.is_some_and(|turn| turn >= start && turn < start + turns),
        "not noticed in turns {start}..{}: {told:?}",
        start + turns
    );
}

/// Plays legitimate work; nothing but what `tolerated` allows may be decided.
#[track_caller]
fn undisturbed(run: &Script, tolerated: &[Action]) {
    let decisions = run.play(&Policy::default());
    let told: Vec<_> = decisions.iter().map(|d| (d.turn, d.action, d.reason.name())).collect();
    assert!(told.iter().all(|(_, action, _)| tolerated.contains(action)), "{told:?}");
}

fn run() -> Script {
    Script::new("Fix the failing test in src/parser.py so that the whole suite passes.")
}

const MISSING: &str = "cat: src/parse.py: No such file or directory";

#[test]
fn l1_the_same_failing_call() {
    let run = run()
        .each(0..6, |run, _| run.failing("bash", r#"{"command":"cat src/parse.py"}"#, MISSING));
    noticed(&run, 1, 4);
}

#[test]
fn l2_the_same_failing_call_in_other_words() {
    let words = ["Let me look.", "I will check the file.", "Reading it now.", "Once more.", "Hm."];
    let run = run().each(words, |run, text| {
        run.turn(text, &[("bash", r#"{"command":"cat src/parse.py"}"#, MISSING)])
    });
    noticed(&run, 1, 4);
}

#[test]
fn l3_outputs_that_differ_only_by_noise() {
    let run = run().each(0..6, |run, n| {
        let output = format!(
            "2026-11-02 10:00:0{n} server (pid {}) refused at 0x7f{n}a0: gave up after {n}.3{n}s",
            4000 + n
        );
        run.call("bash", r#"{"command":"./start-server"}"#, &output)
    });
    noticed(&run, 1, 4);
}

#[test]
fn l4_two_calls_in_turn() {
    let run = run().each(0..5, |run, _| {
        run.call("read_file", r#"{"path":"a.py"}"#, "def a(): return b()").call(
            "read_file",
            r#"{"path":"b.py"}"#,
            "def b(): return a()",
        )
    });
    noticed(&run, 1, 6);
}

#[test]
fn l5_three_calls_in_turn() {
    let run = run().each(0..5, |run, _| {
        run.call("read_file", r#"{"path":"a.py"}"#, "def a(): return b()")
            .call("grep", r#"{"pattern":"def b"}"#, "b.py:1:def b():")
            .call("list_dir", r#"{"path":"."}"#, "a.py\nb.py")
    });
    noticed(&run, 1, 9);
}

#[test]
fn l6_the_same_failing_test_with_reads_between() {
    let run = run().each(0..5, |run, n| {
        run.tests("bash", r#"{"command":"pytest -q tests/test_parser.py"}"#, "-test_a +test_b")
            .call("read_file", &format!(r#"{{"path":"src/m{n}.py"}}"#), &format!("module {n} here"))
    });
    noticed(&run, 1, 6);
}

#[test]
fn l7_paraphrased_arguments_the_same_output() {
    let asked = [
        "capital of France",
        "France capital city",
        "which city is capital in France",
        "the French capital",
        "capital city of the French Republic",
        "what is France's capital",
    ];
    let page = "Paris is the capital and largest city of France, on the river Seine, with 2.1 million people.";
    let run = Script::new("Who was mayor of the capital of France in 1900?")
        .each(asked, |run, query| run.call("wiki", &format!(r#"{{"q":"{query}"}}"#), page));
    noticed(&run, 1, 6);
}

#[test]
fn l8_the_same_files_in_any_order() {
    let order = ["a", "b", "c", "b", "a", "c", "c", "a", "b", "a", "c", "b"];
    let run = run().each(order, |run, file| {
        let path = format!(r#"{{"file_path":"/repo/{file}.py"}}"#);
        run.call("Read", &path, &format!("# file {file}\nprint('{file}')"))
    });
    noticed(&run, 1, 12);
}

#[test]
fn l9_the_same_error_from_varied_arguments() {
    let run = run().each(0..8, |run, n| {
        let call = format!(r#"{{"table":"orders","column":"col_{n}"}}"#);
        run.failing("query_db", &call, &format!("Error: permission denied for column 'col_{n}'"))
    });
    noticed(&run, 1, 8);
}

#[test]
fn l10_rephrased_searches_that_find_nothing() {
    let words = [
        "parse_config",
        "parseConfig",
        "config_parser",
        "ConfigParse",
        "read_config",
        "loadcfg",
        "cfg",
    ];
    let run = run().each(words, |run, word| {
        run.call("grep", &format!(r#"{{"pattern":"{word}"}}"#), "No matches found")
    });
    noticed(&run, 1, 7);
}

#[test]
fn l11_narration() {
    let texts = [
        "I will now open the parser and look at it.",
        "Next, I'll read the parser module.",
        "Let me go through the parser step by step.",
        "I'm going to inspect the parser now.",
        "First I will look at the tokenizer.",
    ];
    let run = run()
        .call("read_file", r#"{"path":"README.md"}"#, "A parser.")
        .each(texts, |run, text| run.say(text));
    noticed(&run, 2, 4);
}

#[test]
fn l12_edit_and_revert() {
    let edit = |old: &str, new: &str| {
        format!(r#"{{"file_path":"/repo/a.py","old_string":"{old}","new_string":"{new}"}}"#)
    };
    let run = run().each(0..4, |run, _| {
        run.call("Edit", &edit("x = 1", "x = 2"), "The file /repo/a.py has been updated.").call(
            "Edit",
            &edit("x = 2", "x = 1"),
            "The file /repo/a.py has been updated.",
        )
    });
    noticed(&run, 1, 6);
}

#[test]
fn l13_edits_without_a_new_low() {
    let run = run().each(0..8, |run, n| {
        let edit = format!(
            r#"{{"file_path":"/repo/a.py","old_string":"v{n}","new_string":"v{}"}}"#,
            n + 1
        );
        run.call("Edit", &edit, &format!("updated /repo/a.py, now v{}", n + 1)).tests(
            "Bash",
            r#"{"command":"pytest -q"}"#,
            "-test_a -test_b +test_c",
        )
    });
    noticed(&run, 1, 12);
}

#[test]
fn l14_a_loop_that_begins_late() {
    let run = run()
        .each(0..40, |run, n| {
            run.call("read_file", &format!(r#"{{"path":"src/m{n}.py"}}"#), &format!("module {n}"))
        })
        .each(0..6, |run, _| run.call("bash", r#"{"command":"make build"}"#, "make: *** no rule"));
    noticed(&run, 41, 6);
}

#[test]
fn l15_chanting_inside_one_reply() {
    let chant =
        "I need to check whether the parser handles the empty string correctly.\n".repeat(30);
    let run = run().turn(&chant, &[("read_file", r#"{"path":"a.py"}"#, "x")]);
    noticed(&run, 1, 1);
}

#[test]
fn p1_polling_with_changing_output() {
    let run = run().each(0..20, |run, n| {
        run.call("get_job", r#"{"job":"build-17"}"#, &format!("{{\"done\": {}, \"of\": 20}}", n))
    });
    undisturbed(&run, &[]);
}

#[test]
fn p2_polling_with_unchanged_output() {
    let run = run()
        .each(0..12, |run, _| {
            run.call("get_job", r#"{"job":"build-17"}"#, r#"{"status":"running"}"#)
        })
        .call("get_job", r#"{"job":"build-17"}"#, r#"{"status":"succeeded"}"#);
    undisturbed(&run, &[Action::Nudge]);
    let shell = self::run()
        .each(0..12, |run, _| {
            run.call("bash", r#"{"command":"sleep 30; tail -1 build.log"}"#, "compiling")
        })
        .call("bash", r#"{"command":"sleep 30; tail -1 build.log"}"#, "done");
    undisturbed(&shell, &[Action::Nudge]);
}

#[test]
fn p3_pagination_without_a_cursor() {
    let run = Script::new("Count the open orders of all customers.").each(0..50, |run, n| {
        let rows: String = (0..10).map(|row| format!("order {} open\n", n * 10 + row)).collect();
        run.call("next_page", "{}", &rows)
    });
    undisturbed(&run, &[]);
}

#[test]
fn p4_failures_that_shrink() {
    let failing =
        ["-a -b -c -d +e", "-a -b -c +d +e", "-a -b +c +d +e", "-a +b +c +d +e", "+a +b +c +d +e"];
    let run = run().each(failing.iter().enumerate(), |run, (n, results)| {
        let edit =
            format!(r#"{{"file_path":"/repo/a.py","old_string":"f{n}","new_string":"g{n}"}}"#);
        run.call("Edit", &edit, "The file has been updated.").tests(
            "Bash",
            r#"{"command":"pytest -q"}"#,
            results,
        )
    });
    undisturbed(&run, &[]);
}

#[test]
fn p5_flat_failures_then_passing() {
    let results = ["-a +b"; 6].into_iter().chain(["+a +b"]);
    let run = run().each(results.enumerate(), |run, (n, results)| {
        let edit =
            format!(r#"{{"file_path":"/repo/a.py","old_string":"f{n}","new_string":"g{n}"}}"#);
        run.call("Edit", &edit, "The file has been updated.").tests(
            "Bash",
            r#"{"command":"pytest -q"}"#,
            results,
        )
    });
    undisturbed(&run, &[Action::Nudge, Action::ReEvaluate]);
}

#[test]
fn p6_one_edit_then_many_reads() {
    let run = run()
        .call("Edit", r#"{"file_path":"/a.py","old_string":"a","new_string":"b"}"#, "updated")
        .each(0..20, |run, n| {
            run.call(
                "Read",
                &format!(r#"{{"file_path":"/src/m{n}.py"}}"#),
                &format!("# module {n}"),
            )
        });
    undisturbed(&run, &[]);
}

#[test]
fn p7_edits_to_many_files() {
    let run = run().each(0..20, |run, n| {
        let edit = format!(
            r#"{{"file_path":"/src/m{n}.py","old_string":"import a","new_string":"import b"}}"#
        );
        run.call("Edit", &edit, "ok")
    });
    undisturbed(&run, &[]);
}

#[test]
fn p8_many_edits_to_one_file() {
    let run = run().each(0..30, |run, n| {
        let edit = format!(
            r#"{{"file_path":"/src/a.py","old_string":"line {n}","new_string":"row {n}"}}"#
        );
        run.call("Edit", &edit, "The file /src/a.py has been updated.")
    });
    undisturbed(&run, &[]);
}

#[test]
fn p9_git_status_after_every_edit() {
    let run = run().each(0..10, |run, n| {
        let edit =
            format!(r#"{{"file_path":"/src/a.py","old_string":"l{n}","new_string":"r{n}"}}"#);
        run.call("Edit", &edit, "The file /src/a.py has been updated.").call(
            "Bash",
            r#"{"command":"git status --short"}"#,
            " M src/a.py",
        )
    });
    undisturbed(&run, &[]);
}

#[test]
fn p10_identical_calls_in_parallel() {
    let call = ("read_file", r#"{"path":"a.py"}"#, "print(1)");
    let run =
        run().turn("", &[call, call, call]).call("read_file", r#"{"path":"b.py"}"#, "print(2)");
    undisturbed(&run, &[]);
}

#[test]
fn p11_the_same_key_while_the_page_changes() {
    let run = Script::new("Find the newest message of Ada in the inbox.").each(0..8, |run, n| {
        let page = format!("Pressed ArrowDown. Row {n} of 40 is selected: message {n}");
        run.call("press_key", r#"{"key":"ArrowDown"}"#, &page)
    });
    undisturbed(&run, &[]);
}

#[test]
fn p12_verified_twice() {
    let run = run()
        .call("Edit", r#"{"file_path":"/a.py","old_string":"a","new_string":"b"}"#, "updated")
        .tests("Bash", r#"{"command":"pytest -q"}"#, "+a +b")
        .tests("Bash", r#"{"command":"pytest -q"}"#, "+a +b")
        .say("The parser is fixed and both tests pass.");
    undisturbed(&run, &[]);
}

#[test]
fn p13_a_transient_error_retried() {
    for error in
        ["Error: HTTP 429 Too Many Requests, retry later", "Error: request timed out after 30 s"]
    {
        let run = run()
            .each(0..4, |run, _| {
                run.failing("fetch", r#"{"url":"https://example.org/data"}"#, error)
            })
            .call("fetch", r#"{"url":"https://example.org/data"}"#, "data: 1, 2, 3");
        undisturbed(&run, &[]);
    }
}

#[test]
fn p14_one_large_file_range_by_range() {
    let run = run().each(0..25, |run, n| {
        let range = format!(r#"{{"file_path":"/src/big.py","offset":{},"limit":200}}"#, n * 200);
        run.call("Read", &range, &format!("lines from {} on: alpha beta gamma {n}", n * 200))
    });
    undisturbed(&run, &[]);
}

#[test]
fn p15_a_dialogue() {
    let run = Script::new("I want to change my booking.").each(0..12, |run, n| {
        run.say(&format!("Sure. Could you tell me detail number {n} of your booking, please?"))
            .user(&format!("It is {n}."))
    });
    undisturbed(&run, &[]);
}

#[test]
fn p16_one_template_for_many_files() {
    let run = run().each(0..20, |run, n| {
        let call = format!(
            r#"{{"path":"docs/page{n}.md","content":"Title\n\nSee the guide for page {n}."}}"#
        );
        run.call("write_file", &call, "File written successfully.")
    });
    undisturbed(&run, &[]);
}

#[test]
fn p17_a_long_run_with_steady_novelty() {
    let run = run().each(0..300, |run, n| match n % 3 {
        0 => run.call(
            "Read",
            &format!(r#"{{"file_path":"/src/m{n}.py"}}"#),
            &format!("# module {n}"),
        ),
        1 => run.call(
            "Edit",
            &format!(
                r#"{{"file_path":"/src/m{}.py","old_string":"a{n}","new_string":"b{n}"}}"#,
                n - 1
            ),
            "The file has been updated.",
        ),
        _ => run.tests(
            "Bash",
            &format!(r#"{{"command":"pytest -q tests/test_m{}.py"}}"#, n - 2),
            "+a +b",
        ),
    });
    undisturbed(&run, &[]);
}

#[test]
fn p18_a_user_message_begins_anew() {
    let twice = |run: Script| {
        run.each(0..2, |run, _| {
            run.call("Bash", r#"{"command":"make"}"#, "make: nothing to be done")
        })
    };
    let run = twice(
        twice(twice(run()).user("Try make again, I changed the Makefile.")).user("And once more."),
    );
    undisturbed(&run, &[]);
}
