//! The bounds of every number, asked of [`Policy::validate`] itself.
//!
//! A policy that is `default` but for one absurd value is checked, and the phrase in which the
//! check says what is allowed is read. Bounds that depend on another key ("at most `hard_limit`")
//! are no fixed bounds and stay out: what is said here is never stricter than the check.

use serde_json::Value as Json;
use steersman_engine::Policy;

use crate::ordered::Ordered;
use crate::shape::{ANY, Shape, defaults, file};

/// What the check allows at one key, apart from what depends on other keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    /// Smallest value.
    pub(crate) min: Option<f64>,
    /// The value must be above this.
    pub(crate) above: Option<f64>,
    /// Largest value.
    pub(crate) max: Option<f64>,
    /// Fewest items of a list.
    pub(crate) min_items: Option<u64>,
}

impl Bounds {
    /// The bounds that the shape itself states.
    pub(crate) fn of_shape(shape: &Shape) -> Self {
        let (min, max) = match shape {
            Shape::Whole { min, max } => (Some(*min as f64), Some(*max as f64)),
            Shape::Number { min, max, .. } => (*min, *max),
            _ => (None, None),
        };
        Self { min, max: max.filter(|max| *max < f64::from(u32::MAX)), ..Self::default() }
    }

    /// The bounds in words, for tables: `1–64`, `above 0, up to 10`, `at least 1`.
    pub(crate) fn phrase(&self) -> String {
        match (self.above, self.min, self.max, self.min_items) {
            (_, Some(min), Some(max), _) if min == max => format!("{min}"),
            (Some(above), _, Some(max), _) => format!("above {above}, up to {max}"),
            (_, Some(min), Some(max), _) => format!("{min}–{max}"),
            (_, Some(min), None, _) => format!("at least {min}"),
            (_, None, Some(max), _) => format!("at most {max}"),
            (_, _, _, Some(items)) => format!("at least {items} item"),
            _ => String::new(),
        }
    }
}

/// The bounds at a path. `shape` is what stands there; in a table the name is [`ANY`].
pub(crate) fn of(path: &[&str], shape: &Shape) -> Bounds {
    let probes: &[Json] = &match shape {
        Shape::Whole { min, max } => vec![wide(*min), wide(*max)],
        Shape::Number { .. } => vec![(-1e30).into(), 1e30.into()],
        Shape::List(_) => vec![Json::Array(vec![])],
        _ => return Bounds::default(),
    };
    let mut bounds = Bounds::default();
    for probe in probes {
        for allowed in allowed(path, probe) {
            bounds.read(&allowed, matches!(shape, Shape::List(_)));
        }
    }
    bounds
}

/// The number as JSON.
fn wide(number: i128) -> Json {
    u64::try_from(number)
        .map_or_else(|_| i64::try_from(number).map_or(Json::Null, Json::from), Json::from)
}

/// What the check says is allowed at `path` when `value` stands there.
pub(crate) fn allowed(path: &[&str], value: &Json) -> Vec<String> {
    let mut json = defaults().json();
    let Some(place) = place(&mut json, path) else { return vec![] };
    *place = value.clone();
    let Ok(policy) = serde_json::from_value::<Policy>(json) else { return vec![] };
    let dotted = path.join(".");
    let errors = policy.validate().err().unwrap_or_default();
    errors.into_iter().filter(|error| error.path == dotted).map(|error| error.allowed).collect()
}

fn place<'j>(json: &'j mut Json, path: &[&str]) -> Option<&'j mut Json> {
    path.iter().try_fold(json, |json, name| json.get_mut(*name))
}

impl Bounds {
    /// Takes in one phrase of the check.
    fn read(&mut self, allowed: &str, list: bool) {
        if list {
            // An empty list was the probe: whatever the phrase, at least one item is needed.
            self.min_items = Some(1);
            return;
        }
        let number = |text: &str| {
            let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-')));
            text[..end.unwrap_or(text.len())].trim_end_matches('.').parse::<f64>().ok()
        };
        if let Ok(only) = allowed.parse::<f64>() {
            (self.min, self.max) = (Some(only), Some(only));
        } else if let Some((_, rest)) = allowed.split_once("number from ") {
            let (low, high) = rest.split_once(" to ").unwrap_or((rest, ""));
            self.min = number(low).or(self.min);
            self.max = number(high).or(self.max);
        } else if let Some((_, rest)) = allowed.split_once("number above ") {
            let (low, high) = rest.split_once(", up to ").unwrap_or((rest, ""));
            self.above = number(low).or(self.above);
            self.max = number(high).or(self.max);
        } else if let Some((_, rest)) = allowed.split_once("number of at least ") {
            self.min = number(rest).or(self.min);
        }
    }
}

/// Calls `visit` with every key of the file: its path ([`ANY`] in tables), the key, its default.
pub(crate) fn each_key<'s>(
    mut visit: impl FnMut(&[&'s str], &'s crate::shape::Key, Option<&'s Ordered>),
) {
    fn walk<'s>(
        shape: &'s Shape,
        path: &mut Vec<&'s str>,
        visit: &mut impl FnMut(&[&'s str], &'s crate::shape::Key, Option<&'s Ordered>),
    ) {
        match shape {
            Shape::Section(keys) => {
                for key in keys {
                    path.push(&key.name);
                    visit(path, key, defaults().at(path.iter().copied()));
                    walk(&key.shape, path, visit);
                    path.pop();
                }
            }
            Shape::Table(entry) => {
                path.push(ANY);
                walk(entry, path, visit);
                path.pop();
            }
            _ => {}
        }
    }
    walk(file(), &mut Vec::new(), &mut visit);
}

#[cfg(test)]
mod tests {
    use super::{allowed, each_key, of};
    use crate::shape::Shape;
    use serde_json::Value as Json;

    /// Every bound that is found is exact: the check accepts it and refuses what lies beyond.
    #[test]
    fn bounds_are_those_of_the_check() {
        let mut found = 0;
        each_key(|path, key, _| {
            let bounds = of(path, &key.shape);
            let check = |value: Json, fits: bool| {
                let mut phrases = allowed(path, &value);
                if fits {
                    // What depends on other keys names them, with their value.
                    phrases.retain(|phrase| !phrase.contains('('));
                }
                assert_eq!(phrases.is_empty(), fits, "{path:?} {value} {phrases:?}");
            };
            let whole = matches!(key.shape, Shape::Whole { .. });
            let json = |number: f64| if whole { Json::from(number as u64) } else { number.into() };
            let step = if whole { 1.0 } else { 0.01 };
            if let Some(min) = bounds.min {
                found += 1;
                check(json(min), true);
                if min > 0.0 {
                    check(json(min - step), false);
                }
            }
            if let Some(above) = bounds.above {
                check(json(above), false);
                check(json(above + step), true);
            }
            if let Some(max) = bounds.max {
                check(json(max), true);
                check(json(max + step), false);
            }
        });
        assert!(found > 50, "{found} bounds found");
    }

    /// A phrase that this crate does not understand would drop out of schema and reference.
    #[test]
    fn every_phrase_of_the_check_is_understood() {
        each_key(|path, key, _| {
            let probes: [Json; 3] = [0.into(), (-1).into(), u64::from(u32::MAX).into()];
            for phrase in probes.iter().flat_map(|probe| allowed(path, probe)) {
                let mut bounds = super::Bounds::default();
                bounds.read(&phrase, matches!(key.shape, Shape::List(_)));
                let relative = phrase.contains('(');
                assert!(relative || bounds != super::Bounds::default(), "{path:?}: {phrase}");
            }
        });
    }
}
