use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use steersman_engine::{TestReport, test_id};

use super::marker::Marker;
use super::{FRAMEWORKS, log, parse};

fn recorded(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/reports");
    fs::read_to_string(root.join(path)).expect(path)
}

/// Passed, failed, skipped, broken.
type Counts = (u32, u32, u32, bool);

fn report((passed, failed, skipped, broken): Counts, failing: &[&str]) -> TestReport {
    let mut failing: Vec<u64> = failing.iter().map(|name| test_id(name)).collect();
    failing.sort_unstable();
    TestReport { passed, failed, skipped, failing, broken }
}

fn check(name: &str, output: &str, counts: Counts, failing: &[&str]) {
    assert_eq!(parse(output), Some(report(counts, failing)), "{name}");
}

/// Checks a recorded output as it is, with Windows line ends, inside other output, and cut off
/// behind a client's ellipsis.
fn check_file(file: &str, counts: Counts, failing: &[&str]) {
    let output = recorded(file);
    check(file, &output, counts, failing);
    check(file, &output.replace('\n', "\r\n"), counts, failing);
    check(
        file,
        &format!("$ make check\nmake: Entering\n{output}\nmake: Leaving\n$ "),
        counts,
        failing,
    );
    check(file, &format!("{}...", output.trim_end()), counts, failing);
}

const OK: bool = false;
const BROKEN: bool = true;

#[test]
fn reads_pytest() {
    const MIXED: &[&str] = &[
        "test_calc.py::test_sub",
        "test_calc.py::test_par[x - y]",
        "test_calc.py::test_par[b]c]",
        "test_calc.py::TestC::test_m",
        "test_calc.py::test_err",
    ];
    for file in ["mixed", "verbose", "quiet", "colour", "no_summary", "tb_no", "xdist"] {
        check_file(&format!("pytest/{file}.txt"), (4, 5, 2, OK), MIXED);
    }
    // `-qq` prints no counts: only the tests that are named are known.
    check_file("pytest/quieter.txt", (0, 5, 0, OK), MIXED);
    let with_file: Vec<&str> = MIXED.iter().copied().chain(["test_broken.py"]).collect();
    check_file("pytest/collection_continue.txt", (6, 6, 2, BROKEN), &with_file);
    for (file, counts, failing) in [
        ("green", (2, 0, 0, OK), &[][..]),
        ("green_quiet", (2, 0, 0, OK), &[]),
        ("deselected", (0, 0, 0, OK), &[]),
        ("empty", (0, 0, 0, OK), &[]),
        ("collection", (0, 1, 0, BROKEN), &["test_broken.py"]),
        ("collect_only_error", (0, 1, 0, BROKEN), &["test_imp.py"]),
        ("conftest", (0, 0, 0, BROKEN), &[]),
        ("no_file", (0, 0, 0, BROKEN), &[]),
        ("no_name", (0, 0, 0, BROKEN), &[]),
        (
            "subtests",
            (2, 4, 2, OK),
            &[
                "test_u.py::T::test_err",
                "test_u.py::T::test_fail",
                "test_u.py::T::test_sub",
                "test_u.py::T::test_xp",
            ],
        ),
    ] {
        check_file(&format!("pytest/{file}.txt"), counts, failing);
    }
}

#[test]
fn reads_unittest() {
    const MIXED: &[&str] =
        &["test_u.T.test_err", "test_u.T.test_fail", "test_u.T.test_sub (i=1)", "test_u.T.test_xp"];
    check_file("unittest/mixed.txt", (1, 4, 2, OK), MIXED);
    check_file("unittest/verbose.txt", (1, 4, 2, OK), MIXED);
    let import: Vec<&str> =
        MIXED.iter().copied().chain(["unittest.loader._FailedTest.test_imp"]).collect();
    check_file("unittest/import_error.txt", (2, 5, 2, BROKEN), &import);
    check_file("unittest/green.txt", (1, 0, 0, OK), &[]);
    check_file("unittest/none.txt", (0, 0, 0, OK), &[]);
    let django = &["shop.tests.CartTests.test_price"];
    check_file("unittest/django.txt", (1, 1, 0, OK), django);
    check_file("unittest/django_parallel.txt", (1, 1, 0, OK), django);
}

#[test]
fn reads_cargo() {
    const LIB: &[&str] = &["tests::panics", "tests::subs"];
    const ALL: &[&str] = &["tests::panics", "tests::subs", "fails", "src/lib.rs - sub"];
    check_file("cargo/mixed.txt", (3, 4, 1, OK), ALL);
    check_file("cargo/quiet.txt", (3, 4, 1, OK), ALL);
    check_file("cargo/fail_fast.txt", (1, 2, 1, OK), LIB);
    check_file("cargo/filtered.txt", (1, 0, 0, OK), &[]);
    check_file("cargo/compile_error.txt", (0, 0, 0, BROKEN), &[]);
    check_file("cargo/compile_error_test.txt", (0, 0, 0, BROKEN), &[]);
    check_file("nextest/compile_error.txt", (0, 0, 0, BROKEN), &[]);
    let binaries = &["ledger tests::panics", "ledger tests::subs", "ledger::whole fails"];
    check_file("nextest/mixed.txt", (2, 3, 1, OK), binaries);
    check_file("nextest/fail_fast.txt", (1, 1, 1, OK), &binaries[..1]);
    check_file("nextest/colour.txt", (1, 1, 1, OK), &binaries[..1]);
    check_file("nextest/green.txt", (1, 0, 5, OK), &[]);
    check_file("nextest/none.txt", (0, 0, 6, OK), &[]);
}

#[test]
fn reads_go() {
    const SHOP: &[&str] = &[
        "example.com/shop/a.TestTwo",
        "example.com/shop/a.TestSub",
        "example.com/shop/a.TestSub/y_z",
        "example.com/shop/d",
        "example.com/shop/e.TestPanics",
    ];
    check_file("go/mixed.txt", (1, 5, 0, BROKEN), SHOP);
    check_file("go/verbose.txt", (4, 5, 1, BROKEN), SHOP);
    check_file("go/json.txt", (4, 5, 1, BROKEN), SHOP);
    check_file("go/green.txt", (1, 0, 0, OK), &[]);
    check_file("go/cached.txt", (1, 0, 0, OK), &[]);
    check_file("go/none.txt", (0, 0, 0, OK), &[]);
    check_file("go/local.txt", (1, 0, 0, OK), &[]);
    check_file("go/local_fail.txt", (0, 3, 0, OK), &SHOP[..3]);
}

#[test]
fn reads_javascript() {
    let jest = &["./cart.test.js › top level fails", "./cart.test.js › cart › sums (of 3)"];
    check_file("jest/verbose.txt", (1, 2, 2, OK), jest);
    check_file("jest/colour.txt", (1, 2, 2, OK), jest);
    check_file("jest/mixed.txt", (2, 3, 2, BROKEN), &[jest[0], jest[1], "./broken.test.js"]);
    check_file("jest/broken.txt", (0, 1, 0, BROKEN), &["./broken.test.js"]);
    check_file("jest/green.txt", (1, 0, 0, OK), &[]);
    let vitest = &["cart.test.ts > top level fails", "cart.test.ts > cart > sums > all"];
    check_file("vitest/verbose.txt", (1, 2, 2, OK), vitest);
    check_file("vitest/colour.txt", (1, 2, 2, OK), vitest);
    check_file("vitest/mixed.txt", (2, 3, 2, BROKEN), &[vitest[0], vitest[1], "broken.test.ts"]);
    check_file("vitest/broken.txt", (0, 1, 0, BROKEN), &["broken.test.ts"]);
    check_file("vitest/green.txt", (1, 0, 0, OK), &[]);
    let mocha = &["top fails", "cart › sums", "cart › inner › \"before each\" hook for \"x\""];
    check_file("mocha/spec.txt", (1, 3, 1, OK), mocha);
    check_file("mocha/dot.txt", (1, 3, 1, OK), mocha);
    check_file("mocha/colour.txt", (1, 3, 1, OK), mocha);
    check_file("mocha/green.txt", (2, 0, 0, OK), &[]);
    check_file("mocha/min.txt", (2, 0, 0, OK), &[]);
    check_file("mocha/broken.txt", (0, 0, 0, BROKEN), &[]);
    let node = &["a.test.js › fails", "a.test.js › sums"];
    check_file("node/spec.txt", (3, 2, 2, OK), node);
    check_file("node/colour.txt", (2, 2, 2, OK), node);
    check_file("node/tap.txt", (3, 2, 2, OK), &["fails", "cart › sums"]);
    let file = "/home/dev/shop/nod/bad.test.js";
    check_file("node/default.txt", (3, 3, 2, OK), &["fails", "cart › sums", file]);
    check_file("node/green.txt", (1, 0, 0, OK), &[]);
    check_file("bun/mixed.txt", (1, 2, 2, OK), &["fails", "cart > sums"]);
    check_file("bun/colour.txt", (1, 2, 2, OK), &["fails", "cart > sums"]);
    check_file("bun/bad.txt", (0, 1, 0, BROKEN), &[]);
    check_file("bun/green.txt", (1, 0, 0, OK), &[]);
    let playwright = &["a.spec.ts › fails", "a.spec.ts › cart › sums"];
    check_file("playwright/mixed.txt", (2, 2, 1, OK), playwright);
    check_file("playwright/line.txt", (0, 1, 0, OK), &playwright[..1]);
    check_file("playwright/green.txt", (1, 0, 0, OK), &[]);
}

#[test]
fn reads_others() {
    let rspec = &["./cart_spec.rb Cart sums", "./cart_spec.rb Cart inner x # y"];
    check_file("rspec/mixed.txt", (1, 2, 1, OK), rspec);
    check_file("rspec/doc.txt", (1, 2, 1, OK), rspec);
    check_file("rspec/green.txt", (1, 0, 0, OK), &[]);
    check_file("rspec/load_error.txt", (0, 1, 0, BROKEN), &["./bad_spec.rb"]);
    let minitest = &["CartTest#test_sum", "CartTest#test_err"];
    check_file("minitest/mixed.txt", (1, 2, 1, OK), minitest);
    check_file("minitest/verbose.txt", (1, 2, 1, OK), minitest);
    check_file("minitest/test_unit.txt", (1, 1, 0, OK), &minitest[..1]);
    let rows = "CartTest::testRows with data set \"two\" (2)";
    let phpunit = &["CartTest::testErr", "CartTest::testSums", rows];
    check_file("phpunit/mixed.txt", (2, 3, 2, OK), phpunit);
    check_file("phpunit/testdox.txt", (2, 3, 2, OK), &[]);
    check_file("phpunit/green.txt", (1, 0, 0, OK), &[]);
    check_file("ctest/mixed.txt", (1, 2, 1, BROKEN), &["sums", "gone"]);
    check_file("ctest/verbose.txt", (1, 2, 1, BROKEN), &["sums", "gone"]);
    check_file("ctest/green.txt", (1, 0, 0, OK), &[]);
    let hook = "cart inner \"before each\" hook for \"x\"";
    check_file("tap/mocha.txt", (1, 3, 1, OK), &["top fails", "cart sums", hook]);
    check_file("tap/tape.txt", (1, 1, 0, OK), &["differs"]);
    check_file(
        "tap/vitest_flat.txt",
        (2, 2, 1, OK),
        &["cart.test.ts > top level fails", "cart.test.ts > cart > sums > all"],
    );
    check_file(
        "tap/vitest.txt",
        (2, 2, 1, OK),
        &["cart.test.ts › top level fails", "cart.test.ts › cart › sums > all"],
    );
    check_file("junit/ctest.xml", (1, 1, 2, OK), &["sums.sums"]);
    let hook = "cart inner.\"before each\" hook for \"x\"";
    check_file("junit/mocha.xml", (1, 3, 1, OK), &["top fails", "cart.sums", hook]);
    check_file("junit/node.xml", (3, 3, 1, OK), &["test.fails", "test.sums", "test.someday"]);
    check_file(
        "junit/phpunit.xml",
        (2, 3, 2, OK),
        &["CartTest.testSums", "CartTest.testErr", "CartTest.testRows with data set \"two\""],
    );
    check_file(
        "junit/vitest.xml",
        (1, 2, 2, OK),
        &["cart.test.ts.top level fails", "cart.test.ts.cart > sums > all"],
    );
    check_file(
        "junit/pytest.xml",
        (4, 5, 2, OK),
        &[
            "test_calc.test_sub",
            "test_calc.test_par[x - y]",
            "test_calc.test_par[b]c]",
            "test_calc.TestC.test_m",
            "test_calc.test_err",
        ],
    );
}

/// Formats whose tools cannot be run where the recordings were made, and older versions.
const WRITTEN: &[(&str, Counts, &[&str])] = &[
    (
        "[INFO] Running com.x.CartTest\n\
             [ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! - in com.x.CartTest\n\
             [ERROR] sums(com.x.CartTest)  Time elapsed: 0.01 s  <<< FAILURE!\n\
             [ERROR] com.x.CartTest.errs -- Time elapsed: 0.01 s <<< ERROR!\n\
             [INFO] Results:\n[ERROR] Failures: \n[ERROR]   CartTest.sums:12 expected: <1> but was: <2>\n\
             [ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 0\n",
        (1, 2, 0, OK),
        &["com.x.CartTest.sums", "com.x.CartTest.errs"],
    ),
    (
        "Results :\n\nFailed tests:   \n  sums(com.x.CartTest): expected 1\n\n\
             Tests run: 3, Failures: 1, Errors: 0, Skipped: 1\n",
        (1, 1, 1, OK),
        &["sums(com.x.CartTest)"],
    ),
    (
        "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n[INFO] other module\n\
             [INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1\n",
        (4, 0, 1, OK),
        &[],
    ),
    (
        "[ERROR] COMPILATION ERROR : \n[ERROR] Failed to execute goal \
             org.apache.maven.plugins:maven-compiler-plugin:3.11.0:testCompile (default-testCompile) on project x: Compilation failure\n",
        (0, 0, 0, BROKEN),
        &[],
    ),
    ("JUnit version 4.13.2\n...\nTime: 0.086\n\nOK (3 tests)\n", (3, 0, 0, OK), &[]),
    (
        "There was 1 failure:\n1) sums(com.x.CartTest)\njava.lang.AssertionError\n\n\
             FAILURES!!!\nTests run: 2,  Failures: 1\n",
        (1, 1, 0, OK),
        &["com.x.CartTest.sums"],
    ),
    (
        "> Task :test FAILED\n\nCartTest > sums() FAILED\n    org.opentest4j.AssertionFailedError\n\n\
             12 tests completed, 1 failed, 1 skipped\n",
        (10, 1, 1, OK),
        &["CartTest > sums()"],
    ),
    (
        "CartTest > adds() PASSED\nCartTest > sums() PASSED\n\nBUILD SUCCESSFUL in 3s\n",
        (2, 0, 0, OK),
        &[],
    ),
    ("Execution failed for task ':compileTestJava'.\n", (0, 0, 0, BROKEN), &[]),
    (
        "  Failed Shop.CartTests.Sums [12 ms]\n  Error Message:\n\
             Failed!  - Failed:     1, Passed:     3, Skipped:     1, Total:     5, Duration: 5 ms - Shop.dll (net8.0)\n\
             Passed!  - Failed:     0, Passed:     2, Skipped:     0, Total:     2, Duration: 5 ms - B.dll (net8.0)\n",
        (5, 1, 1, OK),
        &["Shop.CartTests.Sums"],
    ),
    (
        "X Failed Shop.Old [1s]\nTotal tests: 3\n     Passed: 2\n     Failed: 1\n Total time: 1.2 Seconds\n",
        (2, 1, 0, OK),
        &[],
    ),
    (
        "==== 1 failed, 3 passed in 61.20s (0:01:01) ====\n==== 2 passed in 0.12 seconds ====\n",
        (5, 1, 0, OK),
        &[],
    ),
    (
        "collected 0 items / 1 error\n\n==== ERRORS ====\n_ ERROR collecting tests/test_a.py _\nImportError\n",
        (0, 0, 0, BROKEN),
        &["tests/test_a.py"],
    ),
    (
        "collecting ... ERROR: not found: /x/t.py::test_a\ncollected 0 items\n\n=== no tests ran in 0.15s ===\n",
        (0, 0, 0, BROKEN),
        &[],
    ),
    (
        "ERROR: usage: pytest [options] [file_or_dir] [file_or_dir] [...]\npytest: error: unrecognized arguments: --cov\n",
        (0, 0, 0, BROKEN),
        &[],
    ),
    (
        "9999999999 failed, 9999999999 passed, 9 error in 0.1s\n1 failed, 1 passed in 0.1s\n",
        (u32::MAX, u32::MAX, 0, OK),
        &[],
    ),
    ("==== 2 warnings in 0.00s ====\nERROR: not found: /x/t.py::test_a\n", (0, 0, 0, BROKEN), &[]),
    ("==========\nFAIL: test_a (m.T)\n------\nTraceback\n", (0, 1, 0, OK), &["m.T.test_a"]),
    ("Ran 5 tests in 0.123s\n\nPASSED (skips=1, successes=4)\n", (4, 0, 1, OK), &[]),
    ("running 3 tests\ntest a ... ok\ntest b ... FAILED\nKilled\n", (1, 1, 0, OK), &["b"]),
    (
        "running 1 test\nerror: test failed, to rerun pass `--lib`\n\nCaused by:\n  process didn't exit successfully (signal: 6)\n",
        (0, 0, 0, BROKEN),
        &[],
    ),
    ("--- FAIL: TestA (0.00s)\n    a_test.go:1: no\n", (0, 1, 0, OK), &["TestA"]),
    ("--- PASS: TestA (0.00s)\nPASS\n", (1, 0, 0, OK), &[]),
    ("--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx.org/p\t0.1s\n", (0, 1, 0, OK), &["x.org/p.TestA"]),
    ("panic: no\nFAIL\tx.org/p\t0.1s\n", (0, 1, 0, OK), &["x.org/p"]),
    ("  2 failing\n\n  1) a\n       b:\n     Error\n", (0, 2, 0, OK), &["a › b"]),
    (
        "TAP version 14\n1..3\nok 1 - a # SKIP no net\nnot ok 2 - b # TODO later\nnot ok 3 - c\n",
        (0, 1, 2, OK),
        &["c"],
    ),
    ("1..2\nok 1 - a\nBail out! no database\n", (1, 0, 0, BROKEN), &[]),
    (
        "<testsuite name=\"a\" tests=\"9\" failures=\"2\" errors=\"1\" skipped=\"1\">\n\
             <testcase classname=\"A\" name=\"b\"><failure/></testcase>\n... [9 characters truncated]",
        (5, 3, 1, OK),
        &["A.b"],
    ),
];

#[test]
fn reads_written_samples() {
    for (output, counts, failing) in WRITTEN {
        check(output, output, *counts, failing);
    }
}

#[test]
fn names_are_stable() {
    let cases = [
        (
            "FAILED a.py::test_t[<f at 0x7f54c6ec10>]",
            "FAILED a.py::test_t[<f at 0x7fffffffff>] - E: no",
        ),
        ("--- FAIL: TestA (0.00s)", "--- FAIL: TestA (12.50s)"),
        ("==========\nFAIL: a (m.T)\n", "==========\nFAIL: a (m.T.a)\n"),
        (
            "1 example, 1 failure\nrspec ./a.rb:3 # A b\n",
            "1 example, 1 failure\nrspec ./a.rb:33 # A b\n",
        ),
        (
            "Tests:  1 failed, 1 total\nFAIL a.js (5.1 s)\n  ● b",
            "Tests:  1 failed, 1 total\nFAIL a.js\n  ● b",
        ),
    ];
    for (before, after) in cases {
        let report = parse(before).expect(before);
        assert_eq!(report.failing.len(), 1, "{before}");
        assert_eq!(Some(report), parse(after), "{after}");
    }
}

/// Words about tests are no results (B8).
#[test]
fn prose_and_source_hold_no_results() {
    for output in [
        "",
        "I ran the suite and all 12 tests passed.",
        "12 tests passed, nothing failed",
        "3 passed",
        "1 failed, 2 passed",
        "All tests passed in 3 attempts",
        "The build passed in 3.2s",
        "5 jobs passed in 10s",
        "    assert passed == 3, '2 failed in 0.1s'\n",
        "src/report.py:12:FAILED = 'failed'\nsrc/report.py:13:ok 1 - x\n",
        "tests/log.txt:9:FAILED tests/test_a.py::test_b - AssertionError\n",
        "tests/log.txt:12:=== 1 failed, 2 passed in 0.03s ===\n",
        "    12\u{2192}=== 1 failed, 2 passed in 0.03s ===\n",
        "  12  test result: ok. 3 passed; 0 failed; 0 ignored\n",
        "tests/test_a.py::test_a\ntests/test_a.py::test_b\n\n2 tests collected in 0.01s\n",
        "tests/test_a.py::test_a PASSED [ 10%]\ntests/test_a.py::test_b PASSED [ 20%]\n",
        "running 3 tests\ntest a ... ok\ntest b ... ok\n",
        "--- PASS: TestA (0.00s)\n",
        "error: could not compile `ledger` (lib) due to 1 previous error\n",
        "+--- FAIL: Login page (draft)\n",
        "ok the tests passed 3 times\nFAIL to plan, plan to FAIL 3s\n",
        "?   \texample.com/shop\t[no test files]\n",
        "Tests: see below\nTests:  many\n",
        "fn check() { println!(\"test result: ok. {} passed\", n); }\n",
        "1. Passing a value\n2 passing lanes\n",
        "Ran 3 tests on the car in 2 days\n",
        "OK (thanks)\nOK (3 apples, 5 pears)\n",
        "<testsuites><testsuite name=\"unit\"><directory>tests</directory></testsuite></testsuites>\n",
        "not ok 1 with me\nok 1 more\n",
        "3 examples, two of them good\n",
        "50% tests passed\n",
        "Summary [draft] 5 tests run: none\n",
        "ERROR: could not open requirements file\nERROR src/app.py cannot be read\n",
        "FAILED to start\nERROR in line 3\n",
    ] {
        assert_eq!(parse(output), None, "{output}");
    }
    for file in [
        "cargo/plain_build_error.txt",
        "ctest/none.txt",
        "go/no_files.txt",
        "go/setup.txt",
        "jest/none.txt",
        "node/dot.txt",
        "phpunit/none.txt",
        "pytest/collect_only.txt",
        "vitest/none.txt",
    ] {
        assert_eq!(parse(&recorded(file)), None, "{file}");
    }
}

#[test]
fn summaries_of_one_framework_add_up() {
    for (file, counts) in [
        ("pytest/green.txt", (4, 0, 0, OK)),
        ("unittest/mixed.txt", (2, 8, 4, OK)),
        ("cargo/filtered.txt", (2, 0, 0, OK)),
        ("jest/green.txt", (2, 0, 0, OK)),
        ("mocha/spec.txt", (2, 6, 2, OK)),
        ("node/spec.txt", (6, 4, 4, OK)),
    ] {
        let twice = recorded(file).repeat(2);
        let (report, once) = (parse(&twice).expect(file), parse(&recorded(file)).expect(file));
        let sums = (report.passed, report.failed, report.skipped, report.broken);
        assert_eq!(sums, counts, "{file}");
        assert_eq!(report.failing, once.failing, "{file}");
    }
}

#[test]
fn long_outputs_are_read_at_both_ends() {
    let noise = "compiling something that is of no interest\n".repeat(40_000);
    let failed = "FAILED tests/test_a.py::test_b - no\n";
    let last = "=== 1 failed, 2 passed in 0.03s ===\n";
    let named = &["tests/test_a.py::test_b"];
    let cases = [
        (format!("{noise}{failed}{last}"), Some(report((2, 1, 0, OK), named))),
        (format!("{failed}{noise}{last}"), Some(report((2, 1, 0, OK), named))),
        (format!("{noise}{failed}{noise}{last}"), Some(report((2, 1, 0, OK), &[]))),
        (format!("{noise}{last}{noise}"), None),
        ("1".repeat(500_000) + " passed in 0.01s", None),
    ];
    for (output, expected) in cases {
        assert_eq!(parse(&output), expected);
    }
}

/// `| tail` keeps the summary: the counts stay, names may be lost.
#[test]
fn last_lines_keep_the_counts() {
    for (file, lines) in [
        ("pytest/mixed.txt", 1),
        ("pytest/green_quiet.txt", 1),
        ("unittest/mixed.txt", 3),
        ("cargo/filtered.txt", 3),
        ("nextest/mixed.txt", 6),
        ("go/green.txt", 2),
        ("jest/verbose.txt", 5),
        ("vitest/green.txt", 6),
        ("mocha/green.txt", 2),
        ("rspec/mixed.txt", 8),
        ("phpunit/mixed.txt", 2),
        ("minitest/verbose.txt", 1),
        ("bun/mixed.txt", 6),
        ("node/green.txt", 8),
    ] {
        let output = recorded(file);
        let all: Vec<&str> = output.trim_end().lines().collect();
        let tail = parse(&all[all.len().saturating_sub(lines)..].join("\n")).expect(file);
        let whole = parse(&output).expect(file);
        assert_eq!(
            (tail.passed, tail.failed, tail.skipped),
            (whole.passed, whole.failed, whole.skipped),
            "{file}"
        );
    }
}

/// Cut anywhere, a recording is read without panic, and never better than it was.
#[test]
fn cut_recordings_show_no_more_than_whole_ones() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/reports");
    let mut recordings = 0;
    for folder in fs::read_dir(root).expect("testdata") {
        for file in fs::read_dir(folder.expect("folder").path()).expect("folder") {
            let path = file.expect("file").path();
            let output = fs::read_to_string(&path).expect("text");
            let most = parse(&output).map_or(0, |report| report.passed);
            recordings += 1;
            let lines = output.match_indices('\n').map(|(at, _)| at + 1).take(80);
            let parts = (0..=16).map(|part| output.len() * part / 16);
            for at in parts.chain(lines) {
                let at = output.floor_char_boundary(at);
                for cut in [&output[..at], &output[at..]] {
                    let passed = parse(cut).map_or(0, |report| report.passed);
                    // Half a line may say anything.
                    let whole_lines = at == 0 || output[..at].ends_with('\n');
                    assert!(passed <= most || !whole_lines, "{} at {at}", path.display());
                }
            }
        }
    }
    assert!(recordings > 100, "{recordings}");
}

#[test]
fn control_sequences_are_removed() {
    for (text, expected) in [
        ("\x1b[1m3 passed\x1b[0m\x1b[32m in 0.01s\x1b[0m", "3 passed in 0.01s"),
        ("\x1b]0;title\x07ok\x1b]8;;x\x1b\\ 1", "ok 1"),
        ("10%\r20%\rdone\r\n", "10%\n20%\ndone\n"),
        ("a\x08b\x1b(Bc\x1b=d", "abcd"),
        ("cut \x1b[3", "cut "),
        ("cut \x1b", "cut "),
        ("\x1b[31é", "é"),
    ] {
        assert_eq!(log::clean(text.into()), expected, "{text:?}");
    }
}

/// The finder reports no overlapping hits, so a marker inside another would never be found.
#[test]
fn markers_do_not_hide_each_other() {
    let text = |marker: &Marker| match *marker {
        Marker::Text(text) | Marker::Counted(text) => text,
    };
    let markers: Vec<&str> = FRAMEWORKS.iter().flat_map(|f| f.markers).map(text).collect();
    for marker in &markers {
        for other in markers.iter().filter(|other| *other != marker) {
            assert!(!marker.contains(other), "{other:?} is hidden in {marker:?}");
        }
    }
    for (index, framework) in FRAMEWORKS.iter().enumerate() {
        for marker in framework.markers {
            let found = super::marker::find(&format!("7{}", text(marker)));
            assert!(found & (1 << index) != 0, "{marker:?}");
        }
    }
}

/// Pieces of what runners print, so that random texts get past the markers.
const PIECES: &[&str] = &[
    "=== ",
    " ===",
    "1 failed",
    "2 passed",
    ", ",
    " in 0.03s",
    "FAILED ",
    "a.py::t[x - y]",
    " - ",
    "Ran 3 tests in 0.1s",
    "\n",
    "FAILED (failures=1)",
    "FAIL: t (m.T)",
    "==========",
    "test result: ok. 1 passed; 0 failed",
    "running 2 tests",
    "test a ... FAILED",
    "failures:\n    a",
    "Summary [ 0.1s] 2 tests run: 1 passed, 1 failed",
    "FAIL [ 0.1s] a b",
    "--- FAIL: T (0.00s)",
    "FAIL\tp\t0.1s",
    "{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"T\"}",
    "FAIL a.js",
    "  ● t",
    "Tests:  1 failed, 1 total",
    "   Tests  1 failed (1)",
    "  1 passing (3ms)",
    "  2 failing",
    "1) a:",
    "ℹ pass 3",
    "ℹ cancelled 0",
    "ℹ duration_ms 3",
    "1..2",
    "not ok 1 - a {",
    "    ok 1",
    "---",
    "...",
    "3 examples, 1 failure",
    "rspec ./a.rb:3 # A",
    "4 runs, 2 assertions, 1 failures",
    "Failure:",
    "OK (3 tests, 5 assertions)",
    "There was 1 error:",
    "1) A::b",
    "Tests run: 3, Failures: 1",
    "12 tests completed, 2 failed",
    "A > b() FAILED",
    "!  - Failed: 1, Passed: 2",
    "Total tests: 3",
    "50% tests passed, 1 tests failed out of 2",
    "The following tests FAILED:",
    "2 - a (Not Run)",
    "<testsuite tests=\"3\">",
    "<testcase name=\"a\">",
    "<failure/>",
    "</testcase>",
    "\x1b[31m",
    "\r",
    "Running 5 tests using 1 worker",
    "Ran 4 tests across 1 file.",
    " 3 pass",
    "99999999999999",
    "é›ℹ",
];

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![prop::sample::select(PIECES).prop_map(str::to_owned), ".{0,12}"];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_read_alike_twice(output in pieces()) {
        let report = parse(&output);
        prop_assert_eq!(&report, &parse(&output));
        if let Some(report) = report {
            prop_assert!(report.failing.len() <= TestReport::MAX_FAILING);
            prop_assert!(report.failing.is_sorted());
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        let output = String::from_utf8_lossy(&bytes);
        let cleaned = log::clean(output.as_ref().into());
        prop_assert_eq!(&log::clean(cleaned.as_ref().into()), &cleaned);
        prop_assert_eq!(parse(&output), parse(&output));
    }
}
