//! Every rule, with what it must find and what it must leave alone.

use super::tree::Tree;
use super::{Findings, RULES};

/// Runs one rule over the files; a finding is shown as `path:line`, or `path` for a whole file.
fn check(rule: &str, files: &[(&str, &str)], expected: &[&str]) {
    let rule = RULES.iter().find(|found| found.name == rule).expect("the rule exists");
    let mut findings = Findings::default();
    (rule.check)(&Tree::of(files), &mut findings);
    let shown = findings.sorted().into_iter().map(|finding| match finding.line {
        0 => finding.path,
        line => format!("{}:{line}", finding.path),
    });
    let shown: Vec<String> = shown.collect();
    assert_eq!(shown, expected, "rule {} over {files:?}", rule.name);
}

/// As [`check`] for one Rust file, with the lines of the findings.
fn check_rust(rule: &str, source: &str, lines: &[usize]) {
    let expected: Vec<String> =
        lines.iter().map(|line| format!("crates/a/src/a.rs:{line}")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    check(rule, &[("crates/a/src/a.rs", source)], &expected);
}

/// As [`check`] for rules about whole files.
fn check_file(rule: &str, path: &str, text: &str, fine: bool) {
    let all = [path];
    check(rule, &[(path, text)], if fine { &[] } else { &all });
}

#[test]
fn every_rule_has_a_name_of_its_own_and_a_reason() {
    for (at, rule) in RULES.iter().enumerate() {
        assert!(!rule.reason.is_empty(), "{}", rule.name);
        assert!(RULES[..at].iter().all(|other| other.name != rule.name), "{}", rule.name);
    }
}

#[test]
fn files_are_short_and_tests_count_apart() {
    let code = |lines: usize| "const A: u8 = 0;\n".repeat(lines);
    let tests = |lines: usize| format!("#[cfg(test)]\nmod tests {{\n{}}}\n", code(lines - 3));
    let cases = [
        ("a.rs", code(500), true),
        ("a.rs", code(501), false),
        ("a.rs", code(500) + &tests(300), true),
        ("a.rs", code(500) + &tests(301), false),
        ("a.rs", tests(300) + &code(501), false),
        ("a/tests.rs", code(800), true),
        ("a/tests.rs", code(801), false),
        ("tests/a.rs", code(800), true),
        ("a.md", code(900), true),
    ];
    for (path, text, fine) in cases {
        check_file("file-length", path, &text, fine);
    }
}

#[test]
fn lines_are_short() {
    let long = "x".repeat(90);
    let cases: &[(String, &[usize])] = &[
        (format!("// {}", "ü".repeat(97)), &[]),
        (format!("\n// {}", "ü".repeat(98)), &[2]),
        (format!("// https://example.com/{long}"), &[]),
        (format!("const A: &str = r#\"{long}\"#;"), &[1]),
        (format!("#[cfg(test)]\nmod tests {{\nconst A: &str = r#\"{long}\"#;\n}}"), &[]),
        (format!("#[cfg(test)]\nmod tests {{\nconst A: &str = \"{long}\";\n}}"), &[]),
        (format!("#[cfg(test)]\nmod tests {{\nconst {long}: u8 = 0;\n}}"), &[3]),
        (format!("const A: &str = \"{long}\";"), &[1]),
    ];
    for (source, lines) in cases {
        check_rust("line-length", source, lines);
    }
}

#[test]
fn lines_end_with_a_line_break_and_nothing_before_it() {
    check("whitespace", &[("a.md", "a\n\nb\n"), ("b.md", "")], &[]);
    check("whitespace", &[("a.md", "a\nb \nc\t\nd\r\n")], &["a.md:2", "a.md:3", "a.md:4"]);
    check("whitespace", &[("a.toml", "a = 1")], &["a.toml"]);
}

#[test]
fn names_say_what_is_inside() {
    let cases = [
        ("crates/core/src/lib.rs", "", false),
        ("crates/a/src/utils.rs", "", false),
        ("crates/a/src/helpers/mod.rs", "", false),
        ("crates/a/tests/common/mod.rs", "", false),
        ("crates/a/src/encore.rs", "use core::fmt; mod common_words;", true),
        ("crates/a/Cargo.toml", "[package]\nname = \"a-engine\"\n[[bin]]\nname = \"core\"", true),
    ];
    for (path, text, fine) in cases {
        check_file("banned-name", path, text, fine);
    }
    check_rust("banned-name", "struct A;\nmod manager { }", &[2]);
    let manifest = "[package]\nname = \"steersman-core\"\n";
    check("banned-name", &[("crates/a/Cargo.toml", manifest)], &["crates/a/Cargo.toml:2"]);
}

#[test]
fn every_test_runs() {
    check_rust("ignored-test", "#[test]\n#[ignore]\nfn a() {}", &[2]);
    check_rust("ignored-test", "#[ignore = \"slow\"]\nfn a() {}", &[1]);
    check_rust("ignored-test", "/// ```ignore\n/// a\n/// ```\nfn a() {}", &[1]);
    check_rust("ignored-test", "//! ```rust,ignore\n//! ```", &[1]);
    check_rust("ignored-test", "/// Call `ignore`.\n#[serde(ignore)]\nfn ignore() {}", &[]);
    check_rust("ignored-test", "const A: &str = \"#[ignore]\"; // #[ignore]", &[]);
}

#[test]
fn what_is_merged_is_finished() {
    check_rust("unfinished", "fn a() {\n    todo!()\n}", &[2]);
    check_rust("unfinished", "fn a() { dbg!(1);\nunimplemented!() }", &[1, 2]);
    check_rust("unfinished", "// TODO: more\n// FIXME(me) more", &[1, 2]);
    check_rust("unfinished", "fn todo() -> bool { todo != \"todo!()\" } // METHODOLOGY", &[]);
    check_rust("unfinished", "/// Reads `not ok # TODO later`.\nconst A: &str = \"# TODO\";", &[]);
    check("unfinished", &[("a.md", "a\nTODO\n* FIXME that\nTAP's TODO.\n")], &["a.md:2", "a.md:3"]);
    check("unfinished", &[("a.toml", "a = 1 # TODO more\n")], &["a.toml:1"]);
}

#[test]
fn exceptions_have_reasons() {
    let rule = "lint-exception";
    check_rust(rule, "#[allow(dead_code)]\nfn a() {}", &[1]);
    check_rust(rule, "#![allow(dead_code)]", &[1]);
    check_rust(rule, "#[expect(dead_code)]\nfn a() {}", &[1]);
    check_rust(rule, "#[cfg_attr(\n    test,\n    allow(dead_code)\n)]\nfn a() {}", &[3]);
    check_rust(rule, "#[expect(dead_code, reason = \"why\")]\nfn a() { b.expect(\"c\") }", &[]);
    check_rust(rule, "// #[allow(dead_code)]\nconst A: &str = \"#[allow(dead_code)]\";", &[]);
}

#[test]
fn paths_exist_on_every_machine() {
    let cases: &[(&str, &[usize])] = &[
        ("// see /root/a", &[1]),
        ("\nconst A: &str = \"/home/anna/a\";", &[2]),
        ("const A: &str = \"C:\\Users\\anna\";", &[1]),
        ("// (/work/a)", &[1]),
        ("const A: &str = \"/home/user/a\"; // /Users/user/b", &[]),
        ("// docs/work/a, $HOME/work/b, https://example.com/home/anna", &[]),
    ];
    for (source, lines) in cases {
        check_rust("machine-path", source, lines);
    }
}

#[test]
fn crates_say_what_they_are() {
    let described = "[package]\nname = \"a\"\ndescription = \"A.\"\n";
    let good = [("crates/a/Cargo.toml", described), ("crates/a/src/lib.rs", "//! A.\n")];
    check("crate-docs", &good, &[]);
    let bad =
        [("crates/a/Cargo.toml", "[package]\nname = \"a\"\n"), ("crates/a/src/main.rs", "fn")];
    check("crate-docs", &bad, &["crates/a/Cargo.toml", "crates/a/src/main.rs:1"]);
    check("crate-docs", &[("a/Cargo.toml", "[workspace]\n")], &[]);
}

#[test]
fn crates_come_from_the_public_registry() {
    let public = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    check("lock-source", &[("Cargo.lock", public)], &[]);
    let other = format!("{public}source = \"sparse+https://mirror.example/index/\"\n");
    check("lock-source", &[("Cargo.lock", &other)], &["Cargo.lock:2"]);
    let git = "source = \"git+https://example.com/a\"\n";
    check("lock-source", &[("fuzz/Cargo.lock", git)], &["fuzz/Cargo.lock:1"]);
}

#[test]
fn links_lead_somewhere() {
    let other = "# Why `events` borrow\n\n## Two words, more\n";
    let case = |text: &str, expected: &[&str]| {
        check("links", &[("README.md", text), ("docs/a.md", other)], expected);
    };
    case("[a](docs/a.md) [b](docs/) [c](https://example.com/x) <mailto:a@example.com>\n", &[]);
    case("[a](docs/a.md#why-events-borrow) [b](docs/a.md#two-words-more)\n", &[]);
    case("# Here\n\n[a](#here)\n", &[]);
    case("a\n\n[a](docs/b.md)\n", &["README.md:3"]);
    case("![a](docs/a.png)\n", &["README.md:1"]);
    case("[a](docs/a.md#other)\n", &["README.md:1"]);
    case("[a](../a.md)\n", &["README.md:1"]);
    case("[a][b]\n\n[b]: docs/b.md\n", &["README.md:1"]);
    case("`[a](docs/b.md)`\n\n```\n[a](docs/b.md)\n```\n", &[]);
    check("links", &[("docs/a.md", "[r](../README.md)\n"), ("README.md", "")], &[]);
}

#[test]
fn docs_can_be_reached() {
    let a = ("docs/a.md", "[b](b/b.md)\n");
    let b = ("docs/b/b.md", "[a](../a.md)\n");
    check("docs-reachable", &[("README.md", "[a](docs/a.md)\n"), a, b], &[]);
    check("docs-reachable", &[("README.md", "[b](docs/b/b.md)\n"), a, b], &[]);
    check("docs-reachable", &[("README.md", "a\n"), a, b], &["docs/a.md", "docs/b/b.md"]);
}

#[test]
fn shown_commands_exist() {
    let cases = [
        ("./test", true),
        ("./test quick", true),
        ("./nothing", false),
        ("cargo xtask tidy", true),
        ("cargo xtask nothing", false),
        ("cargo test -p a", true),
        ("cargo test --package b", false),
        ("cargo nothing", false),
        ("cargo run --release -- replay data/a.json", true),
        ("cargo run --release -- nothing", false),
        ("cargo run -p a -- nothing", true),
        ("steersman replay --policy=mine.yaml", true),
        ("steersman replay --nothing", false),
        ("steersman nothing", false),
        ("RUST_LOG=debug steersman nothing", false),
        ("steersman replay data/b.json", false),
        ("steersman replay \\\n  --nothing", false),
        ("steersman replay yours/b.json ~/data/b.json data/*.json", true),
        ("# steersman nothing", true),
        ("ls | wc -l", true),
    ];
    let others = [("test", ""), ("data/a.json", ""), ("a/Cargo.toml", "[package]\nname = \"a\"\n")];
    for (command, fine) in cases {
        for text in [
            format!("```sh\n{command}\n```\n"),
            format!("```console\n$ {command}\nsteersman: output\n```\n"),
        ] {
            let mut files = vec![("README.md", text.as_str())];
            files.extend(others);
            check("shown-command", &files, if fine { &[] } else { &["README.md:2"] });
        }
    }
    check("shown-command", &[("a.md", "```\nsteersman nothing\n```\n")], &[]);
}

#[test]
fn the_engine_is_pure() {
    let cases: &[(&str, &[usize])] = &[
        ("use core::fmt;\nuse std::fmt;", &[2]),
        ("#[cfg(test)]\nextern crate std;\n#[cfg(test)]\nmod tests { use std::fmt; }", &[]),
        ("#[cfg(test)]\nmod tests { }\nuse std::fmt;", &[3]),
        ("extern crate std;", &[1]),
        ("async fn a() { b.await }", &[1, 1]),
        ("fn a(at: Instant) { SystemTime::now() }", &[1, 1]),
        ("fn a() { rand::random(); }", &[1]),
        ("fn a() { println!(\"a\"); log::info!(\"a\"); }", &[1, 1]),
        ("static mut A: u8 = 0;\nuse core::sync::atomic::AtomicU8;", &[1, 2]),
        ("/// Not std::fmt, no `println!`.\nconst A: &str = \"std::fmt\"; // async", &[]),
    ];
    for (source, lines) in cases {
        let path = "crates/engine/src/a.rs";
        let expected: Vec<String> = lines.iter().map(|line| format!("{path}:{line}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check("engine-purity", &[(path, source)], &expected);
    }
    check("engine-purity", &[("crates/cli/src/main.rs", "use std::fmt;")], &[]);
    check("engine-purity", &[("crates/engine/src/a/tests.rs", "use std::fmt;")], &[]);
}

/// Reading a real folder: hidden and built folders are left out, data is known by path only.
#[test]
fn a_tree_is_read_from_a_folder() {
    let root = std::env::temp_dir().join(format!("steersman-tidy-{}", std::process::id()));
    for (path, text) in [
        ("README.md", "[data](testdata/a.md)\n"),
        (".git/a.md", "a"),
        (".ci/run", "a"),
        ("target/a.rs", "a"),
        ("testdata/a.md", "no line break"),
        ("picture.png", "a"),
    ] {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let tree = Tree::read(&root).expect("read");
    std::fs::remove_dir_all(&root).expect("removed");
    let read: Vec<&str> = tree.files().iter().map(|file| file.path.as_str()).collect();
    assert_eq!(read, [".ci/run", "README.md"]);
    let paths: Vec<&str> = tree.paths().collect();
    let expected = [".ci", ".ci/run", "README.md", "picture.png", "testdata", "testdata/a.md"];
    assert_eq!(paths, expected);
}
