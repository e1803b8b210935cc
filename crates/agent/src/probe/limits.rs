//! What the server tells of its models and their limits.

use steersman_wire::{Failure, FailureKind, ListedModel};

use super::heard::Came;
use super::plan::Probe;
use super::question::TOO_MANY_TOKENS;
use super::row::{Found, Row, told};
use super::step::Step;

/// Most names of models that are shown.
const SHOWN: usize = 4;

/// Limits in tokens, as far as they were told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    /// Context window.
    pub(super) window: Option<u64>,
    /// Most tokens of a reply.
    pub(super) output: Option<u64>,
}

/// What stands before or behind a limit in the errors of servers, in lower case.
enum Mark {
    /// The number follows.
    Before(&'static str),
    /// The number precedes.
    After(&'static str),
}

const WINDOW: &[Mark] = &[
    Mark::Before("maximum context length is "),
    Mark::Before("maximum context length of "),
    Mark::Before("max_model_len="),
    Mark::Before("context window of "),
    Mark::Before("available context size ("),
];

const OUTPUT: &[Mark] = &[
    Mark::Before("this model supports at most "),
    Mark::Before("supports at most "),
    Mark::After(", which is the maximum allowed number of output tokens"),
    Mark::Before("must be less than or equal to "),
];

/// The limits that an error tells.
fn of_error(message: &str) -> Limits {
    let message = message.to_lowercase();
    let first = |marks: &[Mark]| marks.iter().find_map(|mark| number_at(&message, mark));
    Limits { window: first(WINDOW), output: first(OUTPUT) }
}

fn number_at(message: &str, mark: &Mark) -> Option<u64> {
    let is_part = |c: char| c.is_ascii_digit() || c == ',' || c == '_';
    let digits = match mark {
        Mark::Before(words) => {
            let rest = &message[message.find(words)? + words.len()..];
            let rest = rest.trim_start_matches('`');
            &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())]
        }
        Mark::After(words) => {
            let before = &message[..message.find(words)?];
            &before[before.trim_end_matches(is_part).len()..]
        }
    };
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    let number: u64 = digits.parse().ok()?;
    (number > 0 && number < u64::from(TOO_MANY_TOKENS)).then_some(number)
}

/// A model in the server's list, by its name.
fn named<'a>(probe: &'a Probe, name: &str) -> Option<&'a ListedModel> {
    let plain = |name: &str| name.strip_prefix("models/").unwrap_or(name).to_owned();
    probe.listed()?.iter().find(|model| plain(&model.name) == plain(name))
}

/// The model in the server's list: by the name it is asked by, else by the one it answers with.
fn listed(probe: &Probe) -> Option<&ListedModel> {
    let other = || named(probe, probe.answers_as()?);
    named(probe, probe.model()).or_else(other)
}

/// The limits that were told, in the list or in errors.
pub(super) fn limits(probe: &Probe) -> Limits {
    let model = listed(probe);
    let errors = probe.heard().iter().filter_map(|(_, heard)| heard.failure());
    let mut limits = Limits {
        window: model.and_then(|model| model.context_window),
        output: model.and_then(|model| model.max_output_tokens),
    };
    for told in errors.map(|failure| of_error(&failure.message)) {
        limits.window = limits.window.or(told.window);
        limits.output = limits.output.or(told.output);
    }
    limits
}

/// The rows about the server's models and their limits.
pub(super) fn rows(probe: &Probe) -> Vec<Row> {
    vec![listing(probe), wrong_model(probe), window(probe), output(probe)]
}

fn unasked(probe: &Probe) -> String {
    let why = probe.halted().unwrap_or_else(|| "the probe had ended".to_owned());
    format!("not asked: {why}")
}

fn listing(probe: &Probe) -> Row {
    let about = ("model_listed", "model is listed");
    let Some(heard) = probe.tries(Step::Listing).next() else {
        return Row::new(about, "", Found::NotTold, &unasked(probe));
    };
    let sent = Step::Listing.sent();
    let Came::Listed(models) = &heard.came else {
        let came = format!("no list: {}", told(heard));
        return Row::new(about, sent, Found::NotTold, &came);
    };
    let count = models.len();
    if named(probe, probe.model()).is_some() {
        return Row::new(about, sent, Found::Yes, &format!("it is in the list of {count}"));
    }
    if let Some(model) = listed(probe) {
        let came = format!("not by this name; answers come from {}, which is listed", model.name);
        return Row::new(about, sent, Found::Partly, &came);
    }
    let names: Vec<&str> = models.iter().take(SHOWN).map(|model| model.name.as_str()).collect();
    let more = if count > SHOWN { ", …" } else { "" };
    let came = format!("not in the list of {count}: {}{more}", names.join(", "));
    Row::new(about, sent, Found::No, &came)
}

fn wrong_model(probe: &Probe) -> Row {
    let about = ("wrong_model", "wrong model name refused");
    let Some(heard) = probe.tries(Step::WrongModel).next() else {
        return Row::new(about, "", Found::NotTold, &unasked(probe));
    };
    let as_name = |failure: &Failure| {
        let kinds = [FailureKind::NotFound, FailureKind::Request];
        kinds.contains(&failure.kind) && failure.status.is_some_and(|status| status < 500)
    };
    let (found, remark) = match (&heard.came, heard.failure()) {
        (_, Some(failure)) if as_name(failure) => (Found::Yes, ""),
        (_, Some(_)) if heard.is_out_of_order() => (Found::NotTold, ""),
        (_, Some(_)) => (Found::Partly, "; refused, but not as a wrong name"),
        (_, None) => (Found::No, "; any name is answered"),
    };
    Row::new(about, Step::WrongModel.sent(), found, &format!("{}{remark}", told(heard)))
}

fn window(probe: &Probe) -> Row {
    let about = ("context_window", "context window told");
    let model = listed(probe);
    match (limits(probe).window, model.and_then(|model| model.trained_window)) {
        (Some(tokens), _) => {
            let place = place(model.and_then(|model| model.context_window));
            Row::new(about, "", Found::Yes, &format!("{tokens} tokens, {place}"))
        }
        (None, Some(trained)) => {
            let came =
                format!("the model was trained with {trained} tokens; what is served is not told");
            Row::new(about, "", Found::NotTold, &came)
        }
        (None, None) => Row::new(about, "", Found::NotTold, "neither in the list nor in an error"),
    }
}

/// Where a limit was told that the list has, or has not.
const fn place(listed: Option<u64>) -> &'static str {
    if listed.is_some() { "by the list of models" } else { "by an error" }
}

fn output(probe: &Probe) -> Row {
    let about = ("max_output", "most tokens of a reply told");
    let sent = Step::Limits.sent();
    let heard = probe.tries(Step::Limits).next();
    match (limits(probe).output, heard) {
        (Some(tokens), _) => {
            let place = place(listed(probe).and_then(|model| model.max_output_tokens));
            Row::new(about, "", Found::Yes, &format!("{tokens} tokens, {place}"))
        }
        (None, None) => Row::new(about, "", Found::NotTold, &unasked(probe)),
        (None, Some(heard)) => match &heard.came {
            Came::Answer(_) | Came::LeftOff => {
                Row::new(about, sent, Found::NotTold, "accepted; no limit is told")
            }
            _ => Row::new(about, sent, Found::NotTold, &told(heard)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_from_the_errors_of_servers() {
        let cases = [
            (
                "This model's maximum context length is 4096 tokens. However, you requested \
                 100000010 tokens (10 in the messages, 100000000 in the completion).",
                (Some(4096), None),
            ),
            (
                "max_tokens is too large: 100000000. This model supports at most 16384 completion \
                 tokens, whereas you provided 100000000.",
                (None, Some(16_384)),
            ),
            (
                "max_tokens: 100000000 > 64000, which is the maximum allowed number of output \
                 tokens for claude-x",
                (None, Some(64_000)),
            ),
            ("`max_tokens` must be less than or equal to `8192`", (None, Some(8192))),
            (
                "the request exceeds the available context size (8192 tokens), try increasing it",
                (Some(8192), None),
            ),
            ("maximum context length is 131,072 tokens", (Some(131_072), None)),
            ("must be less than or equal to 100000000", (None, None)),
            ("maximum context length is unknown", (None, None)),
            ("no such model", (None, None)),
            ("", (None, None)),
        ];
        for (message, (window, output)) in cases {
            assert_eq!(of_error(message), Limits { window, output }, "{message}");
        }
    }
}
