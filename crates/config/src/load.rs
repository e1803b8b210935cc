//! Loading a policy.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value as Json;
use steersman_engine::Policy;
use steersman_engine::policy::Preset;

use crate::asleep;
use crate::error::LoadError;
use crate::finding::{Finding, Notice};
use crate::former;
use crate::judge;
use crate::overlay::{Overlay, is_null};
use crate::source::{Source, Span};
use crate::suggest;
use crate::tree::{self, Node, Value};

/// The largest policy file that is read. Bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// A policy, and what is worth knowing about where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The policy; it has passed [`Policy::validate`].
    pub policy: Policy,
    /// What became of keys of older formats, and keys that have no effect; in the order of the
    /// file.
    pub notices: Vec<Notice>,
    /// Name of the built-in policy over which the file was laid.
    pub base: &'static str,
}

/// Reads a policy file of at most [`MAX_BYTES`].
///
/// # Errors
/// [`LoadError::Unreadable`] if the file cannot be read, else as [`parse`].
pub fn load(path: &Path) -> Result<Loaded, LoadError> {
    let unreadable = |cause| LoadError::Unreadable { path: path.to_owned(), cause };
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    parse_bytes(&path.display().to_string(), &bytes)
}

/// Reads a policy from bytes that should be UTF-8; `name` stands before every finding.
///
/// # Errors
/// As [`parse`].
pub fn parse_bytes(name: &str, bytes: &[u8]) -> Result<Loaded, LoadError> {
    let refuse = |what: String| Err(LoadError::bad(Finding::of_file(name, what)));
    if bytes.len() > MAX_BYTES {
        return refuse(format!("larger than {MAX_BYTES} bytes: a policy is not"));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(name, text),
        Err(error) => {
            let at = error.valid_up_to();
            let line = bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
            refuse(format!("not UTF-8: byte 0x{:02x} in line {line}", bytes[at]))
        }
    }
}

/// Reads a policy from a text of at most [`MAX_BYTES`]; `name` stands before every finding.
///
/// The keys of the text are laid over the built-in policy that its key `base` names, `default` if
/// it names none. An empty text is the policy `default`, with a notice.
///
/// # Errors
/// Everything that is wrong, in the order of the text: what is no YAML, unknown keys, wrong types,
/// values out of bounds.
pub fn parse(name: &str, text: &str) -> Result<Loaded, LoadError> {
    if text.len() > MAX_BYTES {
        let what = format!("larger than {MAX_BYTES} bytes: a policy is not");
        return Err(LoadError::bad(Finding::of_file(name, what)));
    }
    let source = Source::file(name, text.strip_prefix('\u{feff}').unwrap_or(text));
    let document = tree::read(&source, source.whole()).map_err(LoadError::bad)?;
    let Some(mut root) = document.root.filter(|root| !is_null(root)) else {
        let what = "empty: the policy `default` holds";
        let notice = Finding::notice(&source, Span::default(), "", what);
        return Ok(Loaded { policy: Policy::default(), notices: vec![notice], base: "default" });
    };
    let former = former::translate(&source, &mut root);
    let (base, policy) = base(&root);
    let before = to_json(&policy);
    let mut overlay = Overlay::over(&source, before.clone());
    overlay.found.extend(document.found);
    overlay.found.extend(former.errors);
    overlay.lay(&root);
    let policy = judged(&source, &mut overlay)?;
    let mut notices = former.notices;
    notices.extend(asleep::notices(&source, &before, &policy, &overlay));
    notices.sort_by_key(Finding::order);
    Ok(Loaded { policy, notices, base })
}

/// The policy that an overlay makes, once it has passed the check.
pub(crate) fn judged(
    source: &Source<'_>,
    overlay: &mut Overlay<'_, '_>,
) -> Result<Policy, LoadError> {
    let json = std::mem::take(&mut overlay.json);
    match serde_json::from_value::<Policy>(json) {
        Ok(policy) => {
            let judged = judge::findings(source, &policy, overlay);
            overlay.found.extend(judged);
            if overlay.found.is_empty() {
                return Ok(policy);
            }
        }
        // Only a shape that this crate does not know can come here without a finding.
        Err(error) if overlay.found.is_empty() => {
            overlay.found.add(|| Finding::of_file(source.name, error.to_string()));
        }
        Err(_) => {}
    }
    Err(LoadError::bad(std::mem::take(&mut overlay.found)))
}

/// The policy that the file starts from: `base`, with the numbers of `tests.preset`. A name that is
/// not known counts as none: it is refused where the key is read.
fn base(root: &Node) -> (&'static str, Policy) {
    let named = root.key("base").and_then(|entry| text(&entry.node));
    let name = Policy::BUILT_IN.iter().find(|name| Some(**name) == named).unwrap_or(&"default");
    let policy = Policy::built_in(name).unwrap_or_default();
    (*name, with_preset(policy, root))
}

/// The policy with the numbers of the preset that the file names under `tests`; it keeps its name.
pub(crate) fn with_preset(policy: Policy, root: &Node) -> Policy {
    let preset = root.key("tests").and_then(|tests| tests.node.key("preset"));
    let preset = preset.and_then(|entry| text(&entry.node));
    match preset.and_then(|name| serde_json::from_value::<Preset>(name.into()).ok()) {
        Some(preset) => {
            let name = policy.name.clone();
            Policy { name, ..policy.with_preset(preset) }
        }
        None => policy,
    }
}

fn text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar { text, .. } => Some(text),
        _ => None,
    }
}

/// The policy as JSON.
pub(crate) fn to_json(policy: &Policy) -> Json {
    // A policy is plain data; serialising it cannot fail.
    serde_json::to_value(policy).unwrap_or_default()
}

/// The policy of a name: a built-in one, else the file of that path. A file that is called like a
/// built-in policy is reached by `./name`.
///
/// # Errors
/// [`LoadError::Unknown`] if there is neither, else as [`load`].
pub fn resolve(name_or_path: &str) -> Result<Loaded, LoadError> {
    if let Some(&name) = Policy::BUILT_IN.iter().find(|name| **name == name_or_path) {
        let policy = Policy::built_in(name).unwrap_or_default();
        return Ok(Loaded { policy, notices: vec![], base: name });
    }
    let path = Path::new(name_or_path);
    if path.exists() {
        return load(path);
    }
    let what = "neither a file nor a built-in policy";
    let mut finding = Finding::of_file(name_or_path, what);
    if let Some(near) = suggest::nearest(name_or_path, Policy::BUILT_IN.iter().copied()) {
        finding = finding.with_help(format!("did you mean `{near}`?"));
    }
    let known = Policy::BUILT_IN.join(", ");
    let finding = finding.with_help(format!("built-in policies: {known}"));
    Err(LoadError::Unknown(Box::new(finding)))
}
