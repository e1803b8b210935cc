//! Variables in configuration: `${NAME}` and `${NAME:-default}`.

/// Replaces variables by what `look_up` knows of them. `$` alone stands for itself.
///
/// # Errors
/// The variable that is not set and has no default, or the part that is not closed.
pub(crate) fn expand(
    text: &str,
    look_up: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let (inside, left) = after.split_once('}').ok_or_else(|| "a `${` has no `}`".to_owned())?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        match (look_up(name).filter(|value| !value.is_empty()), default) {
            (Some(value), _) => out.push_str(&value),
            (None, Some(default)) => out.push_str(default),
            (None, None) => return Err(format!("the environment variable `{name}` is not set")),
        }
        rest = left;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        let look_up = |name: &str| match name {
            "KEY" => Some("s3 ${X}".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let found = expand(text, &look_up);
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
    }

    #[test]
    fn variables_are_replaced_once() {
        check("a $b }", Ok("a $b }"));
        check("Bearer ${KEY}!", Ok("Bearer s3 ${X}!"));
        check("${NO:-a:-b}${EMPTY:-c}${KEY:-d}", Ok("a:-bcs3 ${X}"));
        check("${NO}", Err("the environment variable `NO` is not set"));
        check("${EMPTY}", Err("the environment variable `EMPTY` is not set"));
        check("x ${KEY", Err("a `${` has no `}`"));
    }
}
