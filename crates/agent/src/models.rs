//! Models behind a server.

use std::collections::BTreeMap;
use std::sync::Arc;

use steersman_upstream::{Client, Deadlines, Endpoint};
use steersman_wire::{Answer, Delta, Failure, repair_tool_call};

use crate::seam::{Model, ModelCall, Work};

/// A model behind a server.
#[derive(Clone, Debug)]
pub struct ServedModel {
    client: Client,
    endpoint: Endpoint,
    deadlines: Deadlines,
}

impl ServedModel {
    /// The model behind this address.
    #[must_use]
    pub const fn new(client: Client, endpoint: Endpoint, deadlines: Deadlines) -> Self {
        Self { client, endpoint, deadlines }
    }
}

impl Model for ServedModel {
    fn reply<'a>(
        &'a self,
        call: ModelCall<'a>,
        on_delta: &'a mut (dyn FnMut(&Delta) + Send),
    ) -> Work<'a, Result<Answer, Failure>> {
        Box::pin(async move {
            let tell = |delta: Delta| on_delta(&delta);
            let sent = self.client.send(&self.endpoint, &call.request, self.deadlines, tell);
            let answer = sent.await?;
            // Small models write a call as text; it is taken as what it was meant to be.
            let repaired = repair_tool_call(&answer, call.request.tools);
            Ok(repaired.unwrap_or(answer))
        })
    }
}

/// The models of several agents.
#[derive(Clone)]
pub struct Models {
    default: Arc<dyn Model>,
    by_agent: BTreeMap<String, Arc<dyn Model>>,
}

impl Models {
    /// One model for all agents but those that have their own.
    #[must_use]
    pub fn new(default: Arc<dyn Model>, by_agent: BTreeMap<String, Arc<dyn Model>>) -> Self {
        Self { default, by_agent }
    }
}

impl Model for Models {
    fn reply<'a>(
        &'a self,
        call: ModelCall<'a>,
        on_delta: &'a mut (dyn FnMut(&Delta) + Send),
    ) -> Work<'a, Result<Answer, Failure>> {
        self.by_agent.get(call.agent).unwrap_or(&self.default).reply(call, on_delta)
    }
}
