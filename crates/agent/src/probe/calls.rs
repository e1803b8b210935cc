//! How calls of tools came.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use steersman_wire::{Answer, Part, parse_arguments, repair_tool_call};

use super::heard::Heard;
use super::plan::Probe;
use super::question::{TOOL, tool};
use super::row::{Found, Row, told};
use super::step::Step;

/// The cities that are asked for.
const CITIES: [&str; 2] = ["oslo", "lima"];

/// How a call came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Grade {
    /// As it should.
    Valid,
    /// With arguments that had to be mended to be JSON.
    Mended,
    /// As text, which the runtime reads.
    AsText,
    /// With something wrong in it.
    Wrong(String),
    /// Not at all.
    Silent,
    /// There was no answer.
    Failed,
}

impl Grade {
    /// Whether the runtime could carry the call out.
    pub(super) const fn is_usable(&self) -> bool {
        matches!(self, Self::Valid | Self::Mended | Self::AsText)
    }

    /// What is to be said of it beside the call.
    fn remark(&self) -> String {
        match self {
            Self::Valid | Self::Failed => String::new(),
            Self::Mended => "; its arguments had to be mended to be JSON".to_owned(),
            Self::AsText => "; the call is written as text".to_owned(),
            Self::Wrong(why) => format!("; {why}"),
            Self::Silent => "; no call".to_owned(),
        }
    }
}

/// How the call of an answer came, the first one if there are several.
pub(super) fn grade(heard: &Heard) -> Grade {
    let Some(answer) = heard.answer() else { return Grade::Failed };
    if let Some((name, arguments)) = calls(answer).next() {
        return grade_call(name, arguments);
    }
    let repaired = repair_tool_call(answer, &[tool()]);
    let read = repaired.as_ref().and_then(|answer| {
        let (name, arguments) = calls(answer).next()?;
        Some(grade_call(name, arguments))
    });
    match read {
        None => Grade::Silent,
        Some(Grade::Wrong(why)) => Grade::Wrong(format!("written as text, and {why}")),
        Some(_) => Grade::AsText,
    }
}

fn calls(answer: &Answer) -> impl Iterator<Item = (&str, &str)> {
    answer.message.parts.iter().filter_map(|part| match part {
        Part::ToolCall { name, arguments, .. } => Some((name.as_str(), arguments.as_str())),
        _ => None,
    })
}

fn grade_call(name: &str, arguments: &str) -> Grade {
    if name != TOOL {
        return Grade::Wrong(format!("there is no tool of that name, only {TOOL}"));
    }
    let (arguments, valid) = match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => (object, Grade::Valid),
        _ => match parse_arguments(arguments) {
            Ok(object) => (object, Grade::Mended),
            Err(error) => return Grade::Wrong(error.to_string()),
        },
    };
    match mistake(&arguments) {
        Some(why) => Grade::Wrong(why),
        None => valid,
    }
}

/// What is wrong with arguments by the schema of the tool, or by the question.
fn mistake(arguments: &Map<String, Value>) -> Option<String> {
    let Some(Value::String(_)) = arguments.get("city") else {
        return Some("the argument city is missing or no text".to_owned());
    };
    if let Some(other) = arguments.keys().find(|key| !["city", "unit"].contains(&key.as_str())) {
        return Some(format!("the tool has no argument {other}"));
    }
    let unit = arguments.get("unit");
    if unit.is_some_and(|unit| *unit != "celsius" && *unit != "fahrenheit") {
        return Some("the argument unit is neither celsius nor fahrenheit".to_owned());
    }
    city(arguments).is_none().then(|| "the city is not the one that was asked for".to_owned())
}

/// Which of the cities a call is about.
fn city(arguments: &Map<String, Value>) -> Option<&'static str> {
    let named = arguments.get("city")?.as_str()?.to_lowercase();
    CITIES.into_iter().find(|city| named.contains(city))
}

/// How many different cities the calls of an answer ask for, each in a valid call.
pub(super) fn cities(answer: &Answer) -> usize {
    let valid = calls(answer).filter(|(name, arguments)| {
        matches!(grade_call(name, arguments), Grade::Valid | Grade::Mended)
    });
    let read = valid.filter_map(|(_, arguments)| city(&parse_arguments(arguments).ok()?));
    read.collect::<BTreeSet<_>>().len()
}

/// The rows about calls.
pub(super) fn rows(probe: &Probe) -> Vec<Row> {
    vec![
        tried(probe, Step::Call, ("tool_call", "tool call")),
        returned(probe),
        tried(probe, Step::StreamedCall, ("tool_call_streamed", "tool call, streamed")),
        parallel(probe, Step::ParallelCalls, ("parallel_calls", "parallel tool calls")),
        parallel(
            probe,
            Step::StreamedParallel,
            ("parallel_calls_streamed", "parallel tool calls, streamed"),
        ),
        no_call(probe),
        forced(probe),
        tried(probe, Step::ObjectCall, ("object_call", "tool call as a JSON object")),
    ]
}

/// Why something was not asked for.
fn unasked(probe: &Probe, why: &str) -> String {
    match probe.halted() {
        Some(halted) => format!("not asked: {halted}"),
        None if probe.refuses_tools() => "not asked: requests with tools fail".to_owned(),
        None => format!("not asked: {why}"),
    }
}

/// A call that may be tried several times.
fn tried(probe: &Probe, step: Step, about: (&'static str, &'static str)) -> Row {
    let tries: Vec<(&Heard, Grade)> =
        probe.tries(step).map(|heard| (heard, grade(heard))).collect();
    let Some((last, _)) = tries.last() else {
        return Row::new(about, "", Found::NotTold, &unasked(probe, "the probe had ended"));
    };
    let as_call = tries.iter().position(|(_, grade)| matches!(grade, Grade::Valid | Grade::Mended));
    let best = as_call.or_else(|| tries.iter().position(|(_, grade)| grade.is_usable()));
    let (heard, graded) = best.map_or(&tries[tries.len() - 1], |at| &tries[at]);
    let found = match (best, graded) {
        (Some(0), Grade::Valid) => Found::Yes,
        (Some(_), _) => Found::Partly,
        (None, _) if last.is_out_of_order() => Found::NotTold,
        (None, _) => Found::No,
    };
    let count = match (best, tries.len()) {
        (_, 1) => String::new(),
        (Some(at), count) => format!(" (try {} of {count})", at + 1),
        (None, count) => format!(" ({count} tries)"),
    };
    Row::new(about, step.sent(), found, &format!("{}{}{count}", told(heard), graded.remark()))
}

fn returned(probe: &Probe) -> Row {
    let about = ("tool_result", "tool result accepted");
    let Some(heard) = probe.tries(Step::Returned).next() else {
        let why = unasked(probe, "no valid call came that could be answered");
        return Row::new(about, "", Found::NotTold, &why);
    };
    let Some(answer) = heard.answer() else { return failed(Step::Returned, about, heard) };
    let (found, remark) = if calls(answer).next().is_some() {
        (Found::Partly, "; accepted, but the model calls again")
    } else if answer.message.text().contains('3') {
        (Found::Yes, "")
    } else {
        (Found::Partly, "; accepted, but the reply does not tell the result")
    };
    Row::new(about, Step::Returned.sent(), found, &format!("{}{remark}", told(heard)))
}

fn parallel(probe: &Probe, step: Step, about: (&'static str, &'static str)) -> Row {
    let Some(heard) = probe.tries(step).next() else {
        let why = match step {
            Step::StreamedParallel => "no two valid calls came whole, or none streamed",
            _ => "no valid call came",
        };
        return Row::new(about, "", Found::NotTold, &unasked(probe, why));
    };
    let Some(answer) = heard.answer() else { return failed(step, about, heard) };
    let count = cities(answer);
    let found = if count >= CITIES.len() { Found::Yes } else { Found::No };
    let came = format!("{count} valid of 2: {}", told(heard));
    Row::new(about, step.sent(), found, &came)
}

fn no_call(probe: &Probe) -> Row {
    let about = ("tool_choice_none", "tool_choice none obeyed");
    let Some(heard) = probe.tries(Step::NoCall).next() else {
        return Row::new(about, "", Found::NotTold, &unasked(probe, "the probe had ended"));
    };
    let Some(answer) = heard.answer() else { return failed(Step::NoCall, about, heard) };
    let (found, remark) = if calls(answer).next().is_some() {
        (Found::No, "")
    } else if repair_tool_call(answer, &[tool()]).is_some() {
        (Found::Partly, "; the text is written as a call")
    } else if answer.message.text().trim().is_empty() {
        (Found::Partly, "")
    } else {
        (Found::Yes, "")
    };
    Row::new(about, Step::NoCall.sent(), found, &format!("{}{remark}", told(heard)))
}

fn forced(probe: &Probe) -> Row {
    let about = ("tool_choice_required", "tool_choice required obeyed");
    let Some(heard) = probe.tries(Step::ForcedCall).next() else {
        return Row::new(about, "", Found::NotTold, &unasked(probe, "the probe had ended"));
    };
    let Some(answer) = heard.answer() else { return failed(Step::ForcedCall, about, heard) };
    let (found, remark) = if calls(answer).next().is_some() {
        (Found::Yes, "")
    } else if repair_tool_call(answer, &[tool()]).is_some() {
        (Found::Partly, "; the call is written as text")
    } else {
        (Found::No, "")
    };
    Row::new(about, Step::ForcedCall.sent(), found, &format!("{}{remark}", told(heard)))
}

/// The row of a step that gave no answer.
pub(super) fn failed(step: Step, about: (&'static str, &'static str), heard: &Heard) -> Row {
    let found = if heard.is_out_of_order() { Found::NotTold } else { Found::No };
    Row::new(about, step.sent(), found, &told(heard))
}
