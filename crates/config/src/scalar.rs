//! What a plain scalar means: YAML 1.2, and a word about what YAML 1.1 made of it.

/// What a plain scalar is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Meaning {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Switch(bool),
    /// `yes`, `no`, `on` or `off`: switches in YAML 1.1 only.
    OldSwitch(bool),
    /// A whole number.
    Whole(i128),
    /// Any other finite number.
    Number(f64),
    /// A number in a spelling that YAML versions read differently, with the clear spelling if
    /// there is one: `017`, `1_000`.
    UnclearNumber(Option<String>),
    /// Infinite, not a number, or too large to be held.
    NotFinite,
    /// Anything else.
    Text,
}

/// The meaning of a plain scalar's text.
pub(crate) fn meaning(text: &str) -> Meaning {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Meaning::Null,
        "true" | "True" | "TRUE" => return Meaning::Switch(true),
        "false" | "False" | "FALSE" => return Meaning::Switch(false),
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Meaning::OldSwitch(true),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Meaning::OldSwitch(false),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return Meaning::NotFinite;
    }
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Meaning::Text;
    }
    number(text, unsigned)
}

/// The meaning of a text that begins as a number does.
fn number(text: &str, unsigned: &str) -> Meaning {
    let negative = text.starts_with('-');
    let radix = |digits: &str, radix| i128::from_str_radix(digits, radix).map(Meaning::Whole);
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16).unwrap_or(Meaning::Text);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8).unwrap_or(Meaning::Text);
    }
    if unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        let significant = unsigned.trim_start_matches('0');
        if unsigned.len() > 1 && unsigned.starts_with('0') {
            return Meaning::UnclearNumber(None);
        }
        let whole = if significant.is_empty() { Ok(0) } else { significant.parse::<i128>() };
        let sign = if negative { -1 } else { 1 };
        return whole.map_or(Meaning::NotFinite, |whole| Meaning::Whole(sign * whole));
    }
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    let plain: String = text.chars().filter(|&c| c != '_').collect();
    if !plain.chars().all(digits) {
        return Meaning::Text;
    }
    match plain.parse::<f64>() {
        Ok(_) if plain != text => Meaning::UnclearNumber(Some(plain)),
        Ok(value) if value.is_finite() => Meaning::Number(value),
        Ok(_) => Meaning::NotFinite,
        Err(_) => Meaning::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::{Meaning, meaning};

    #[test]
    fn scalars_mean_what_yaml_1_2_says() {
        let cases = [
            ("", Meaning::Null),
            ("~", Meaning::Null),
            ("null", Meaning::Null),
            ("true", Meaning::Switch(true)),
            ("False", Meaning::Switch(false)),
            ("yes", Meaning::OldSwitch(true)),
            ("off", Meaning::OldSwitch(false)),
            ("0", Meaning::Whole(0)),
            ("-0", Meaning::Whole(0)),
            ("+12", Meaning::Whole(12)),
            ("-3", Meaning::Whole(-3)),
            ("0x1F", Meaning::Whole(31)),
            ("0o17", Meaning::Whole(15)),
            ("017", Meaning::UnclearNumber(None)),
            ("1_000", Meaning::UnclearNumber(Some("1000".to_owned()))),
            ("1e3", Meaning::Number(1000.0)),
            (".5", Meaning::Number(0.5)),
            ("3.", Meaning::Number(3.0)),
            ("1e999", Meaning::NotFinite),
            ("999999999999999999999999999999999999999999", Meaning::NotFinite),
            (".inf", Meaning::NotFinite),
            ("-.INF", Meaning::NotFinite),
            (".nan", Meaning::NotFinite),
            ("1.2.3", Meaning::Text),
            ("12:30", Meaning::Text),
            ("2e", Meaning::Text),
            ("0x", Meaning::Text),
            ("5 turns", Meaning::Text),
            (".", Meaning::Text),
            ("inf", Meaning::Text),
            ("act", Meaning::Text),
        ];
        for (text, expected) in cases {
            assert_eq!(meaning(text), expected, "{text:?}");
        }
    }
}
