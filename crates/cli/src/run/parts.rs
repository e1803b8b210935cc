//! What drives a session: model, tools, workspace, whoever watches.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use steersman_agent::rehearsal::{Script, ScriptedModel};
use steersman_agent::tools::{Foreign, WorkSite, WorkTools};
use steersman_agent::{
    Command, JsonCalls, Model, ModelCall, Models, Opened, Parts, Roster, ServedModel, Site,
    SystemClock, Work,
};
use steersman_store::SessionId;
use steersman_upstream::{Client, Deadlines, Endpoint, EndpointError, Options};
use steersman_wire::{Answer, Delta, Failure, FailureKind, Format};
use steersman_workspace::{Checkpoints, Confinement, Shell, ShellOptions, Workspace};
use tokio::sync::mpsc;

use super::approve::approver;
use super::face::Watching;
use super::mcp::{Servers, Tools};
use super::place::Place;
use super::recall::{Recall, ServedBy};

/// What drives a session, and what the user should know of it.
pub(super) struct Crew {
    pub(super) parts: Parts,
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) confinement: Confinement,
    pub(super) storage: String,
}

/// Who acts in a session besides the model.
pub(super) struct Team {
    /// The agents.
    pub(super) roster: Arc<Roster>,
    /// Tools of other programs.
    pub(super) servers: Arc<Servers>,
}

/// Makes everything that drives a session.
pub(super) fn crew(
    opened: &Opened,
    recall: &Recall,
    team: Team,
    watching: Watching,
    place: &Place,
    id: &SessionId,
) -> Result<Crew, String> {
    let folder = opened.workspace.as_deref().unwrap_or(&recall.project);
    let workspace = Workspace::open(Path::new(folder)).map_err(|error| match &recall.side {
        // The copy is removed when its group has ended.
        Some(side) => format!("{error}; the session is attempt {} of {}", side.number, side.group),
        None => error.to_string(),
    })?;
    let workspace = Arc::new(workspace);
    let mut options = ShellOptions::default();
    options.confined = !recall.unconfined;
    let shell = Arc::new(Shell::new(&workspace, options).map_err(|error| error.to_string())?);
    let confinement = shell.confinement().clone();
    let kept = match &recall.side {
        Some(side) => super::attempts::beside(&workspace, side, place)?,
        None => Checkpoints::open(&workspace, id.as_str(), &place.checkpoints(id))
            .map_err(|error| error.to_string())?,
    };
    let storage = kept.storage().to_string();
    let site: Arc<dyn Site> = Arc::new(WorkSite::new(Arc::clone(&shell), Arc::new(kept)));
    let confined = matches!(confinement, Confinement::Landlock { .. });
    let read_only = team.servers.read_only();
    let approver = approver(recall.approval()?, confined, read_only, watching.below);
    let foreign: Vec<Box<dyn Foreign>> = vec![Box::new(Tools(team.servers))];
    let tools = WorkTools::new(workspace, shell, approver, foreign);
    let (commands, receiver) = mpsc::channel(64);
    let parts = Parts {
        model: model_of(recall, &opened.agent.name)?,
        tools: Arc::new(tools),
        site: Some(site),
        agents: team.roster,
        clock: Arc::new(SystemClock),
        face: watching.face,
        commands: receiver,
        stream: recall.stream,
    };
    Ok(Crew { parts, commands, confinement, storage })
}

/// The model, or the models of several agents; `acting` is the one that goes on.
fn model_of(recall: &Recall, acting: &str) -> Result<Arc<dyn Model>, String> {
    if let Some(text) = &recall.rehearsal {
        let script = Script::parse("the script of the session", text);
        let script = script.map_err(|error| error.to_string())?;
        let script = script.of_side(recall.side.as_ref().map_or(0, |side| side.number));
        return Ok(Arc::new(ScriptedModel::new(script)));
    }
    let client = Client::new(&Options::from_env()).map_err(|error| error.to_string())?;
    let mut by_agent: BTreeMap<String, Arc<dyn Model>> = BTreeMap::new();
    for (agent, served) in &recall.by_agent {
        let model = match served_model(&client, served) {
            Ok(model) => model,
            Err(why) if agent == acting => return Err(why),
            // What is missing for an agent that may never act is no reason not to begin; and no
            // other agent's server is told what was meant for this one.
            Err(why) => Arc::new(NoModel(why)),
        };
        by_agent.insert(agent.clone(), model);
    }
    let default: Arc<dyn Model> = match &recall.model {
        Some(served) => served_model(&client, served)?,
        None if by_agent.contains_key(acting) => {
            Arc::new(NoModel("no model is configured for this agent".to_owned()))
        }
        None => return Err("the session names no model".to_owned()),
    };
    Ok(Arc::new(Models::new(default, by_agent)))
}

/// In place of a model that cannot be asked, and why.
struct NoModel(String);

impl Model for NoModel {
    fn reply<'a>(
        &'a self,
        _: ModelCall<'a>,
        _: &'a mut (dyn FnMut(&Delta) + Send),
    ) -> Work<'a, Result<Answer, Failure>> {
        let failure = Failure::new(FailureKind::Authentication, &self.0);
        Box::pin(std::future::ready(Err(failure)))
    }
}

fn served_model(client: &Client, served: &ServedBy) -> Result<Arc<dyn Model>, String> {
    let format = served.provider.parse();
    let format = format.map_err(|error: steersman_wire::FormatError| error.to_string())?;
    let base_url = served.base_url.as_deref();
    let endpoint = endpoint(format, base_url, served.api_key_env.as_deref());
    let endpoint = endpoint.map_err(|error| error.to_string())?;
    let model = ServedModel::new(client.clone(), endpoint, Deadlines::default());
    Ok(Arc::new(JsonCalls::new(Arc::new(model))))
}

/// A server with the key from the variable that is named, or from those of the format.
pub(crate) fn endpoint(
    format: Format,
    base_url: Option<&str>,
    api_key_env: Option<&str>,
) -> Result<Endpoint, EndpointError> {
    let Some(variable) = api_key_env else { return Endpoint::from_env(format, base_url) };
    let key = std::env::var(variable).ok();
    Endpoint::from_variables(format, base_url, |name| {
        // Only the variable that is named may hold the key.
        if name == format.key_variable() { key.clone() } else { None }
    })
}
