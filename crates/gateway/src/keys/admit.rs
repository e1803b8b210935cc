//! Who may come in.

use std::sync::Arc;

use http::{Method, StatusCode, request};
use steersman_wire::{ErrorKind, Format};

use super::presented::{Presented, take};
use super::{Key, Ring};
use crate::answer::Refusal;
use crate::api::decode;
use crate::config::Keys;
use crate::route::{Route, Target, split_version};

/// Takes the virtual key out of a request and says whose it is; `None` if it needs none.
///
/// # Errors
/// Why it may not come in. Its head holds no virtual key any more in any case.
pub(crate) async fn admit(
    keys: Keys,
    ring: Option<&Ring>,
    head: &mut request::Parts,
    target: (Route<'_>, Format),
    now_ms: u64,
) -> Result<Option<Arc<Key>>, Refusal> {
    let (route, format) = target;
    let presented = take(&mut head.headers, &mut head.uri);
    let secret = match (keys, presented) {
        (Keys::Off | Keys::Optional, Presented::None) => return Ok(None),
        (Keys::Off, _) => {
            return Err(unauthorized(format, "keys_off", "virtual keys are switched off here"));
        }
        (Keys::Required, Presented::None) => {
            let why = "a virtual key is needed, where the client puts its API key; who runs this \
                       gateway makes one with `steersman keys create`";
            return Err(unauthorized(format, "key_missing", why));
        }
        (_, Presented::Several) => {
            let why = "the request has two different virtual keys";
            return Err(unauthorized(format, "key_unclear", why));
        }
        (_, Presented::One(secret)) => secret,
    };
    let found = match ring {
        Some(ring) => ring.find(&secret.hash()).await.map_err(|_| unavailable())?,
        None => return Err(unavailable()),
    };
    let unknown = || unauthorized(format, "key_unknown", "this virtual key is not known");
    let key = found.ok_or_else(unknown)?;
    let name = &key.name;
    if key.revoked_ms.is_some() {
        let why = format!("the virtual key `{name}` was revoked");
        return Err(unauthorized(format, "key_revoked", &why));
    }
    if key.expires_ms.is_some_and(|expires_ms| expires_ms <= now_ms) {
        let why = format!("the virtual key `{name}` has expired");
        return Err(unauthorized(format, "key_expired", &why));
    }
    let Some(grant) = &key.grant else {
        let why = format!("the virtual key `{name}` has limits that this version does not know");
        return Err(unauthorized(format, "key_unclear", &why));
    };
    if !grant.any_path && !is_usual(&route, &head.method) {
        let why = format!(
            "the virtual key `{name}` is for calls of models only; `--any-path` makes keys for \
             everything a model server offers"
        );
        return Err(forbidden(format, "path_not_allowed", why));
    }
    Ok(Some(key))
}

/// Whether this is a call of a model, or what agents ask beside it that costs nothing.
fn is_usual(route: &Route<'_>, method: &Method) -> bool {
    if matches!(route.target, Target::Model(_)) {
        return true;
    }
    let (_, rest) = split_version(route.path);
    // What climbs up again is no path of models, though it begins as one.
    let climbs = decode(rest).is_none_or(|path| path.contains("..") || path.contains('\\'));
    let of_models = !climbs && (rest == "/models" || rest.starts_with("/models/"));
    match *method {
        Method::HEAD => true,
        Method::GET => of_models,
        Method::POST => {
            rest == "/messages/count_tokens" || (of_models && rest.ends_with(":countTokens"))
        }
        _ => false,
    }
}

fn unauthorized(format: Format, code: &'static str, why: &str) -> Refusal {
    Refusal::final_of(format.key_status(), code, ErrorKind::Authentication, why)
}

/// A refusal of a request whose key is right and does not allow it.
pub(crate) fn forbidden(format: Format, code: &'static str, why: impl Into<String>) -> Refusal {
    Refusal::final_of(format.stop_status(), code, ErrorKind::Permission, why)
}

fn unavailable() -> Refusal {
    let why = "it cannot be looked up whose key this is: the store is not available";
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "keys_unavailable", why)
}
