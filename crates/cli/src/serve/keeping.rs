//! What a gateway keeps and tells: the store, the journal, the governor over it, the API.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use steersman_engine::Policy;
use steersman_gateway::api::{Access, Api, Parts};
use steersman_gateway::figures::{Counted, Figures, Timed};
use steersman_gateway::journal::Journal;
use steersman_gateway::otlp::Tracer;
use steersman_gateway::record::SharedRecorder;
use steersman_gateway::steering::{Clock, Steering};
use steersman_gateway::{Config, Governor};
use steersman_upstream::{Client, Options};

use crate::run::{Place, StoreArgs};

/// What stands behind a gateway that listens.
pub(super) struct Keeping {
    /// Who decides about calls.
    pub(super) governor: Arc<dyn Governor>,
    /// Who answers for it.
    pub(super) api: Api,
    journal: Arc<Journal>,
    tracer: Option<Arc<Tracer>>,
}

impl Keeping {
    /// Opens the store and takes up what was kept in it. Needs a tokio runtime.
    ///
    /// # Errors
    /// The store cannot be used, or a variable for traces is not set; the sentence says why.
    pub(super) fn begin(
        config: &Config,
        policy: Policy,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let place = Place::of(&StoreArgs { folder: config.state_dir.clone() })?;
        let store = place.open()?;
        let clock: Clock = Arc::new(now_ms);
        let journal = Arc::new(Journal::new(Arc::clone(&store), Arc::clone(&clock)));
        let figures = Arc::new(Figures::default());
        let recorder: SharedRecorder =
            Arc::new(Counted::new(Arc::clone(&figures), Arc::clone(&journal)));
        // Also where no call is read: the configuration may be another after a SIGHUP.
        let steering = Steering::new(config.clone(), policy, recorder, Arc::clone(&clock));
        let tracer = match &config.otlp {
            None => None,
            Some(settings) => {
                let client = Client::new(&Options::from_env()).map_err(|it| it.to_string())?;
                let (clock, figures) = (Arc::clone(&clock), Arc::clone(&figures));
                Some(Tracer::begin(settings, client, clock, figures, &variable)?)
            }
        };
        let steering = Arc::new(match &tracer {
            None => steering,
            Some(tracer) => steering.with_tracer(Arc::clone(tracer)),
        });
        let governor: Arc<dyn Governor> = Arc::clone(&steering) as Arc<dyn Governor>;
        let token = config.admin_token_env.as_deref().and_then(variable);
        let token = token.map(|token| token.trim().to_owned());
        let api = Api::new(Parts {
            store,
            helm: Some(steering),
            figures: Arc::clone(&figures),
            journal: journal.health(),
            access: Access::new(config.listen.ip(), token),
            clock,
        });
        Ok(Self { governor: Arc::new(Timed::new(figures, governor)), api, journal, tracer })
    }

    /// Sends and writes what is not yet. Takes as long as the disk does, and up to five seconds
    /// more for traces.
    ///
    /// Gives how many entries were lost since the start.
    pub(super) async fn end(self) -> u64 {
        if let Some(tracer) = &self.tracer {
            tracer.close().await;
        }
        self.journal.close().await;
        self.journal.health().lost()
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
