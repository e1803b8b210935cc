//! One request on its way to the upstream, and the head of the answer on its way back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Response, StatusCode, request, response};
use hyper::body::{Body as _, Incoming};
use steersman_upstream::{Client, Outgoing};
use steersman_wire::{ErrorKind, Format};
use tokio::time::{Duration, Instant, timeout_at};

use crate::answer::{Refusal, keep_alive};
use crate::budget::{Ledger, Meter, Ticket};
use crate::config::{Config, Fail};
use crate::headers;
use crate::keys::{Key, forbidden};
use crate::live::Live;
use crate::question::{Asked, Question, Refused};
use crate::receive::{Held, receive};
use crate::relay::{Again, Body, Patience, Relay};
use crate::route::{Asked as Model, Route};
use crate::seam::{Act, Call, Instead, Plan, Watch};
use crate::steering::header;
use crate::watched::Watched;

/// Says that the gateway failed over a request and let it pass.
const FAILED: HeaderName = HeaderName::from_static("x-steersman-failed");

/// Names the model that was asked in the place of the one that the client asked for.
const FALLBACK: HeaderName = HeaderName::from_static("x-steersman-fallback");

type Announced = Vec<(HeaderName, HeaderValue)>;

/// Passes a request on that is no call of a model; its body goes through as it comes.
pub(crate) async fn pass(
    live: &Live,
    client: &Client,
    route: Route<'_>,
    format: Format,
    mut head: request::Parts,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let mut request_headers = std::mem::take(&mut head.headers);
    headers::forward(&mut request_headers, false);
    let question = question((live, client), &route, format, &head, request_headers, "")?;
    let patience = patience(&question, &live.config);
    let body = if body.is_end_stream() { Outgoing::Whole(None) } else { Outgoing::Stream(body) };
    let answer = question.ask_once(body).await?;
    Ok(relay(answer, Watched::new(None), Vec::new(), patience))
}

/// Where a call comes from.
pub(crate) struct Source<'a> {
    /// What asks for it.
    pub(crate) client: &'a Client,
    /// The connection, counted from 1 since the start.
    pub(crate) connection: u64,
    /// The virtual key; `None` without one.
    pub(crate) key: Option<Arc<Key>>,
    /// Who counts; `None`: nobody.
    pub(crate) ledger: Option<&'a Arc<Ledger>>,
}

impl Source<'_> {
    /// What a call is charged to; `None`: nobody needs to know.
    fn ticket(&self, config: &Config, format: Format) -> Result<Option<Arc<Ticket>>, Refusal> {
        let Some(ledger) = self.ledger else { return Ok(None) };
        if self.key.is_none() && config.budgets.is_none() {
            return Ok(None);
        }
        let key = self.key.as_deref();
        let admitted = ledger.admit(key, &config.budgets, config.soft_percent);
        admitted.map(Some).map_err(|why| {
            let (status, kind) = (format.stop_status(), ErrorKind::GatewayStop);
            Refusal::final_of(status, "budget_used_up", kind, why)
        })
    }
}

/// Carries out a call of a model.
pub(crate) async fn call(
    live: &Live,
    held: &Held,
    from: Source<'_>,
    (route, model): (Route<'_>, Model<'_>),
    (mut head, body): (request::Parts, Incoming),
) -> Result<Response<Body>, Refusal> {
    let (body, _share) = receive(body, &live.config.limits, held).await?;
    if let Some(key) = &from.key {
        key.check_model(model.format, &body, model.model)
            .map_err(|why| forbidden(model.format, "model_not_allowed", why))?;
    }
    let ticket = from.ticket(&live.config, model.format)?;
    let due = Instant::now() + live.config.limits.total_timeout;
    let Plan { act, headers: mut announced, watch } = loop {
        let mut plan = plan(
            live,
            &Call {
                format: model.format,
                session_prefix: route.session,
                headers: &head.headers,
                model_in_path: model.model,
                stream_in_path: model.stream,
                body: &body,
                key: from.key.as_ref().map_or("", |key| &key.name),
                grant: from.key.as_ref().and_then(|key| key.grant.as_ref()),
                ticket: ticket.as_ref(),
                connection: from.connection,
                at_ms: now_ms(),
            },
        )?;
        let Act::Hold(resumed) = &mut plan.act else { break plan };
        timeout_at(due, resumed).await.map_err(|_| Refusal::paused())?;
    };
    if let Some(soft) = ticket.as_ref().and_then(|ticket| ticket.soft()) {
        announced.push(header("x-steersman-budget", soft));
    }
    let watched = Watched::new(watch.or_else(|| {
        let asked = model.model.unwrap_or_default();
        let meter = Meter::new(ticket?, live.config.prices.clone(), asked, model.format);
        Some(Box::new(meter) as Box<dyn Watch>)
    }));
    let (body, touched) = match act {
        Act::Forward => (body, false),
        Act::ForwardBody(body) => (body, true),
        Act::Hold(_) => (body, false),
        Act::Answer(parts, bytes) => return Ok(own(*parts, bytes, announced, watched)),
    };
    let mut request_headers = std::mem::take(&mut head.headers);
    headers::forward(&mut request_headers, watched.is_on());
    // A body that came in chunks goes on with its length.
    if touched || !request_headers.contains_key(CONTENT_LENGTH) {
        request_headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    }
    let version = if model.format == Format::Gemini { "/v1beta" } else { "/v1" };
    let asked =
        question((live, from.client), &route, model.format, &head, request_headers, version);
    let outcome = match asked {
        Ok(question) if watched.is_on() => {
            let patience = patience(&question, &live.config);
            let exchange =
                Exchange { question: Arc::new(question), patience, format: model.format };
            exchange.watch(body, watched, announced.clone()).await
        }
        Ok(question) => {
            let patience = patience(&question, &live.config);
            let answer = question.ask_once(Outgoing::from(body)).await;
            answer.map(|answer| relay(answer, watched, Vec::new(), patience))
        }
        Err(refusal) => Err(refusal),
    };
    // What was decided is told even if the upstream cannot be reached.
    let mut response = outcome.unwrap_or_else(|refusal| refusal.response(model.format));
    announce(response.headers_mut(), announced);
    Ok(response)
}

/// Asks the governor. Its panic is not the client's.
fn plan(live: &Live, call: &Call<'_>) -> Result<Plan, Refusal> {
    let planned = catch_unwind(AssertUnwindSafe(|| live.governor.call(call)));
    match (planned, live.config.fail) {
        (Ok(plan), _) => Ok(plan),
        (Err(_), Fail::Open) => {
            let headers = vec![(FAILED, HeaderValue::from_static("govern"))];
            Ok(Plan { headers, ..Plan::pass() })
        }
        (Err(_), Fail::Closed) => {
            let message = "the gateway failed over this request and is set to fail closed";
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "failed_closed", message))
        }
    }
}

fn question(
    (live, client): (&Live, &Client),
    route: &Route<'_>,
    format: Format,
    head: &request::Parts,
    mut headers: HeaderMap,
    version: &str,
) -> Result<Question, Refusal> {
    let server = live.server(format).ok_or_else(|| Refusal::no_upstream(format))?;
    let uri = server.uri(route.path, head.uri.query(), version).ok_or_else(|| {
        Refusal::new(StatusCode::BAD_REQUEST, "bad_path", "this path cannot be forwarded")
    })?;
    server.set_key(format, &mut headers);
    let limits = &live.config.limits;
    Ok(Question {
        client: client.clone(),
        server: server.name.clone(),
        method: head.method.clone(),
        uri,
        headers,
        first_byte: limits.first_byte_timeout,
        due: Instant::now() + limits.total_timeout,
    })
}

fn patience(question: &Question, config: &Config) -> Patience {
    Patience {
        first_byte_due: Instant::now() + question.first_byte,
        between: config.limits.between_bytes_timeout,
        due: question.due,
    }
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn announce(headers: &mut HeaderMap, announced: Announced) {
    for (name, value) in announced {
        headers.insert(name, value);
    }
}

/// The answer that a governor gives itself.
fn own(
    mut parts: response::Parts,
    bytes: Bytes,
    announced: Announced,
    mut watched: Watched,
) -> Response<Body> {
    parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    announce(&mut parts.headers, announced);
    watched.finish();
    Response::from_parts(parts, Body::whole(bytes))
}

/// The client's response to an answer that streams in.
fn relay(
    answer: Response<Incoming>,
    mut watched: Watched,
    announced: Announced,
    patience: Patience,
) -> Response<Body> {
    let (parts, body) = answer.into_parts();
    let parts = head(parts, &mut watched, announced);
    Response::from_parts(parts, Body::relay(Relay::new(body, None, watched, patience)))
}

/// The client's head to an upstream's.
fn head(upstream: response::Parts, watched: &mut Watched, announced: Announced) -> response::Parts {
    let (mut parts, ()) = Response::new(()).into_parts();
    parts.status = upstream.status;
    parts.headers = upstream.headers;
    let keeps_length = watched.head(parts.status, &parts.headers);
    headers::back(&mut parts.headers, keeps_length);
    announce(&mut parts.headers, announced);
    parts
}

/// A watched exchange with the upstream.
struct Exchange {
    question: Arc<Question>,
    patience: Patience,
    format: Format,
}

impl Exchange {
    /// Asks until there is an answer, or the watch gives up.
    async fn watch(
        mut self,
        mut body: Bytes,
        mut watched: Watched,
        mut announced: Announced,
    ) -> Result<Response<Body>, Refusal> {
        let refused = loop {
            match self.question.ask(body.clone()).await {
                Asked::Answer(answer, begun) => {
                    let (parts, incoming) = answer.into_parts();
                    let parts = head(parts, &mut watched, announced);
                    let kind = parts.headers.get(CONTENT_TYPE);
                    let keep_alive = keep_alive(self.format, kind);
                    let again = Again { question: self.question, keep_alive };
                    let relay = Relay::new(incoming, begun, watched, self.patience);
                    return Ok(Response::from_parts(parts, Body::relay(relay.with_again(again))));
                }
                Asked::Refused(refused) => {
                    let wait = watched.retry(refused.status, &refused.headers, &refused.body);
                    match wait.and_then(|ms| self.moment(ms)) {
                        Some(at) => tokio::time::sleep_until(at).await,
                        None => match self.fall_back(&mut watched, &mut announced) {
                            Some(other) => body = other,
                            None => break refused,
                        },
                    }
                }
            }
            self.patience.first_byte_due = Instant::now() + self.question.first_byte;
        };
        let Refused { status, headers, body, own } = *refused;
        if let Some(own) = own {
            watched.finish();
            return Err(own);
        }
        let (mut parts, ()) = Response::new(()).into_parts();
        parts.status = status.unwrap_or(StatusCode::BAD_GATEWAY);
        parts.headers = headers;
        let parts = head(parts, &mut watched, announced);
        let relay = Relay::of_read(body, watched, self.patience);
        Ok(Response::from_parts(parts, Body::relay(relay)))
    }

    /// Turns to another model, if there is one; what it is asked with.
    fn fall_back(&mut self, watched: &mut Watched, announced: &mut Announced) -> Option<Bytes> {
        let Instead { body, model } = watched.fall_back()?;
        self.question = Arc::new(self.question.of_model(self.format, &model)?);
        announced.push((FALLBACK, HeaderValue::from_str(&model).ok()?));
        Some(body)
    }

    /// The moment in so many milliseconds; `None` if everything must be over by then.
    fn moment(&self, ms: u64) -> Option<Instant> {
        let at = Instant::now().checked_add(Duration::from_millis(ms))?;
        (at < self.question.due).then_some(at)
    }
}
