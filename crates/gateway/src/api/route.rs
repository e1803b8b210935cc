//! What the API has: one table that requests are matched against and the document is made from.

use http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use steersman_store::SessionId;
use steersman_timeline::Timeline;

use super::analytics::Analytics;
use super::mark::{Marked, NewMark};
use super::query::{Param, Takes};
use super::replay::Replayed;
use super::types::{Entries, Event, SessionDetail, SessionList, Taken};
use crate::control::Control;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Sessions,
    Session,
    Entries,
    Timeline,
    Control,
    Mark,
    Replay,
    Analytics,
    Events,
    Document,
    Metrics,
}

/// What an answer is.
#[derive(Clone, Copy)]
pub(super) enum Gives {
    /// JSON of this schema.
    Json(fn(&mut SchemaGenerator) -> Schema),
    /// Messages of this schema over WebSocket.
    Messages(fn(&mut SchemaGenerator) -> Schema),
    /// A JSON document of another standard.
    Document,
    /// Plain text.
    Text,
}

/// What a request brings.
#[derive(Clone, Copy)]
pub(super) enum Body {
    /// JSON of this schema.
    Json(fn(&mut SchemaGenerator) -> Schema),
    /// Bytes as they are.
    Bytes,
}

/// One operation.
pub(super) struct Route {
    pub(super) operation: Operation,
    pub(super) method: Method,
    /// Segments; `{id}` is a session.
    pub(super) path: &'static str,
    pub(super) about: &'static str,
    pub(super) params: &'static [Param],
    pub(super) takes: Option<Body>,
    pub(super) gives: Gives,
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Most sessions of one answer.
pub(super) const MAX_SESSIONS: u64 = 500;
/// Most entries of one answer.
pub(super) const MAX_ENTRIES: u64 = 1000;
/// Most turns of one answer.
pub(super) const MAX_TURNS: u64 = 2000;
/// The policies that recorded runs can be judged under.
const POLICIES: [&str; 5] = ["default", "classic", "aggressive", "standard", "lenient"];

const AFTER: Param = Param {
    name: "after",
    about: "Only entries after this number. Default: 0.",
    takes: Takes::Number { min: 0, max: u64::MAX },
};

pub(super) static ROUTES: [Route; 11] = [
    Route {
        operation: Operation::Sessions,
        method: Method::GET,
        path: "/api/sessions",
        about: "List sessions, the latest first.",
        params: &[
            Param {
                name: "text",
                about: "Only sessions whose id, task, client or model has this in it; case does \
                        not matter.",
                takes: Takes::Text { max: 200 },
            },
            Param {
                name: "state",
                about: "Only sessions in this state: `open`, `forced`, `capped`.",
                takes: Takes::Text { max: 100 },
            },
            Param {
                name: "limit",
                about: "At most that many. Default: 50.",
                takes: Takes::Number { min: 1, max: MAX_SESSIONS },
            },
            Param {
                name: "cursor",
                about: "`next` of the answer before: goes on after it.",
                takes: Takes::Text { max: 100 },
            },
        ],
        takes: None,
        gives: Gives::Json(of::<SessionList>),
    },
    Route {
        operation: Operation::Session,
        method: Method::GET,
        path: "/api/sessions/{id}",
        about: "Show a session and how it stands.",
        params: &[],
        takes: None,
        gives: Gives::Json(of::<SessionDetail>),
    },
    Route {
        operation: Operation::Entries,
        method: Method::GET,
        path: "/api/sessions/{id}/entries",
        about: "Tell what happened in a session, in order.",
        params: &[
            AFTER,
            Param {
                name: "limit",
                about: "At most that many. Default: 200.",
                takes: Takes::Number { min: 1, max: MAX_ENTRIES },
            },
        ],
        takes: None,
        gives: Gives::Json(of::<Entries>),
    },
    Route {
        operation: Operation::Timeline,
        method: Method::GET,
        path: "/api/sessions/{id}/timeline",
        about: "Tell a session turn by turn.",
        params: &[
            Param {
                name: "after_turn",
                about: "Only turns after this number. Default: 0.",
                takes: Takes::Number { min: 0, max: u32::MAX as u64 },
            },
            Param {
                name: "limit",
                about: "At most that many turns. Default: 500.",
                takes: Takes::Number { min: 1, max: MAX_TURNS },
            },
        ],
        takes: None,
        gives: Gives::Json(of::<Timeline>),
    },
    Route {
        operation: Operation::Mark,
        method: Method::POST,
        path: "/api/sessions/{id}/marks",
        about: "Say whether an intervention helped. The header `x-steersman-who` says who does.",
        params: &[],
        takes: Some(Body::Json(of::<NewMark>)),
        gives: Gives::Json(of::<Marked>),
    },
    Route {
        operation: Operation::Replay,
        method: Method::POST,
        path: "/api/replay",
        about: "Judge a file of recorded runs, in any format that is read, also compressed, of at \
                most 64 MiB.",
        params: &[
            Param {
                name: "name",
                about: "The file's name: runs without an id are called after it.",
                takes: Takes::Text { max: 200 },
            },
            Param {
                name: "run",
                about: "The id of the run to tell. Default: the first.",
                takes: Takes::Text { max: 400 },
            },
            Param {
                name: "policy",
                about: "The built-in policy that decides. Default: the gateway's own.",
                takes: Takes::Word(&POLICIES),
            },
        ],
        takes: Some(Body::Bytes),
        gives: Gives::Json(of::<Replayed>),
    },
    Route {
        operation: Operation::Control,
        method: Method::POST,
        path: "/api/sessions/{id}/control",
        about: "Take the helm of an open session. The header `x-steersman-who` says who does. A \
                session of the gateway does it with its next request, one of a run before its \
                next step; `start_over` is for runs.",
        params: &[],
        takes: Some(Body::Json(of::<Control>)),
        gives: Gives::Json(of::<Taken>),
    },
    Route {
        operation: Operation::Analytics,
        method: Method::GET,
        path: "/api/analytics",
        about: "Sum up decisions, what followed them, endings and tokens over time.",
        params: &[
            Param {
                name: "since_ms",
                about: "From then on, in milliseconds since 1970. Default: a day before the end.",
                takes: Takes::Number { min: 0, max: u64::MAX },
            },
            Param {
                name: "until_ms",
                about: "Until then, in milliseconds since 1970. Default: now.",
                takes: Takes::Number { min: 0, max: u64::MAX },
            },
            Param {
                name: "bucket",
                about: "How long a bucket is; at most 1,000 fit into the time. Default: `hour`.",
                takes: Takes::Word(&["minute", "hour", "day"]),
            },
        ],
        takes: None,
        gives: Gives::Json(of::<Analytics>),
    },
    Route {
        operation: Operation::Events,
        method: Method::GET,
        path: "/api/events",
        about: "Follow what happens over WebSocket, in one session or in all.",
        params: &[
            Param {
                name: "session",
                about: "Only this session. Default: all.",
                takes: Takes::Text { max: 64 },
            },
            Param {
                name: "after",
                about: "With `session`: begins after this entry. Default: with what is new.",
                takes: Takes::Number { min: 0, max: u64::MAX },
            },
            Param {
                name: "since_ms",
                about: "Without `session`: begins with entries of this time, in milliseconds since \
                        1970; some may have been told before. Default: with what is new.",
                takes: Takes::Number { min: 0, max: u64::MAX },
            },
            Param {
                name: "tell",
                about: "`sessions` tells, instead of entries, how each session stands after them; \
                        what happens in quick succession is told once. Only without `session`. \
                        Default: `entries`.",
                takes: Takes::Word(&["entries", "sessions"]),
            },
        ],
        takes: None,
        gives: Gives::Messages(of::<Event>),
    },
    Route {
        operation: Operation::Document,
        method: Method::GET,
        path: "/api/openapi.json",
        about: "This document.",
        params: &[],
        takes: None,
        gives: Gives::Document,
    },
    Route {
        operation: Operation::Metrics,
        method: Method::GET,
        path: "/metrics",
        about: "Figures in the text format of Prometheus.",
        params: &[],
        takes: None,
        gives: Gives::Text,
    },
];

/// Why a request leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Astray {
    /// There is no such path.
    Path,
    /// The path is there, for these methods.
    Method(String),
    /// What stands for a session cannot be one; why.
    Session(String),
}

/// The operation and the session in the path.
pub(super) fn find(
    method: &Method,
    path: &str,
) -> Result<(&'static Route, Option<SessionId>), Astray> {
    let mut allowed = Vec::new();
    for route in &ROUTES {
        let Some(id) = matches(route.path, path) else { continue };
        if route.method != *method {
            allowed.push(route.method.as_str());
            continue;
        }
        let id = id.map(SessionId::new).transpose();
        return Ok((route, id.map_err(|error| Astray::Session(error.to_string()))?));
    }
    Err(if allowed.is_empty() { Astray::Path } else { Astray::Method(allowed.join(", ")) })
}

/// Whether the path fits, and what stands in the place of `{id}`.
fn matches<'a>(template: &str, path: &'a str) -> Option<Option<&'a str>> {
    let (mut wanted, mut found) = (template.split('/'), path.split('/'));
    let mut id = None;
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return Some(id),
            (Some("{id}"), Some(given)) => id = Some(given),
            (Some(wanted), Some(given)) if wanted == given => {}
            _ => return None,
        }
    }
}

/// Whether a path is the API's to answer, rather than a model server's.
#[must_use]
pub fn is_ours(path: &str) -> bool {
    path == "/metrics" || path == "/api" || path.starts_with("/api/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_operations() {
        let found = |method: Method, path: &str| {
            find(&method, path).map(|(route, id)| (route.operation, id.map(|id| id.to_string())))
        };
        let id = Some("gw-1".to_owned());
        let get = Method::GET;
        assert_eq!(found(get.clone(), "/api/sessions"), Ok((Operation::Sessions, None)));
        assert_eq!(found(get.clone(), "/api/sessions/gw-1"), Ok((Operation::Session, id.clone())));
        let control = found(Method::POST, "/api/sessions/gw-1/control");
        assert_eq!(control, Ok((Operation::Control, id)));
        let wrong = found(get.clone(), "/api/sessions/gw-1/control");
        assert_eq!(wrong, Err(Astray::Method("POST".to_owned())));
        for path in ["/api", "/api/", "/api/sessions/", "/api/sessions/a/b/c", "/api/Sessions"] {
            let fails = matches!(found(get.clone(), path), Err(Astray::Path | Astray::Session(_)));
            assert!(fails, "{path}");
        }
        let odd = found(get, "/api/sessions/..%2f");
        assert!(matches!(odd, Err(Astray::Session(_))), "{odd:?}");
    }

    #[test]
    fn model_servers_keep_their_paths() {
        for (path, ours) in [("/metrics", true), ("/api/x", true), ("/apis", false), ("/", false)] {
            assert_eq!(is_ours(path), ours, "{path}");
        }
    }
}
