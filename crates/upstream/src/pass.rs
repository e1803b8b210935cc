//! Requests of others, passed on as they are.

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};

use crate::Client;
use crate::client::SendError;
use crate::exchange::root_cause;

/// The body of a request.
#[derive(Debug)]
pub enum Outgoing {
    /// Bytes that are there; `None` once they were sent. They can be sent again if a pooled
    /// connection turns out to be dead.
    Whole(Option<Bytes>),
    /// A body that is still coming in. It is read as fast as it can be sent.
    Stream(Incoming),
}

impl From<Bytes> for Outgoing {
    fn from(bytes: Bytes) -> Self {
        Self::Whole((!bytes.is_empty()).then_some(bytes))
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Stream(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Stream(body) => body.size_hint(),
        }
    }
}

/// Why no response came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassError {
    /// https cannot be spoken here.
    #[error(
        "this machine has no certificate authorities; install ca-certificates or set SSL_CERT_FILE"
    )]
    NoAuthorities,
    /// The connection did not stand; the innermost cause.
    #[error("no connection: {0}")]
    NoConnection(String),
    /// The connection broke; the innermost cause.
    #[error("the connection closed before an answer began: {0}")]
    Broken(String),
}

impl Client {
    /// Sends a request as it is and gives the response as it comes. Its URI is absolute; `Host` is
    /// set from it if there is none. There are no deadlines: dropping the future ends the call, and
    /// so does dropping the response's body.
    ///
    /// # Errors
    /// If no response came. The message holds no part of the request.
    pub async fn pass(&self, request: Request<Outgoing>) -> Result<Response<Incoming>, PassError> {
        self.request(request).await.map_err(|error| match error {
            SendError::NoAuthorities => PassError::NoAuthorities,
            SendError::Broken(error) if error.is_connect() => {
                PassError::NoConnection(root_cause(&error))
            }
            SendError::Broken(error) => PassError::Broken(root_cause(&error)),
        })
    }
}
