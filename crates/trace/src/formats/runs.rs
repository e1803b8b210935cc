//! The runs format: one object per run, with its steps.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::cursor::Cursor;
use crate::extent::elements;
use crate::labels::{LabelList, resolve};
use crate::lenient::{Count, Flag, Obj, Raw, Str, Strict, parse};
use crate::lines::why;
use crate::message::{Message, once, parsed};
use crate::run::{Outcome, RunEnd, RunMeta};
use crate::session::{Opening, Session, owned_reply, set};
use crate::steps::Steps;
use crate::writer::RunWriter;

/// Longest run that is parsed in one go; a longer one is parsed step by step.
const MAX_WHOLE: usize = 1 << 20;
/// Most steps that are parsed in one go.
const MAX_WHOLE_STEPS: usize = 20_000;

/// A run as written. `S` is how its steps are taken: parsed at once, or as raw text.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "S: Deserialize<'de> + Default"))]
struct RunFields<'a, S: Default> {
    #[serde(borrow)]
    id: Str<'a>,
    #[serde(borrow)]
    agent: Str<'a>,
    #[serde(borrow)]
    model: Str<'a>,
    #[serde(borrow)]
    task: Str<'a>,
    #[serde(borrow)]
    instance: Str<'a>,
    outcome: Obj<OutcomeFields>,
    correct: Flag,
    context_window: Count,
    #[serde(borrow)]
    labels: LabelList<'a>,
    steps: S,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct OutcomeFields {
    solved: Flag,
}

/// The graded outcome from a flag.
pub(crate) fn outcome(solved: Flag) -> Option<Outcome> {
    solved.0.map(|solved| if solved { Outcome::Solved } else { Outcome::Unsolved })
}

/// The graded outcome from an `outcome` member.
pub(crate) fn outcome_member(json: &str) -> Option<Outcome> {
    outcome(serde_json::from_str::<Obj<OutcomeFields>>(json).ok()?.0.solved)
}

impl<'a, S: Default> RunFields<'a, S> {
    fn meta(&self, line: u64) -> RunMeta<'a> {
        RunMeta {
            id: self.id.text(),
            agent: self.agent.text(),
            model: self.model.text(),
            task: self.task.text(),
            instance: self.instance.text(),
            outcome: outcome(self.outcome.0.solved).or(outcome(self.correct)),
            context_window: self.context_window.positive(),
            line,
        }
    }
}

/// Reads the run in `text`; `name` is used if it has no id.
///
/// # Errors
/// If the text is not a valid JSON object; nothing was pushed then.
pub(crate) fn read_run(
    text: &str,
    name: &str,
    line: u64,
    out: &mut RunWriter<'_>,
) -> serde_json::Result<()> {
    let whole = if text.len() <= MAX_WHOLE { whole_run(text) } else { None };
    if let Some(mut run) = whole {
        let WholeSteps(mut messages) = std::mem::take(&mut run.steps);
        start(&run, name, line, out);
        let mut steps = Steps::default();
        for message in &mut messages {
            if out.is_done() {
                return Ok(());
            }
            steps.step(message, line, out);
        }
        steps.flush(out);
        out.end(end_of(&run, &steps));
        return Ok(());
    }
    let run = parse::<RunFields<'_, Raw<'_>>>(text)?;
    start(&run, name, line, out);
    let mut steps = Steps::default();
    for (index, element) in elements(run.steps.map_or("", RawValue::get)).enumerate() {
        if out.is_done() {
            return Ok(());
        }
        match parse::<Message<'_>>(element) {
            Ok(mut message) => steps.step(&mut message, line, out),
            Err(e) => {
                steps.skip();
                out.problem(line, format!("step {index} skipped: {}", why(&e)));
            }
        }
    }
    steps.flush(out);
    out.end(end_of(&run, &steps));
    Ok(())
}

/// The run in one go: the short way, or else by the parser; `None` if it has to be read step by
/// step.
fn whole_run(text: &str) -> Option<RunFields<'_, WholeSteps<'_>>> {
    take_run(&mut Cursor::new(text)).or_else(|| parse(text).ok())
}

/// Takes a run the short way; see [`Cursor`].
fn take_run<'a>(cursor: &mut Cursor<'a>) -> Option<RunFields<'a, WholeSteps<'a>>> {
    let mut run: RunFields<'a, WholeSteps<'a>> = RunFields::default();
    let mut seen = 0;
    cursor.object(|cursor, key| {
        if key == "steps" {
            run.steps = WholeSteps::take(cursor)?;
            return once(&mut seen, 9);
        }
        let raw = cursor.value()?;
        let text = Str::of_raw(raw);
        let ((), field) = match key {
            "id" => (run.id = text, 0),
            "agent" => (run.agent = text, 1),
            "model" => (run.model = text, 2),
            "task" => (run.task = text, 3),
            "instance" => (run.instance = text, 4),
            "outcome" => (run.outcome = parsed(raw)?, 5),
            "correct" => (run.correct = parsed(raw)?, 6),
            "context_window" => (run.context_window = parsed(raw)?, 7),
            "labels" => (run.labels = parsed(raw)?, 8),
            _ => return Some(()),
        };
        once(&mut seen, field)
    })?;
    cursor.is_at_end().then_some(run)
}

fn start<S: Default>(run: &RunFields<'_, S>, name: &str, line: u64, out: &mut RunWriter<'_>) {
    let mut meta = run.meta(line);
    if meta.id.is_empty() {
        meta.id = Cow::Borrowed(name);
    }
    out.start(&meta);
}

fn end_of<S: Default>(run: &RunFields<'_, S>, steps: &Steps<'_>) -> RunEnd {
    RunEnd { labels: resolve(&run.labels, steps.turns()), ..RunEnd::default() }
}

/// Steps that are all parsed at once. Fails on too many of them, or on one that is no object.
#[derive(Debug, Default)]
struct WholeSteps<'a>(Vec<Message<'a>>);

impl<'a> WholeSteps<'a> {
    /// Takes steps the short way; see [`Cursor`].
    fn take(cursor: &mut Cursor<'a>) -> Option<Self> {
        // Steps are seldom shorter: hardly any is moved while the list grows.
        let mut steps = Vec::with_capacity(cursor.rest() / 2048 + 1);
        cursor.list(|cursor| {
            steps.push(Message::default());
            steps.last_mut()?.fill(cursor)?;
            (steps.len() <= MAX_WHOLE_STEPS).then_some(())
        })?;
        Some(Self(steps))
    }
}

struct WholeVisitor;

impl<'de> Visitor<'de> for WholeVisitor {
    type Value = WholeSteps<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of steps")
    }
    fn visit_unit<E>(self) -> Result<WholeSteps<'de>, E> {
        Ok(WholeSteps::default())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<WholeSteps<'de>, A::Error> {
        let mut steps = Vec::new();
        while let Some(Strict(step)) = seq.next_element()? {
            if steps.len() == MAX_WHOLE_STEPS {
                return Err(A::Error::custom("too many steps at once"));
            }
            steps.push(step);
        }
        Ok(WholeSteps(steps))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for WholeSteps<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(WholeVisitor)
    }
}

/// A single run that is a document of its own, read step by step.
pub(crate) struct RunSession {
    opening: Opening,
    steps: Steps<'static>,
    /// The labels as JSON text; they may stand before the steps they point to.
    labels: String,
}

impl RunSession {
    pub(crate) fn new(id: &str) -> Self {
        Self { opening: Opening::of(id, ""), steps: Steps::default(), labels: String::new() }
    }
}

impl Session for RunSession {
    fn element(
        &mut self,
        json: &str,
        line: u64,
        out: &mut RunWriter<'_>,
    ) -> serde_json::Result<()> {
        let mut message = match parse::<Message<'_>>(json) {
            Ok(message) => message,
            Err(error) => {
                self.steps.skip();
                return Err(error);
            }
        };
        self.opening.ensure(line, out);
        self.steps.step_kept(&mut message, line, out, |reply, agent| {
            (owned_reply(reply), Cow::Owned(agent.into_owned()))
        });
        Ok(())
    }

    fn member(&mut self, key: &str, json: &str) {
        let meta = &mut self.opening.meta;
        match key {
            "id" => set(&mut meta.id, json),
            "agent" => set(&mut meta.agent, json),
            "model" => set(&mut meta.model, json),
            "task" => set(&mut meta.task, json),
            "instance" => set(&mut meta.instance, json),
            "outcome" => meta.outcome = outcome_member(json).or(meta.outcome),
            "correct" => {
                meta.outcome = serde_json::from_str(json).ok().and_then(outcome).or(meta.outcome);
            }
            "labels" => json.clone_into(&mut self.labels),
            "context_window" => {
                meta.context_window =
                    serde_json::from_str::<Count>(json).ok().and_then(Count::positive);
            }
            _ => {}
        }
    }

    fn wants_list(&mut self, key: &str) -> bool {
        key == "steps"
    }

    fn finish(&mut self, end: RunEnd, out: &mut RunWriter<'_>) {
        self.steps.flush(out);
        let labels = serde_json::from_str::<LabelList<'_>>(&self.labels).unwrap_or_default();
        let labels = resolve(&labels, self.steps.turns());
        self.opening.close(RunEnd { labels, ..end }, out);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Both ways to parse a run give the same, or the short one gives nothing.
    fn check(text: &str) -> bool {
        let seen = |run: Option<RunFields<'_, WholeSteps<'_>>>| {
            run.map(|mut run| {
                let steps = std::mem::take(&mut run.steps).0;
                let steps: Vec<_> = steps.into_iter().map(|mut step| step.take_parts(1)).collect();
                format!("{run:?} {steps:?}")
            })
        };
        let taken = seen(take_run(&mut Cursor::new(text)));
        let parsed = seen(parse(text).ok());
        assert!(taken.is_none() || taken == parsed, "{text}\n{taken:?}\n{parsed:?}");
        taken.is_some()
    }

    const STEPS: &str = r#"{"id":"a\u00e9","agent":"x","model":null,"task":"do\nit","outcome":
        {"solved":true,"reward":1.0},"correct":0,"labels":[{"kind":"k","step":1,"by":"human"}],
        "context_window":1000,"extra":{"a":[1,2]},"steps":[{"role":"system","content":null},
        {"role":"user","content":"Say \"hi\" \ud83d\ude00 and\tgo"},{"role":"assistant",
        "content":[{"type":"text","text":"a"},{"type":"tool_use","id":"i","name":"n","input":{}}],
        "reasoning":"why\\","kind":"reasoning","usage":{"input_tokens":5},"finish_reason":"stop",
        "tool_calls":[{"id":"1","name":"read","arguments":{"path":"a\n"}},{"function":
        {"name":"f","arguments":"{\"a\":1}"}},{"name":"g","arguments":null,"args":"x\ty"}]},
        {"role":"tool","tool_call_id":"1","content":"out\nput","exit_code":1,"error":false,
        "orig_len":9000,"ts":"2024-01-01T00:00:00Z"},{"role":"tool","content":{"type":"text"}}]}"#;

    #[test]
    fn takes_usual_runs_the_short_way() {
        assert!(check(STEPS));
        let cases = [
            r#"{"id":"a","id":"b"}"#,
            r#"{"steps":[{"role":"user","role":"tool"}]}"#,
            r#"{"steps":[{"tool_calls":[1]}]}"#,
            r#"{"steps":[{"tool_calls":[{"id":1,"id":2}]}]}"#,
            r#"{"steps":[1]}"#,
            r#"{"steps":null}"#,
            r#"{"st\u0065ps":[]}"#,
            r#"{"steps":[]} x"#,
            "[]",
        ];
        for text in cases {
            assert!(!check(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn damaged_runs_are_read_alike(
            at in 0..STEPS.len(),
            len in 0_usize..6,
            new in "[\\[\\]{}:,\"\\\\ nu0-9.-]{0,3}",
        ) {
            let end = (at + len).min(STEPS.len());
            if let (Some(before), Some(after)) = (STEPS.get(..at), STEPS.get(end..)) {
                check(&[before, &new, after].concat());
            }
        }
    }
}
