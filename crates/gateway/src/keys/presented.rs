//! Takes virtual keys out of a request, wherever a client puts its key. Pure.

use http::header::{AUTHORIZATION, HeaderName};
use http::uri::PathAndQuery;
use http::{HeaderMap, Uri};

use super::secret::{PREFIX, Secret};
use crate::api::decode;

/// Where clients put keys; the last one is for who sends a key of its own as well.
const HEADERS: [HeaderName; 5] = [
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-steersman-key"),
];

/// What was found.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Presented {
    /// No virtual key.
    None,
    /// One, maybe in several places.
    One(Secret),
    /// Different ones: nobody can say which is meant.
    Several,
}

/// Takes all virtual keys out of headers and query, so that none goes on. Headers that hold one in
/// a place where no key belongs are removed as well, and not believed.
pub(crate) fn take(headers: &mut HeaderMap, uri: &mut Uri) -> Presented {
    let mut found = Vec::new();
    let mut holding = Vec::new();
    for (name, value) in &*headers {
        let text = String::from_utf8_lossy(value.as_bytes());
        let Some(secret) = Secret::find(&text) else { continue };
        holding.push(name.clone());
        if HEADERS.contains(name) {
            found.push(secret);
        }
    }
    for name in holding {
        headers.remove(name);
    }
    if let Some(query) = uri.query()
        && let Some((rest, secrets)) = out_of_query(query)
    {
        found.extend(secrets);
        *uri = with_query(uri, &rest);
    }
    found.dedup();
    match found.len() {
        0 => Presented::None,
        1 => found.pop().map_or(Presented::None, Presented::One),
        _ => Presented::Several,
    }
}

/// The query without virtual keys, and those that stood at `key`; `None` if there are none in it.
fn out_of_query(query: &str) -> Option<(String, Vec<Secret>)> {
    let decoded = |pair: &str| decode(pair).unwrap_or_else(|| pair.to_owned());
    if !decoded(query).contains(PREFIX) {
        return None;
    }
    let (holding, rest): (Vec<&str>, Vec<&str>) =
        query.split('&').partition(|pair| decoded(pair).contains(PREFIX));
    let at_key = holding.into_iter().filter(|pair| pair.starts_with("key="));
    let secrets = at_key.filter_map(|pair| Secret::find(&decoded(pair))).collect();
    Some((rest.join("&"), secrets))
}

fn with_query(uri: &Uri, query: &str) -> Uri {
    let mut parts = uri.clone().into_parts();
    let path = uri.path();
    let text = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
    // Parts of what was an address are one: the fallback has no query at all.
    parts.path_and_query =
        Some(PathAndQuery::try_from(text).unwrap_or(PathAndQuery::from_static("/")));
    Uri::from_parts(parts).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Headers as `name: value; name: value`, and the address; what is found, and what stays.
    fn check(headers: &str, uri: &str, expected: (&str, &str, &str)) {
        let mut map = HeaderMap::new();
        for pair in headers.split("; ").filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once(": ").unwrap();
            map.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        let mut address: Uri = uri.parse().unwrap();
        let found = match take(&mut map, &mut address) {
            Presented::None => "none".to_owned(),
            Presented::One(secret) => secret.reveal().to_owned(),
            Presented::Several => "several".to_owned(),
        };
        let left: Vec<String> = map
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        let found = (found.as_str(), left.join("; "), address.to_string());
        let expected = (expected.0, expected.1.to_owned(), expected.2.to_owned());
        assert_eq!(found, expected, "{headers} {uri}");
    }

    #[test]
    fn keys_are_taken_from_where_clients_put_them() {
        let key = "sk-steersman-a1";
        for name in ["x-api-key", "x-goog-api-key", "api-key", "x-steersman-key"] {
            check(&format!("{name}: {key}; accept: x"), "/v1/x", (key, "accept: x", "/v1/x"));
        }
        check(&format!("authorization: Bearer {key}"), "/x", (key, "", "/x"));
        check(&format!("authorization: bearer  {key}"), "/x", (key, "", "/x"));
        check(&format!("authorization: {key}"), "/x", (key, "", "/x"));
        check("", &format!("/x?alt=sse&key={key}"), (key, "", "/x?alt=sse"));
        check("", &format!("/x?key={key}&alt=sse"), (key, "", "/x?alt=sse"));
        check("", "/x?key=sk%2Dsteersman%2da1", (key, "", "/x"));
        check(&format!("x-api-key: {key}; authorization: Bearer {key}"), "/x", (key, "", "/x"));
        // Who comes with a key of its own as well keeps that one.
        check(
            &format!("x-steersman-key: {key}; authorization: Bearer own"),
            "/x",
            (key, "authorization: Bearer own", "/x"),
        );
    }

    #[test]
    fn other_keys_stay_and_no_virtual_key_does() {
        check(
            "authorization: Bearer own",
            "/x?key=own",
            ("none", "authorization: Bearer own", "/x?key=own"),
        );
        check(
            "x-api-key: sk-steersman-a; authorization: Bearer sk-steersman-b",
            "/x",
            ("several", "", "/x"),
        );
        check("referer: http://h/?key=sk-steersman-a", "/x", ("none", "", "/x"));
        check("", "/x?note=sk-steersman-a&b=1", ("none", "", "/x?b=1"));
        check("", "http://h/x?key=sk-steersman-a", ("sk-steersman-a", "", "http://h/x"));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn nothing_that_is_left_holds_a_key(
            pairs in prop::collection::vec(("[a-z-]{1,12}", "[ -~]{0,12}", any::<bool>()), 0..6),
            query in "[a-z=&%0-9+]{0,40}",
        ) {
            let mut headers = HeaderMap::new();
            for (name, value, holds) in pairs {
                let value = if holds { format!("{value}{PREFIX}00") } else { value };
                if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse()) {
                    headers.append(name, value);
                }
            }
            let mut uri: Uri = format!("/x?{query}&key={PREFIX}1").parse().unwrap();
            take(&mut headers, &mut uri);
            let shown = format!("{headers:?} {uri}");
            prop_assert!(!shown.contains(PREFIX), "{shown}");
        }
    }
}
