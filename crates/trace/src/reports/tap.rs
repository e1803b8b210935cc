//! The Test Anything Protocol, versions 12 to 14.

use steersman_engine::TestReport;

use super::count::number;
use super::tally::Tally;

/// Subtests nested deeper than this count, but lose the names of their parents.
const MAX_DEPTH: usize = 16;

/// Counts test points. A point that sums up subtests (indented below `# Subtest:` or before it)
/// does not count beside them. `not ok` with `# TODO` or `# SKIP` counts as skipped.
pub(super) fn read(log: &str) -> Option<TestReport> {
    let points = points(log);
    // Without plan and version, lines that begin with `ok 1` may be anything.
    if !points.framed || points.points.is_empty() {
        return None;
    }
    let mut tally = Tally::default();
    for point in &points.points {
        match point.status {
            Status::Passed => tally.add(1, 0, 0),
            Status::Skipped => tally.add(0, 0, 1),
            Status::Failed => tally.add_failing(&point.name),
        }
    }
    if points.bailed {
        tally.mark_broken();
    }
    tally.finish()
}

/// The names of failed test points, parents first.
pub(super) fn failing(log: &str) -> Vec<String> {
    let failed = |point: &Point| point.status == Status::Failed;
    points(log).points.into_iter().filter(failed).map(|point| point.name).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Passed,
    Failed,
    Skipped,
}

struct Point {
    name: String,
    status: Status,
}

#[derive(Default)]
struct Points {
    points: Vec<Point>,
    /// A plan or a version line was seen.
    framed: bool,
    bailed: bool,
}

fn points(log: &str) -> Points {
    let mut found = Points::default();
    // Names of the enclosing subtests with their indentation.
    let mut parents: Vec<(usize, &str)> = Vec::new();
    let mut last_indent = 0;
    let mut in_yaml = false;
    for line in log.lines() {
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        let text = text.trim_end();
        if text == "---" || text == "..." {
            in_yaml = text == "---";
        } else if in_yaml {
            // A diagnostic ends, properly or not, where the next unindented point begins.
            in_yaml = indent > 0 || point(text).is_none();
        }
        if in_yaml {
            continue;
        }
        found.framed |= is_plan(text) || text.starts_with("TAP version 1");
        found.bailed |= text.starts_with("Bail out!");
        if let Some(name) = text.strip_prefix("# Subtest: ") {
            enter(&mut parents, indent, name);
        } else if let Some((name, status)) = point(text) {
            let opens = text.ends_with('{');
            let sums_up = indent < last_indent;
            parents.retain(|(at, _)| *at < indent);
            if opens {
                enter(&mut parents, indent, name);
            } else if !sums_up {
                let names = parents.iter().map(|(_, parent)| *parent).chain([name]);
                found.points.push(Point { name: names.collect::<Vec<_>>().join(" › "), status });
            }
            last_indent = indent;
        }
    }
    found
}

fn enter<'a>(parents: &mut Vec<(usize, &'a str)>, indent: usize, name: &'a str) {
    parents.retain(|(at, _)| *at < indent);
    if parents.len() < MAX_DEPTH {
        parents.push((indent, name));
    }
}

/// Reads `not ok 2 - differs # TODO later` as name and status.
fn point(text: &str) -> Option<(&str, Status)> {
    let (failed, rest) = match text.strip_prefix("not ok") {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix("ok")?),
    };
    let (_, rest) = number(rest.strip_prefix(' ')?)?;
    if !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let rest = rest.trim_end_matches('{').trim();
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    let (name, directive) = rest.rsplit_once("# ").unwrap_or((rest, ""));
    let starts = |word: &str| directive.get(..4).is_some_and(|d| d.eq_ignore_ascii_case(word));
    let status = match (failed, starts("skip"), starts("todo")) {
        (_, true, _) | (true, _, true) => Status::Skipped,
        (true, ..) => Status::Failed,
        (false, ..) => Status::Passed,
    };
    let known = starts("skip") || starts("todo") || starts("time");
    Some((if known { name.trim() } else { rest }, status))
}

/// Whether a line is a plan, `1..5`.
fn is_plan(text: &str) -> bool {
    text.strip_prefix("1..")
        .and_then(number)
        .is_some_and(|(_, rest)| rest.is_empty() || rest.trim_start().starts_with('#'))
}
