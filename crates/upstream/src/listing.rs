//! What models a server has.

use hyper::Method;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, HeaderValue};
use steersman_wire::{Failure, FailureKind, ListedModel};

use crate::deadlines::Timer;
use crate::exchange::{Body, user_agent};
use crate::{Client, Deadlines, Endpoint, Outgoing};

impl Client {
    /// Asks for the list of a server's models; only the first page of it. Redirects are not
    /// followed. Dropping the future ends the call.
    ///
    /// # Errors
    /// Whatever gives no list.
    pub async fn models(
        &self,
        endpoint: &Endpoint,
        deadlines: Deadlines,
    ) -> Result<Vec<ListedModel>, Failure> {
        let listed = self.list(endpoint, deadlines).await;
        listed.map_err(|failure| endpoint.hidden(failure))
    }

    async fn list(
        &self,
        endpoint: &Endpoint,
        deadlines: Deadlines,
    ) -> Result<Vec<ListedModel>, Failure> {
        let timer = Timer::start(deadlines, false);
        let url = endpoint.format().models_url(endpoint.base_url());
        let mut asked = hyper::Request::builder()
            .method(Method::GET)
            .uri(&url)
            .body(Outgoing::from(Bytes::new()))
            .map_err(|error| Failure::new(FailureKind::Request, &format!("{url}: {error}")))?;
        let headers = asked.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.extend([user_agent()]);
        headers.extend(endpoint.headers());
        let response = self.respond(asked, &timer, endpoint).await?;
        let (head, body) = response.into_parts();
        let status = head.status.as_u16();
        let mut body = Body::new(body, &timer, status);
        if !head.status.is_success() {
            return Err(body.failure(endpoint, &head.headers).await);
        }
        let listed = endpoint.format().models(&body.whole().await?);
        listed.map_err(|error| Failure::of_answer(error, status))
    }
}
