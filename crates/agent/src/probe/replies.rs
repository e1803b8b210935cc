//! Replies in text: whole and streamed, their ends, what they use.

use steersman_engine::StopReason;
use steersman_wire::{Answer, Format, Part, Tokens};

use super::calls::failed;
use super::heard::Heard;
use super::plan::Probe;
use super::question::{CODE_WORD, FEW_TOKENS};
use super::report::Speed;
use super::row::{Found, Row, content, stop_word, told};
use super::step::Step;

/// Pieces from which on a reply counts as streamed.
const FEW_PIECES: u32 = 3;

/// Shortest time between the first piece and the end, in milliseconds, from which a speed is told.
const LEAST_MS: u64 = 50;

/// One row per format.
pub(super) fn formats(probe: &Probe) -> Vec<Row> {
    probe.formats().iter().map(|format| spoken(probe, *format)).collect()
}

fn spoken(probe: &Probe, format: Format) -> Row {
    let about = match format {
        Format::OpenAiChat => ("format_openai", "speaks openai"),
        Format::OpenAiResponses => ("format_openai_responses", "speaks openai-responses"),
        Format::Anthropic => ("format_anthropic", "speaks anthropic"),
        Format::Gemini => ("format_gemini", "speaks gemini"),
    };
    let step = Step::Format(format);
    let path = format!("POST {}", format.path(probe.model(), false));
    let Some(heard) = probe.tries(step).next() else {
        return Row::new(about, "", Found::NotTold, &unasked(probe));
    };
    let found = match (heard.answer(), heard.failure().and_then(|failure| failure.status)) {
        (Some(_), _) => Found::Yes,
        _ if heard.is_out_of_order() => Found::NotTold,
        // A gate before the server: what is behind it cannot be seen.
        (None, Some(401..=403 | 407 | 429 | 500..)) | (None, None) => Found::NotTold,
        (None, _) => Found::No,
    };
    Row::new(about, &path, found, &told(heard))
}

fn unasked(probe: &Probe) -> String {
    let why = probe.halted().unwrap_or_else(|| "the probe had ended".to_owned());
    format!("not asked: {why}")
}

/// The rows about replies in the format that is spoken.
pub(super) fn rows(probe: &Probe, format: Format) -> Vec<Row> {
    let mut rows = Vec::new();
    let step = Step::Format(format);
    if let Some(answer) = probe.answer(step) {
        rows.push(plain(answer, step.sent()));
        rows.push(system(answer));
        rows.push(usage(("usage", "tokens told"), &answer.usage));
        rows.push(stop(answer));
    }
    rows.push(length(probe));
    rows.extend(streamed(probe, format));
    rows.push(reasoning(probe));
    rows
}

fn plain(answer: &Answer, sent: &str) -> Row {
    let text = answer.message.text();
    let came = format!("{}, {}", content(answer), stop_word(answer));
    let (found, remark) = match (text.trim().is_empty(), answer.stop) {
        (true, Some(StopReason::Length)) => {
            (Found::No, "; the limit was reached before any text: try more --output-tokens")
        }
        (true, _) => (Found::No, ""),
        (false, Some(StopReason::Length)) => (Found::Partly, "; the reply ran into its limit"),
        (false, _) => (Found::Yes, ""),
    };
    Row::new(("reply", "plain reply"), sent, found, &(came + remark))
}

fn system(answer: &Answer) -> Row {
    let about = ("system_prompt", "system prompt reaches the model");
    let text = answer.message.text();
    let (found, came) = if text.to_lowercase().contains(CODE_WORD) {
        (Found::Yes, "the reply holds the code word")
    } else {
        (Found::Partly, "accepted, but the reply does not hold the code word")
    };
    Row::new(about, "", found, came)
}

fn usage(about: (&'static str, &'static str), tokens: &Tokens) -> Row {
    let came = format!("{} tokens in, {} out", tokens.input, tokens.output);
    let found = match (tokens.input, tokens.output) {
        (0, 0) => return Row::new(about, "", Found::No, "no usage in the answer"),
        (0, _) | (_, 0) => Found::Partly,
        _ => Found::Yes,
    };
    Row::new(about, "", found, &came)
}

fn stop(answer: &Answer) -> Row {
    let found = match answer.stop {
        None => Found::No,
        Some(StopReason::Unknown) => Found::Partly,
        Some(_) => Found::Yes,
    };
    Row::new(("stop_reason", "stop reason told"), "", found, &stop_word(answer))
}

fn length(probe: &Probe) -> Row {
    let about = ("output_limit", "output limit kept and told");
    let Some(heard) = probe.tries(Step::Length).next() else {
        return Row::new(about, "", Found::NotTold, &unasked(probe));
    };
    let Some(answer) = heard.answer() else { return failed(Step::Length, about, heard) };
    let made = answer.usage.output;
    let few = u64::from(FEW_TOKENS);
    // No 16 tokens reach this number.
    let ran_on = made > few || answer.message.text().contains(" 60");
    let (found, remark) = match (answer.stop, ran_on) {
        (_, true) => (Found::No, "; the reply went on beyond the limit"),
        (Some(StopReason::Length), false) => (Found::Yes, ""),
        (_, false) if made == few => (Found::Partly, "; kept, but not told as length"),
        (_, false) => (Found::NotTold, "; the model ended by itself"),
    };
    let counted = if made > 0 { format!(", {made} tokens") } else { String::new() };
    let came = format!("{}{counted}{remark}", told(heard));
    Row::new(about, Step::Length.sent(), found, &came)
}

fn streamed(probe: &Probe, format: Format) -> Vec<Row> {
    let (stream, usage_at_end) =
        (("stream", "streamed reply"), ("stream_usage", "tokens told, streamed"));
    let ends = ("stream_stop", "same stop reason, streamed");
    let Some(heard) = probe.tries(Step::Stream).next() else {
        let why = unasked(probe);
        return [stream, usage_at_end, ends]
            .map(|row| Row::new(row, "", Found::NotTold, &why))
            .into();
    };
    let sent = Step::Stream.sent();
    let Some(answer) = heard.answer() else {
        let none = |about| Row::new(about, "", Found::NotTold, "no streamed reply came");
        return vec![failed(Step::Stream, stream, heard), none(usage_at_end), none(ends)];
    };
    let s = if heard.pieces == 1 { "piece" } else { "pieces" };
    let pieces = format!("{} {s}: {}", heard.pieces, told(heard));
    let found = match (heard.pieces, answer.message.text().trim().is_empty()) {
        (_, true) => Found::No,
        (FEW_PIECES.., _) => Found::Yes,
        _ => Found::Partly,
    };
    let whole = probe.answer(Step::Format(format)).and_then(|answer| answer.stop);
    let name = |stop: Option<StopReason>| stop.map_or("none", StopReason::name);
    let same = match (answer.stop, whole) {
        // It may be as long as it likes; another end says nothing.
        (Some(StopReason::Length), _) | (_, Some(StopReason::Length)) => Found::NotTold,
        (None, None) => Found::NotTold,
        (streamed, whole) if streamed == whole => Found::Yes,
        _ => Found::No,
    };
    let both = format!("streamed {}, whole {}", name(answer.stop), name(whole));
    vec![
        Row::new(stream, sent, found, &pieces),
        usage(usage_at_end, &answer.usage),
        Row::new(ends, "", same, &both),
    ]
}

fn reasoning(probe: &Probe) -> Row {
    let about = ("reasoning", "reasoning seen");
    let answers: Vec<&Answer> =
        probe.heard().iter().filter_map(|(_, heard)| heard.answer()).collect();
    let blocks = answers.iter().filter(|answer| {
        let block = |part: &Part| matches!(part, Part::Reasoning { .. });
        answer.message.parts.iter().any(block)
    });
    let (blocks, count) = (blocks.count(), answers.len());
    let tokens: u64 = answers.iter().map(|answer| answer.usage.reasoning).sum();
    let found = if blocks > 0 || tokens > 0 { Found::Yes } else { Found::No };
    let counted = if tokens > 0 { format!(", {tokens} tokens of it") } else { String::new() };
    Row::new(about, "", found, &format!("in {blocks} of {count} answers{counted}"))
}

/// How fast the streamed reply came; `None` if none did.
pub(super) fn speed(probe: &Probe) -> Option<Speed> {
    let heard: &Heard = probe.tries(Step::Stream).find(|heard| heard.answer().is_some())?;
    let first_ms = heard.first_ms?;
    let spent = heard.total_ms.saturating_sub(first_ms);
    let made = heard.answer().map_or(0, |answer| answer.usage.output).saturating_sub(1);
    // The first token stands before the time that is measured.
    let told = heard.pieces >= FEW_PIECES && spent >= LEAST_MS && made > 0;
    let tenths = || (made as f64 * 10_000.0 / spent as f64).round() / 10.0;
    Some(Speed { first_ms, tokens_per_second: told.then(tenths) })
}

/// The row about speed.
pub(super) fn pace(probe: &Probe) -> Row {
    let about = ("speed", "speed");
    match speed(probe) {
        None => Row::new(about, "", Found::NotTold, "no streamed reply came"),
        Some(Speed { first_ms, tokens_per_second }) => {
            let pace = match tokens_per_second {
                Some(rate) => format!("then {rate} tokens per second"),
                None => "the rest too fast, or its tokens untold, for a rate".to_owned(),
            };
            Row::new(about, "", Found::Yes, &format!("first piece after {first_ms} ms, {pace}"))
        }
    }
}
