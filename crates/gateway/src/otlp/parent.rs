//! The trace that a client brings along: the headers `traceparent` and `tracestate`.

use http::HeaderMap;

/// Longest `tracestate` that is passed on. Bytes.
const MAX_STATE: usize = 512;

/// The client's span that a call belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parent {
    pub(super) trace: u128,
    pub(super) span: u64,
    pub(super) sampled: bool,
    /// What the tracing systems keep with the trace; empty if there is nothing.
    pub(super) state: String,
}

impl Parent {
    /// The parent that the headers name; `None` if they name none, or are wrong.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get("traceparent")?.to_str().ok()?.trim();
        let mut fields = text.split('-');
        let version = hex(fields.next()?, 2)?;
        let trace = hex(fields.next()?, 32)?;
        let span = u64::try_from(hex(fields.next()?, 16)?).ok()?;
        let flags = hex(fields.next()?, 2)?;
        // Later versions may have more fields.
        let ends = fields.next().is_none() || version > 0;
        if version == 0xff || trace == 0 || span == 0 || !ends {
            return None;
        }
        let state = headers.get("tracestate").and_then(|state| state.to_str().ok());
        let state = state.filter(|state| state.len() <= MAX_STATE).unwrap_or("").to_owned();
        Some(Self { trace, span, sampled: flags & 1 == 1, state })
    }
}

/// A number of so many digits, in lower case.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let fits = text.len() == digits && text.bytes().all(digit);
    fits.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::Parent;

    #[test]
    fn the_clients_trace_is_read() {
        let check = |text: &str, expected: Option<(u128, u64, bool)>| {
            let mut headers = HeaderMap::new();
            headers.insert("traceparent", HeaderValue::from_str(text).unwrap());
            headers.insert("tracestate", HeaderValue::from_static("a=1"));
            let found = Parent::of(&headers);
            assert!(found.iter().all(|parent| parent.state == "a=1"));
            let found = found.map(|parent| (parent.trace, parent.span, parent.sampled));
            assert_eq!(found, expected, "{text}");
        };
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let read = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c;
        let span = 0xb7ad_6b71_6920_3331;
        check(&format!("00-{trace}-b7ad6b7169203331-01"), Some((read, span, true)));
        check(&format!("00-{trace}-b7ad6b7169203331-00"), Some((read, span, false)));
        check(&format!("cc-{trace}-b7ad6b7169203331-03-more"), Some((read, span, true)));
        check(&format!("00-{trace}-b7ad6b7169203331-01-more"), None);
        check(&format!("ff-{trace}-b7ad6b7169203331-01"), None);
        check(&format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)), None);
        check(&format!("00-{trace}-0000000000000000-01"), None);
        check(&format!("00-{}-b7ad6b7169203331-01", trace.to_uppercase()), None);
        check(&format!("00-{trace}-b7ad6b716920333-01"), None);
        check("", None);
    }
}
