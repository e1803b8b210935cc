//! The dashboard beside the progress of a run.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use hyper::body::Incoming;
use steersman_agent::{Clock, SystemClock};
use steersman_dashboard::{PATH, RunSessions};
use steersman_gateway::api::{Access, Api, Parts, is_ours};
use steersman_notify::{Beside, Later};
use steersman_store::{SessionId, Store};

/// How long a page that is open has to fetch how the run ended.
const LAST_LOOK: Duration = Duration::from_secs(2);
/// How often it is looked whether anybody is still there.
const LOOK: Duration = Duration::from_millis(50);

/// The page and its API, over the sessions of one folder.
pub(super) struct Page {
    api: Api,
    /// Where `/` leads: the session that is driven here.
    home: Option<HeaderValue>,
}

impl Page {
    /// A page at an address for a store and the folder that it lies in.
    pub(super) fn new(
        store: &Arc<dyn Store>,
        folder: &Path,
        id: &SessionId,
        address: SocketAddr,
    ) -> Self {
        let api = Api::new(Parts {
            store: Arc::clone(store),
            runs: Some(Arc::new(RunSessions::new(folder.to_owned()))),
            helm: None,
            figures: Arc::default(),
            journal: Arc::default(),
            access: Access::new(address.ip(), None),
            clock: Arc::new(|| SystemClock.now_ms()),
        });
        Self { api, home: HeaderValue::from_str(&home(id)).ok() }
    }
}

/// Where the page shows a session.
pub(super) fn home(id: &SessionId) -> String {
    format!("{PATH}#/s/{id}")
}

impl Beside for Page {
    fn wants(&self, method: &Method, path: &str, headers: &HeaderMap) -> bool {
        is_ours(path) || steersman_dashboard::answer(method, path, headers).is_some()
    }

    fn answer(&self, request: Request<Incoming>) -> Later<'_, Response<Bytes>> {
        let path = request.uri().path();
        let page = steersman_dashboard::answer(request.method(), path, request.headers());
        let Some(mut page) = page else { return Box::pin(self.api.answer(request)) };
        if let (Some(to), Some(home)) = (page.headers_mut().get_mut(LOCATION), &self.home) {
            *to = home.clone();
        }
        Box::pin(async move { page })
    }

    fn leave(&self) -> Later<'_, ()> {
        Box::pin(async {
            let gone = async {
                while self.api.followers() > 0 {
                    tokio::time::sleep(LOOK).await;
                }
            };
            let _ = tokio::time::timeout(LAST_LOOK, gone).await;
            self.api.close();
        })
    }
}
