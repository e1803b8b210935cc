//! Keys kept out of messages.

/// How the keys of providers begin.
const PREFIXES: &[&str] =
    &["sk-", "sk_", "pk-", "rk-", "AIza", "gsk_", "xai-", "hf_", "nvapi-", "pplx-", "csk-", "ghp_"];

/// Shortest word that is taken for a key, in bytes.
const SHORTEST: usize = 12;

/// The text with everything that looks like a provider's key replaced by `[key]`.
///
/// Servers quote the key they refused ("Incorrect API key provided: sk-…"). This knows the shapes
/// of keys; who knows the key itself replaces it as well.
#[must_use]
pub fn redact(text: &str) -> String {
    let in_key = |c: char| c.is_ascii_alphanumeric() || "-_*.+/=".contains(c);
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    let mut bearer = false;
    while let Some(first) = rest.chars().next() {
        let end = if in_key(first) {
            rest.find(|c| !in_key(c)).unwrap_or(rest.len())
        } else {
            rest.find(in_key).unwrap_or(rest.len())
        };
        let (word, after) = rest.split_at(end);
        let key = bearer || PREFIXES.iter().any(|prefix| word.starts_with(prefix));
        clean.push_str(if key && word.len() >= SHORTEST { "[key]" } else { word });
        if in_key(first) {
            bearer = word.eq_ignore_ascii_case("bearer");
        }
        rest = after;
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_replaced() {
        let cases = [
            (
                "Incorrect API key provided: sk-abc**********wxyz. You",
                "Incorrect API key provided: [key] You",
            ),
            ("bad key 'AIzaSyA-1234567890_x'", "bad key '[key]'"),
            (
                "header Authorization: Bearer abcdefghijklmnop refused",
                "header Authorization: Bearer [key] refused",
            ),
            ("the task sk-1 of sk-short", "the task sk-1 of sk-short"),
            ("", ""),
            ("ärger – no key", "ärger – no key"),
        ];
        for (text, expected) in cases {
            assert_eq!(redact(text), expected);
        }
    }
}
