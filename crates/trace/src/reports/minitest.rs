//! Minitest and Test::Unit: `4 runs, 2 assertions, 1 failures, 1 errors, 1 skips`.

use steersman_engine::TestReport;

use super::count::counted;
use super::tally::Tally;

/// Reads the closing counts and the failing tests, as `Class#test`.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let mut tally = Tally::default();
    let mut failing = Vec::new();
    let mut follows = false;
    for line in log.lines() {
        let text = line.trim();
        if let Some((passed, failed, skipped)) = summary(text) {
            tally.add(passed, failed, skipped);
        } else if follows || is_heading(text).is_some() {
            // The heading stands above the name, or (Test::Unit) in front of it.
            let name = if follows { text } else { is_heading(text).unwrap_or_default() };
            follows = name.is_empty() && !follows;
            failing.extend(test_name(name));
        }
    }
    if tally.found() {
        failing.iter().for_each(|name| tally.name_failing(name));
    }
    tally.finish()
}

/// Reads `1) Failure:` and `Failure: test_sum(CartTest)`; returns what follows.
fn is_heading(text: &str) -> Option<&str> {
    let text =
        text.split_once(") ").filter(|(n, _)| n.parse::<u32>().is_ok()).map_or(text, |x| x.1);
    let rest = text.strip_prefix("Failure:").or_else(|| text.strip_prefix("Error:"))?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim())
}

/// Reads `CartTest#test_sum [cart_test.rb:4]:` and `test_sum(CartTest)`, under one name.
fn test_name(text: &str) -> Option<String> {
    if let Some((test, class)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        return Some(format!("{class}#{test}"));
    }
    let name = text.split(" [").next()?.trim_end_matches(':');
    (name.contains('#') && !name.contains(' ')).then(|| name.to_owned())
}

fn summary(text: &str) -> Option<(u32, u32, u32)> {
    let (mut total, mut failures, mut errors, mut skipped) = (None, None, 0_u32, 0_u32);
    let mut assertions = false;
    for item in text.trim_end_matches('.').split(", ") {
        let (count, what) = counted(item)?;
        match what {
            "runs" | "run" | "tests" | "test" => total = Some(count),
            "assertions" | "assertion" => assertions = true,
            "failures" | "failure" => failures = Some(count),
            "errors" | "error" => errors = count,
            "skips" | "skip" | "pendings" | "omissions" => skipped = skipped.saturating_add(count),
            _ => {}
        }
    }
    let failed = failures?.saturating_add(errors);
    let passed = total?.saturating_sub(failed).saturating_sub(skipped);
    assertions.then_some((passed, failed, skipped))
}
