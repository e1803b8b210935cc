//! What sources are called, and which of them are wanted.

use std::collections::BTreeMap;
use std::sync::Arc;

use steersman_evaluation::Episode;

use crate::reading::GroupBy;

/// Ends of file names that say only how runs are stored.
const ENDS: [&str; 5] = [".gz", ".zst", ".jsonl", ".json", ".ndjson"];

/// Which sources are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// Only these; all if empty.
    pub(crate) only: Vec<String>,
    /// Not these.
    pub(crate) without: Vec<String>,
}

impl Filter {
    /// Whether a source is wanted.
    pub(crate) fn wants(&self, source: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| is_called(source, name));
        (self.only.is_empty() || named(&self.only)) && !named(&self.without)
    }

    /// The first name that is not that of any of these sources.
    pub(crate) fn unknown<'a>(&'a self, sources: &[Arc<str>]) -> Option<&'a str> {
        let known = |name: &&String| sources.iter().any(|source| is_called(source, name));
        self.only.iter().chain(&self.without).find(|name| !known(name)).map(String::as_str)
    }
}

/// Whether a source has this name: as a whole, as the name of a file, or without its ending.
fn is_called(source: &str, name: &str) -> bool {
    let file = source.rsplit('/').next().unwrap_or(source);
    [source, stem(source), file, stem(file)].contains(&name)
}

/// A name without what says only how runs are stored.
fn stem(name: &str) -> &str {
    let shorter = ENDS.iter().find_map(|end| name.strip_suffix(end));
    match shorter {
        Some(shorter) if !shorter.is_empty() && !shorter.ends_with('/') => stem(shorter),
        _ => name,
    }
}

/// Names of sources as short as they can be and still be different, by their full names.
pub(crate) fn short(sources: &[Arc<str>], by: GroupBy) -> BTreeMap<Arc<str>, Arc<str>> {
    let shared = by.shared_folder(sources.iter().map(|source| &**source));
    let plain = |source: &Arc<str>| match by {
        GroupBy::File => Arc::from(stem(&source[shared..])),
        _ => Arc::from(&source[shared..]),
    };
    let names: Vec<Arc<str>> = sources.iter().map(plain).collect();
    let named = sources.iter().zip(&names).map(|(source, name)| {
        let unique = names.iter().filter(|it| *it == name).count() == 1;
        let name = if unique { Arc::clone(name) } else { Arc::from(&source[shared..]) };
        (Arc::clone(source), name)
    });
    named.collect()
}

/// Gives the sources of episodes their short names.
pub(crate) fn shorten<'a>(episodes: impl IntoIterator<Item = &'a mut Episode>, by: GroupBy) {
    let mut episodes: Vec<&mut Episode> = episodes.into_iter().collect();
    let mut sources: Vec<Arc<str>> = episodes.iter().map(|it| Arc::clone(&it.source)).collect();
    sources.sort_unstable();
    sources.dedup();
    let short = short(&sources, by);
    for episode in &mut episodes {
        if let Some(name) = short.get(&episode.source) {
            episode.source = Arc::clone(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_different() {
        let cases: [(&[&str], GroupBy, &[&str]); 6] = [
            (&["a/x.jsonl.gz", "a/y.jsonl"], GroupBy::File, &["x", "y"]),
            (&["a/x.jsonl.gz", "a/x.json"], GroupBy::File, &["x.jsonl.gz", "x.json"]),
            (&["a/x.jsonl", "b/x.jsonl"], GroupBy::File, &["a/x", "b/x"]),
            (&["a/x.traj.json"], GroupBy::File, &["x.traj"]),
            (&["a/.jsonl", "-"], GroupBy::File, &["a/.jsonl", "-"]),
            (&["gpt-4.json", "o1"], GroupBy::Model, &["gpt-4.json", "o1"]),
        ];
        for (sources, by, expected) in cases {
            let sources: Vec<Arc<str>> = sources.iter().map(|it| Arc::from(*it)).collect();
            let short = short(&sources, by);
            let names: Vec<&str> = sources.iter().map(|source| &*short[source]).collect();
            assert_eq!(names, expected);
        }
    }

    #[test]
    fn sources_are_found_by_any_of_their_names() {
        let filter = |only: &[&str], without: &[&str]| Filter {
            only: only.iter().map(|it| (*it).to_owned()).collect(),
            without: without.iter().map(|it| (*it).to_owned()).collect(),
        };
        for name in ["a/b/x.jsonl.gz", "a/b/x", "x.jsonl.gz", "x"] {
            assert!(filter(&[name], &[]).wants("a/b/x.jsonl.gz"), "{name}");
            assert!(!filter(&[], &[name]).wants("a/b/x.jsonl.gz"), "{name}");
            assert!(!filter(&[name], &[]).wants("a/b/y.jsonl.gz"), "{name}");
        }
        let sources: Vec<Arc<str>> = vec!["a/x.jsonl".into(), "a/y.jsonl".into()];
        assert_eq!(filter(&["x"], &["y"]).unknown(&sources), None);
        assert_eq!(filter(&["x"], &["z"]).unknown(&sources), Some("z"));
        assert_eq!(filter(&[], &[]).unknown(&sources), None);
    }
}
