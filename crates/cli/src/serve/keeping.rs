//! What a gateway keeps and tells: the store, the journal, the governor over it, the API.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use steersman_dashboard::RunSessions;
use steersman_engine::Policy;
use steersman_gateway::api::{Access, Api, Parts};
use steersman_gateway::budget::Ledger;
use steersman_gateway::figures::{Counted, Figures, Timed};
use steersman_gateway::journal::Journal;
use steersman_gateway::keys::Ring;
use steersman_gateway::otlp::Tracer;
use steersman_gateway::record::SharedRecorder;
use steersman_gateway::steering::{Clock, Steering};
use steersman_gateway::{Config, Governor};
use steersman_store::{Accounts, Store};
use steersman_upstream::{Client, Options};

use crate::run::{Place, StoreArgs};

/// What stands behind a gateway that listens.
pub(super) struct Keeping {
    /// Who decides about calls.
    pub(super) governor: Arc<dyn Governor>,
    /// Who answers for it.
    pub(super) api: Api,
    /// Who may ask it.
    pub(super) ring: Arc<Ring>,
    /// How much of it.
    pub(super) ledger: Arc<Ledger>,
    journal: Arc<Journal>,
    tracer: Option<Arc<Tracer>>,
}

impl Keeping {
    /// Opens the store and takes up what was kept in it. Needs a tokio runtime.
    ///
    /// # Errors
    /// The store cannot be used, or a variable for traces is not set; the sentence says why.
    pub(super) async fn begin(
        config: &Config,
        policy: Policy,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        // Where the other verbs look as well.
        let named = || variable("STEERSMAN_STATE").filter(|folder| !folder.is_empty());
        let folder = config.state_dir.clone().or_else(|| named().map(PathBuf::from));
        let place = Place::of(&StoreArgs { folder })?;
        let runs = RunSessions::new(place.folder().to_owned());
        let store = Arc::new(place.open_sqlite()?);
        let accounts = Arc::clone(&store) as Arc<dyn Accounts>;
        let store: Arc<dyn Store> = store;
        let clock: Clock = Arc::new(now_ms);
        let figures = Arc::new(Figures::default());
        let (of_keys, counting) = (Arc::clone(&accounts), Arc::clone(&figures));
        let ring = Ring::begin(of_keys).await.map_err(|error| error.to_string())?;
        let ledger = Ledger::begin(accounts, Arc::clone(&clock), counting).await;
        let ledger = ledger.map_err(|error| error.to_string())?;
        let journal = Arc::new(Journal::new(Arc::clone(&store), Arc::clone(&clock)));
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
            runs: Some(Arc::new(runs)),
            helm: Some(steering),
            figures: Arc::clone(&figures),
            journal: journal.health(),
            access: Access::new(config.listen.ip(), token),
            clock,
        });
        let governor = Arc::new(Timed::new(figures, governor));
        Ok(Self { governor, api, ring, ledger, journal, tracer })
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
        if !self.ledger.close().await {
            let why = "what was used last under keys could not be written: it will not count";
            crate::screen::say(why);
        }
        self.journal.health().lost()
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
