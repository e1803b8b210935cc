//! Changes of bytes at places of a body.

use super::super::walk;

/// Bytes that come in place of others.
#[derive(Debug)]
struct Patch {
    at: usize,
    /// How many bytes of the body they replace.
    replaced: usize,
    text: String,
}

/// Changes of one body. None replaces what another one replaces.
#[derive(Debug)]
pub(super) struct Patches<'a> {
    body: &'a [u8],
    patches: Vec<Patch>,
    /// Members to add to the outermost object.
    added: String,
}

impl<'a> Patches<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self { body, patches: Vec::new(), added: String::new() }
    }

    /// Replaces a part of the body.
    pub(super) fn replace(&mut self, part: &str, text: String) {
        self.push(self.place(part), part.len(), text);
    }

    /// Puts a text in right before a part of the body.
    pub(super) fn before(&mut self, part: &str, text: String) {
        self.push(self.place(part), 0, text);
    }

    /// Puts a text in right behind a part of the body.
    pub(super) fn behind(&mut self, part: &str, text: String) {
        self.push(self.place(part) + part.len(), 0, text);
    }

    /// Adds values, which are joined by commas, at the end of a list.
    pub(super) fn append(&mut self, list: &str, values: &str) {
        match walk::elements(list).last() {
            Some(last) => self.behind(last, format!(",{values}")),
            None => self.push(self.place(list) + 1, 0, values.to_owned()),
        }
    }

    /// Sets a member of an object that is part of the body; `keys` are its spellings, the usual
    /// one first.
    pub(super) fn set_member(&mut self, object: &str, keys: &[&str], value: &str) {
        let known = |written: &str| keys.iter().any(|key| walk::is_key(written, key));
        let members = walk::members(object);
        match members.filter(|(written, _)| known(written)).last() {
            Some((_, old)) => self.replace(old, value.to_owned()),
            None => {
                let key = keys.first().copied().unwrap_or_default();
                match walk::members(object).last() {
                    Some((_, last)) => self.behind(last, format!(",\"{key}\":{value}")),
                    None => self.push(self.place(object) + 1, 0, format!("\"{key}\":{value}")),
                }
            }
        }
    }

    /// Adds a member to the outermost object.
    pub(super) fn add(&mut self, key: &str, value: &str) {
        self.added.push_str(&format!(",\"{key}\":{value}"));
    }

    fn push(&mut self, at: usize, replaced: usize, text: String) {
        self.patches.push(Patch { at, replaced, text });
    }

    /// Where a part of the body begins.
    fn place(&self, part: &str) -> usize {
        let place = part.as_ptr().addr().wrapping_sub(self.body.as_ptr().addr());
        debug_assert!(place + part.len() <= self.body.len(), "it is no part of the body");
        place
    }

    /// The changed body.
    pub(super) fn apply(mut self) -> Vec<u8> {
        self.add_members();
        self.patches.sort_by_key(|patch| patch.at);
        let more: usize = self.patches.iter().map(|patch| patch.text.len()).sum();
        let mut edited = Vec::with_capacity(self.body.len() + more);
        let mut from = 0;
        for Patch { at, replaced, text } in &self.patches {
            edited.extend_from_slice(self.body.get(from..*at).unwrap_or_default());
            edited.extend_from_slice(text.as_bytes());
            from = at + replaced;
        }
        edited.extend_from_slice(self.body.get(from..).unwrap_or_default());
        edited
    }

    /// Puts the added members behind the last one of the outermost object.
    fn add_members(&mut self) {
        let added = std::mem::take(&mut self.added);
        let inside = self.body.trim_ascii_end().strip_suffix(b"}").map(<[u8]>::trim_ascii_end);
        let Some(inside) = inside.filter(|_| !added.is_empty()) else { return };
        let is_empty = inside.last() == Some(&b'{');
        let text = if is_empty { added[1..].to_owned() } else { added };
        self.push(inside.len(), 0, text);
    }
}
