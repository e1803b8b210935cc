//! Reading the signal from JSON that need not fit the schema.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{ContinuationSignal, NextAction, STEPS_MAX, Status, StepProgress, TEXT_MAX};

/// The signal in a JSON object: under its key `continuation`, or the object itself.
pub(super) fn object(json: &str) -> Option<ContinuationSignal> {
    let json = json.trim();
    let mut from = serde_json::Deserializer::from_str(json);
    let found = Fields::deserialize(&mut from).ok()?;
    from.end().ok()?;
    match found.continuation {
        Some(inner) => inner.signal(),
        None => found.signal(),
    }
}

/// The signal in the JSON object that a text begins with; what follows it is left alone.
pub(super) fn inner(text: &str) -> Option<ContinuationSignal> {
    let mut from = serde_json::Deserializer::from_str(text);
    Fields::deserialize(&mut from).ok()?.signal()
}

/// Every known field of the protocol's objects; absent where of the wrong type.
#[derive(Debug, Default)]
struct Fields {
    continuation: Option<alloc::boxed::Box<Self>>,
    next_action: Option<alloc::boxed::Box<Self>>,
    progress: Option<alloc::boxed::Box<Self>>,
    status: Option<String>,
    reason: Option<String>,
    kind: Option<String>,
    tool: Option<String>,
    description: Option<String>,
    current_step: Option<f64>,
    total_steps: Option<f64>,
    completion_percentage: Option<f64>,
    steps_completed: Vec<String>,
    steps_remaining: Vec<String>,
}

impl Fields {
    fn signal(self) -> Option<ContinuationSignal> {
        let word = self.status?;
        let word = word.trim().trim_end_matches('.');
        let status = if word.eq_ignore_ascii_case("continue") {
            Status::Continue
        } else if word.eq_ignore_ascii_case("terminate") {
            Status::Terminate
        } else {
            return None;
        };
        let next_action = self.next_action.map(|action| NextAction {
            kind: action.kind,
            tool: action.tool,
            description: action.description,
        });
        let progress = self.progress.map(|progress| StepProgress {
            current_step: progress.current_step.map(whole),
            total_steps: progress.total_steps.map(whole),
            completion_percentage: progress
                .completion_percentage
                .map(|percent| percent.clamp(0.0, 100.0) as f32),
            steps_completed: progress.steps_completed,
            steps_remaining: progress.steps_remaining,
        });
        Some(ContinuationSignal { status, reason: self.reason, next_action, progress })
    }
}

/// A number of steps; the cast saturates at both ends.
const fn whole(number: f64) -> u32 {
    number as u32
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Loose::deserialize(from)? {
            Loose::Map(fields) => Ok(*fields),
            _ => Err(D::Error::custom("not an object")),
        }
    }
}

/// Any JSON value, as far as it is of use.
enum Loose {
    Nothing,
    Text(String),
    Number(f64),
    List(Vec<String>),
    Map(alloc::boxed::Box<Fields>),
}

impl Loose {
    fn text(self) -> Option<String> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    fn number(self) -> Option<f64> {
        let number = match self {
            Self::Number(number) => Some(number),
            Self::Text(text) => text.trim().trim_end_matches('%').parse().ok(),
            _ => None,
        };
        // A text may well say `NaN`.
        number.filter(|number| number.is_finite())
    }

    fn list(self) -> Vec<String> {
        match self {
            Self::List(list) => list,
            Self::Text(text) => alloc::vec![text],
            _ => Vec::new(),
        }
    }

    fn map(self) -> Option<alloc::boxed::Box<Fields>> {
        match self {
            Self::Map(fields) => Some(fields),
            // An action in words.
            Self::Text(text) if !text.is_empty() => Some(alloc::boxed::Box::new(Fields {
                description: Some(text),
                ..Fields::default()
            })),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<Loose, E> {
        Ok(Loose::Nothing)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Loose, E> {
        Ok(Loose::Nothing)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Loose, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Loose, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Loose, E> {
        Ok(Loose::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Loose, E> {
        Ok(Loose::Text(text[..text.floor_char_boundary(TEXT_MAX)].to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Loose, A::Error> {
        let mut list = Vec::new();
        while list.len() < STEPS_MAX {
            match items.next_element::<Loose>()? {
                Some(item) => list.extend(item.text()),
                None => return Ok(Loose::List(list)),
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Loose, A::Error> {
        let mut fields = Fields::default();
        while let Some(key) = entries.next_key::<Key>()? {
            if key == Key::Other {
                entries.next_value::<IgnoredAny>()?;
                continue;
            }
            let value: Loose = entries.next_value()?;
            match key {
                Key::Continuation => {
                    fields.continuation = match value {
                        Loose::Map(inner) => Some(inner),
                        _ => None,
                    }
                }
                Key::NextAction => fields.next_action = value.map(),
                Key::Progress => {
                    fields.progress = match value {
                        Loose::Map(inner) => Some(inner),
                        _ => None,
                    }
                }
                Key::Status => fields.status = value.text(),
                Key::Reason => fields.reason = value.text(),
                Key::Type => fields.kind = value.text(),
                Key::Tool => fields.tool = value.text(),
                Key::Description => fields.description = value.text(),
                Key::CurrentStep => fields.current_step = value.number(),
                Key::TotalSteps => fields.total_steps = value.number(),
                Key::CompletionPercentage => fields.completion_percentage = value.number(),
                Key::StepsCompleted => fields.steps_completed = value.list(),
                Key::StepsRemaining => fields.steps_remaining = value.list(),
                Key::Other => {}
            }
        }
        Ok(Loose::Map(alloc::boxed::Box::new(fields)))
    }
}

/// The keys of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Key {
    Continuation,
    NextAction,
    Progress,
    Status,
    Reason,
    Type,
    Tool,
    Description,
    CurrentStep,
    TotalSteps,
    CompletionPercentage,
    StepsCompleted,
    StepsRemaining,
    #[serde(other)]
    Other,
}
