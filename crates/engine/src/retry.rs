//! Retries of failed model calls (document E).

/// Words after which a number is no status code.
const COUNTED: &[&str] = &["column", "id", "line", "lines", "port", "step", "took"];

/// Words that announce a status code.
const LABELS: &[&str] = &["code", "error", "http", "response", "status", "statuscode"];

/// A number of three digits that stands alone in a text and may be a status code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatusNumber {
    pub(crate) number: u16,
    /// Whether it begins the text or a word such as `status` stands before it.
    pub(crate) announced: bool,
}

/// The status codes that a text may name; line numbers, ports and sizes are left out.
pub(crate) fn status_numbers(text: &str) -> impl Iterator<Item = StatusNumber> {
    let separates = |c: char| c.is_whitespace() || "()[]{}<>\"'`,;=|/\u{2014}".contains(c);
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let mut before = "";
    let words = if has_digit { text } else { "" }.split(separates).filter(|word| !word.is_empty());
    words.filter_map(move |word| {
        let previous = core::mem::replace(&mut before, word);
        let bare = word.trim_end_matches(['.', ':', '!', '?']);
        let (label, digits) = bare.rsplit_once(':').unwrap_or(("", bare));
        let plain = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let labelled = is_in(LABELS, label);
        if !plain || !(label.is_empty() || labelled) || is_in(COUNTED, previous) {
            return None;
        }
        let told = is_in(LABELS, previous.trim_end_matches(':')) || previous.starts_with("HTTP");
        let announced = labelled || told || previous.is_empty();
        Some(StatusNumber { number: digits.parse().ok()?, announced })
    })
}

fn is_in(list: &[&str], word: &str) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Stub.
#[must_use]
pub fn should_retry(_s: Option<crate::StopReason>, _f: bool, _st: Option<u16>, _m: &str) -> bool {
    true
}
/// Stub.
#[must_use]
pub fn delay_ms(p: &crate::policy::Retry, a: u32, _r: Option<u64>, _i: &str) -> Option<u64> {
    p.delays_ms.get(a as usize - 1).copied()
}
