//! Whose turn a request is: names that clients send.

use std::borrow::Cow;

use http::HeaderMap;

use crate::client::Client;

/// Longest name that is believed, in bytes; a longer one is no name.
pub const MAX_NAME: usize = 255;
/// Shortest name in a header that we do not know, in bytes.
const MIN_VENDOR_NAME: usize = 8;

/// What a request tells about its session beside its headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told<'a> {
    /// The part of the path behind `/s/`.
    pub prefix: Option<&'a str>,
    /// `thread_id` of Codex's client metadata.
    pub thread_id: Option<Cow<'a, str>>,
    /// `prompt_cache_key`.
    pub prompt_cache_key: Option<Cow<'a, str>>,
    /// `metadata.user_id` of Anthropic's format.
    pub user_id: Option<Cow<'a, str>>,
    /// The conversation that the server keeps (Responses).
    pub conversation: Option<Cow<'a, str>>,
}

/// The name a client gives to a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Named {
    /// The name; of a sub-agent that shares its parent's, with its own behind a slash.
    pub name: String,
    /// The session it works for; `None` for an agent that works for a person.
    pub parent: Option<String>,
    /// Where the name was found, for the journal.
    pub source: &'static str,
    /// Whether the name is that of one conversation. One that is not (a cache key may be the whole
    /// program's) only narrows where the conversation is looked for.
    pub is_exact: bool,
}

impl Named {
    fn exact(source: &'static str, name: &str) -> Self {
        Self { name: name.to_owned(), parent: None, source, is_exact: true }
    }

    fn below(self, parent: &str) -> Self {
        Self { parent: Some(parent.to_owned()), ..self }
    }
}

/// The session's name; `None` if the client sends none. The first that is found wins, ours before
/// those of clients.
#[must_use]
pub fn named(client: Client, headers: &HeaderMap, told: &Told<'_>) -> Option<Named> {
    let header = |name: &str| text(headers, name);
    if let Some(name) = header("x-steersman-session").or(told.prefix.filter(|it| is_name(it))) {
        let mut named = Named::exact("steersman", name);
        named.parent = header("x-steersman-parent").map(str::to_owned);
        return Some(named);
    }
    if let Some(session) = header("x-claude-code-session-id") {
        return Some(claude_code(headers, session));
    }
    if let Some(thread) = header("thread-id").or(told.thread_id.as_deref().filter(|it| is_name(it)))
    {
        let named = Named::exact("thread-id", thread);
        let parent = header("x-codex-parent-thread-id");
        return Some(match parent {
            Some(parent) => named.below(parent),
            None => named,
        });
    }
    if let Some(session) = header("x-session-id") {
        let named = Named::exact("x-session-id", session);
        return Some(match header("x-parent-session-id") {
            Some(parent) => named.below(parent),
            None => named,
        });
    }
    if let Some(session) = vendors(headers) {
        return Some(Named::exact("vendor header", session));
    }
    if let Some(session) = told.user_id.as_deref().and_then(session_of_user) {
        return Some(Named::exact("metadata.user_id", &session));
    }
    if let Some(conversation) = told.conversation.as_deref().filter(|it| is_name(it)) {
        return Some(Named::exact("conversation", conversation));
    }
    let key = told.prompt_cache_key.as_deref().filter(|key| is_name(key))?;
    let is_exact = matches!(client, Client::Codex | Client::OpenCode);
    let name = key.to_owned();
    Some(Named { name, parent: None, source: "prompt_cache_key", is_exact })
}

/// Sub-agents of Claude Code have their parent's session id and an id of their own.
fn claude_code(headers: &HeaderMap, session: &str) -> Named {
    match text(headers, "x-claude-code-agent-id") {
        None => Named::exact("x-claude-code-session-id", session),
        Some(agent) => {
            let parent = match text(headers, "x-claude-code-parent-agent-id") {
                Some(above) => format!("{session}/{above}"),
                None => session.to_owned(),
            };
            Named::exact("x-claude-code-agent-id", &format!("{session}/{agent}")).below(&parent)
        }
    }
}

/// A header `x-<vendor>-session-id`, as several harnesses send one.
fn vendors(headers: &HeaderMap) -> Option<&str> {
    headers.iter().find_map(|(name, value)| {
        let name = name.as_str();
        let vendor = name.strip_prefix("x-")?.strip_suffix("-session-id")?;
        let value = value.to_str().ok()?;
        let fits = value.len() >= MIN_VENDOR_NAME
            && is_name(value)
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        // A parent's id is not the session's.
        (!vendor.contains("parent") && fits).then_some(value)
    })
}

/// `metadata.user_id` holds a session as JSON, or behind `_session_`.
fn session_of_user(user: &str) -> Option<String> {
    if user.starts_with('{') {
        let told: serde_json::Value = serde_json::from_str(user).ok()?;
        let session = told.get("session_id")?.as_str()?;
        return is_name(session).then(|| session.to_owned());
    }
    let (_, session) = user.rsplit_once("_session_")?;
    is_name(session).then(|| session.to_owned())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().filter(|value| is_name(value))
}

fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= MAX_NAME && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::{Named, Told, named};
    use crate::client::Client;

    fn told() -> Told<'static> {
        Told::default()
    }

    /// Name, parent, and whether the name is one conversation's.
    fn check(
        headers: &[(&'static str, &'static str)],
        told: &Told<'_>,
        expected: Option<(&str, Option<&str>, bool)>,
    ) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let found = named(Client::of(&map), &map, told);
        let found = found.as_ref().map(|Named { name, parent, is_exact, .. }| {
            (name.as_str(), parent.as_deref(), *is_exact)
        });
        assert_eq!(found, expected, "{headers:?}");
    }

    #[test]
    fn names_are_found_where_clients_put_them() {
        check(&[], &told(), None);
        check(
            &[("x-steersman-session", "mine"), ("x-session-id", "other")],
            &told(),
            Some(("mine", None, true)),
        );
        check(&[], &Told { prefix: Some("p"), ..told() }, Some(("p", None, true)));
        check(&[("x-claude-code-session-id", "s")], &told(), Some(("s", None, true)));
        check(
            &[("x-claude-code-session-id", "s"), ("x-claude-code-agent-id", "a1")],
            &told(),
            Some(("s/a1", Some("s"), true)),
        );
        check(
            &[
                ("x-claude-code-session-id", "s"),
                ("x-claude-code-agent-id", "a2"),
                ("x-claude-code-parent-agent-id", "a1"),
            ],
            &told(),
            Some(("s/a2", Some("s/a1"), true)),
        );
        check(
            &[("session-id", "root"), ("thread-id", "t2"), ("x-codex-parent-thread-id", "t1")],
            &told(),
            Some(("t2", Some("t1"), true)),
        );
        check(
            &[],
            &Told { thread_id: Some("t".into()), prompt_cache_key: Some("k".into()), ..told() },
            Some(("t", None, true)),
        );
        check(
            &[("x-session-id", "ses_1"), ("x-parent-session-id", "ses_0")],
            &told(),
            Some(("ses_1", Some("ses_0"), true)),
        );
        check(&[("x-acme-session-id", "abcd-1234")], &told(), Some(("abcd-1234", None, true)));
        check(&[("x-acme-session-id", "short")], &told(), None);
        check(&[("x-acme-parent-session-id", "abcd-1234")], &told(), None);
    }

    #[test]
    fn names_are_found_in_fields() {
        let user = r#"{"device_id":"d","account_uuid":"","session_id":"s"}"#;
        let in_user = |user: &'static str| Told { user_id: Some(user.into()), ..told() };
        check(&[], &in_user(user), Some(("s", None, true)));
        check(&[], &in_user("user_x_account__session_9f"), Some(("9f", None, true)));
        check(&[], &in_user("somebody"), None);
        let kept = Told {
            conversation: Some("conv_1".into()),
            prompt_cache_key: Some("k".into()),
            ..told()
        };
        check(&[], &kept, Some(("conv_1", None, true)));
        check(&[], &in_user("{\"session_id\":7}"), None);
        check(&[], &in_user("{broken"), None);
        let key = Told { prompt_cache_key: Some("k".into()), ..told() };
        check(&[], &key, Some(("k", None, false)));
        check(&[("user-agent", "opencode/1")], &key, Some(("k", None, true)));
        let long = "x".repeat(300);
        check(&[], &Told { prompt_cache_key: Some(long.into()), ..told() }, None);
        check(&[("x-session-id", " ")], &told(), None);
    }
}
