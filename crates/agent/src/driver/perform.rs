//! Carrying out one step.

use std::sync::Arc;

use steersman_engine::{StopReason, Usage};
use steersman_wire::{Answer, Failure, Request, ToolChoice};
use tokio::task::JoinSet;

use super::watch::Outcome;
use super::{DriveError, Driver};
use crate::check;
use crate::control::HandOver;
use crate::ending::Ending;
use crate::entry::{
    AgentSetup, Attempt, CheckCause, CheckFinished, Ended, Entry, Failed, HandedOver, Prices,
    Replied, ToolFinished,
};
use crate::seam::{ModelCall, ToolOutcome};
use crate::session::{Step, ToolRun, make_ids_unique};

impl Driver {
    pub(super) async fn perform(&mut self, step: Step) -> Result<(), DriveError> {
        match step {
            Step::Record(entries) => self.write(entries).await,
            Step::Checkpoint { label } => self.keep(label).await,
            Step::CallModel(choice) => self.call_model(choice).await,
            Step::RunTools(runs) => self.run_tools(runs).await,
            Step::RunCheck(cause, call_id) => self.run_check(cause, call_id).await,
            Step::HandOver { call_id, asked } => self.hand_over(call_id, asked).await,
            Step::Wait { until_ms, begun } => self.wait(until_ms, begun).await,
            Step::StartOver { why, tried, next } => self.start_over(why, tried, next).await,
            Step::Close { ending, why, restore } => self.close(ending, why, restore).await,
            Step::AwaitUser | Step::Done => Ok(()),
        }
    }

    /// What people said becomes the user's words.
    pub(super) async fn tell_notes(&mut self) -> Result<(), DriveError> {
        let notes = std::mem::take(&mut self.notes);
        self.write(notes.into_iter().map(|text| Entry::Spoke { text }).collect()).await
    }

    /// What interrupts a step: written down, or the session is left.
    async fn give_up(&mut self, entry: Option<Entry>) -> Result<(), DriveError> {
        match entry {
            Some(entry) => self.write(vec![entry]).await,
            None => Err(DriveError::Left),
        }
    }

    async fn call_model(&mut self, choice: ToolChoice) -> Result<(), DriveError> {
        if !self.notes.is_empty() {
            return self.tell_notes().await;
        }
        self.write(vec![Entry::CallStarted]).await?;
        let model = Arc::clone(&self.parts.model);
        let agent = Arc::clone(self.session.agent());
        let messages = Arc::clone(self.session.conversation());
        let heard = self.session.heard().map(str::to_owned);
        let call = ModelCall {
            request: Request {
                system: &agent.system,
                tools: &agent.tools,
                tool_choice: choice,
                max_output_tokens: agent.max_output_tokens,
                temperature: agent.temperature,
                stream: self.parts.stream,
                parallel_tool_calls: agent.parallel_tool_calls,
                ..Request::new(&agent.model, &messages)
            },
            agent: &agent.name,
            attempt: self.session.engine().state().attempt,
            failures: self.session.failures(),
            heard: heard.as_deref(),
            json_calls: agent.json_calls,
        };
        let (deltas, mut pieces) = tokio::sync::mpsc::unbounded_channel();
        let mut tell = move |delta: &steersman_wire::Delta| {
            let _ = deltas.send(delta.clone());
        };
        let work = async { model.reply(call, &mut tell).await };
        let outcome = {
            tokio::pin!(work);
            loop {
                let either = async {
                    tokio::select! {
                        biased;
                        Some(delta) = pieces.recv() => Err(delta),
                        answer = &mut work => Ok(answer),
                    }
                };
                match self.watching(either).await? {
                    Outcome::Done(Err(delta)) => self.parts.face.delta(&delta),
                    Outcome::Done(Ok(answer)) => break Outcome::Done(answer),
                    Outcome::Interrupted(entry) => break Outcome::Interrupted(entry),
                    Outcome::Left => break Outcome::Left,
                }
            }
        };
        // Shared with the session: while it is held, every entry would copy it.
        drop(messages);
        match outcome {
            Outcome::Done(Ok(answer)) => self.take_answer(answer, &agent).await,
            Outcome::Done(Err(failure)) => self.take_failure(failure).await,
            Outcome::Interrupted(entry) => self.give_up(Some(entry)).await,
            Outcome::Left => self.give_up(None).await,
        }
    }

    async fn take_answer(&mut self, answer: Answer, agent: &AgentSetup) -> Result<(), DriveError> {
        let mut message = answer.message;
        make_ids_unique(&mut message, self.session.outlook().turns + 1);
        let tokens = answer.usage;
        let cost = match tokens.cost_nanodollars {
            0 => price(agent.prices, tokens.input, tokens.cached_input, tokens.output),
            told => told,
        };
        let usage = Usage {
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            cost_nanodollars: cost,
        };
        let replied = Replied {
            message,
            stop: answer.stop,
            usage,
            cached_tokens: tokens.cached_input,
            model: answer.model,
        };
        self.write(vec![Entry::Replied(Box::new(replied))]).await
    }

    async fn take_failure(&mut self, failure: Failure) -> Result<(), DriveError> {
        let failure = failure.call_failure();
        let overflow = failure.stop == Some(StopReason::InsufficientContext);
        if overflow && let Some(pruned) = self.session.pruning_for_overflow() {
            return self.write(vec![pruned]).await;
        }
        let failed = Failed {
            status: failure.status,
            message: failure.message.into_owned(),
            retry_after_ms: failure.retry_after_ms,
            stop: failure.stop,
        };
        self.write(vec![Entry::CallFailed(failed)]).await
    }

    async fn run_tools(&mut self, runs: Vec<ToolRun>) -> Result<(), DriveError> {
        let started = runs.iter().map(|run| Entry::ToolStarted { call_id: run.call_id.clone() });
        self.write(started.collect()).await?;
        let mut open: Vec<String> = runs.iter().map(|run| run.call_id.clone()).collect();
        let mut set = JoinSet::new();
        let begun_ms = self.parts.clock.now_ms();
        for run in runs {
            let tools = Arc::clone(&self.parts.tools);
            set.spawn(async move {
                let outcome = tools.call(&run).await;
                (run.call_id, outcome)
            });
        }
        while !open.is_empty() {
            match self.watching(set.join_next()).await? {
                Outcome::Done(Some(Ok((call_id, outcome)))) => {
                    open.retain(|id| *id != call_id);
                    let took_ms = self.parts.clock.now_ms().saturating_sub(begun_ms);
                    let finished = finished(call_id, outcome, took_ms);
                    self.write(vec![Entry::ToolFinished(Box::new(finished))]).await?;
                }
                // A tool that panicked has no result: it is told as interrupted.
                Outcome::Done(_) => {
                    let ended = open.drain(..).map(interrupted).collect();
                    self.write(ended).await?;
                }
                Outcome::Interrupted(entry) => {
                    set.shutdown().await;
                    let mut entries: Vec<Entry> = open.drain(..).map(interrupted).collect();
                    entries.push(entry);
                    self.write(entries).await?;
                }
                Outcome::Left => {
                    set.shutdown().await;
                    let entries = open.drain(..).map(interrupted).collect();
                    self.write(entries).await?;
                    return Err(DriveError::Left);
                }
            }
        }
        Ok(())
    }

    async fn run_check(
        &mut self,
        cause: CheckCause,
        call_id: Option<String>,
    ) -> Result<(), DriveError> {
        let (Some(site), Some(command)) =
            (self.parts.site.clone(), self.session.opened().check.clone())
        else {
            return self.no_check(cause, call_id).await;
        };
        self.write(vec![Entry::CheckStarted { cause }]).await?;
        let begun_ms = self.parts.clock.now_ms();
        let outcome = match self.watching(async { site.check(&command).await }).await? {
            Outcome::Done(outcome) => outcome,
            Outcome::Interrupted(entry) => return self.give_up(Some(entry)).await,
            Outcome::Left => return self.give_up(None).await,
        };
        let took_ms = self.parts.clock.now_ms().saturating_sub(begun_ms);
        let answer = call_id.map(|call_id| ToolFinished {
            call_id,
            content: check::describe(&outcome),
            is_error: Some(!outcome.passed),
            exit_code: outcome.exit_code,
            took_ms,
            ..ToolFinished::default()
        });
        let checked = CheckFinished {
            cause,
            passed: outcome.passed,
            exit_code: outcome.exit_code,
            excerpt: check::excerpt(&outcome.output).to_owned(),
            tests: outcome.tests,
            took_ms,
        };
        let mut entries = vec![Entry::CheckFinished(Box::new(checked))];
        entries.extend(answer.map(|answer| Entry::ToolFinished(Box::new(answer))));
        self.write(entries).await
    }

    /// A session that was opened with a check is taken up without its folder.
    async fn no_check(
        &mut self,
        cause: CheckCause,
        call_id: Option<String>,
    ) -> Result<(), DriveError> {
        let excerpt = "the check cannot run: the workspace is not there".to_owned();
        let answer = call_id.map(|call_id| ToolFinished {
            call_id,
            content: excerpt.clone(),
            is_error: Some(true),
            ..ToolFinished::default()
        });
        let checked = CheckFinished {
            cause,
            passed: false,
            exit_code: None,
            tests: None,
            excerpt,
            took_ms: 0,
        };
        let mut entries = vec![Entry::CheckFinished(Box::new(checked))];
        entries.extend(answer.map(|answer| Entry::ToolFinished(Box::new(answer))));
        self.write(entries).await
    }

    async fn hand_over(&mut self, call_id: String, asked: HandOver) -> Result<(), DriveError> {
        let from = self.session.agent().name.clone();
        let result = |content: String, is_error| {
            Entry::ToolFinished(Box::new(ToolFinished {
                call_id: call_id.clone(),
                content,
                is_error: Some(is_error),
                ..ToolFinished::default()
            }))
        };
        let entries = match self.parts.agents.setup(&from, &asked.to) {
            Err(why) => vec![result(why, true)],
            Ok(to) => {
                let done = result(format!("{} takes over.", to.name), false);
                let handed = HandedOver { from, to, note: asked.note };
                vec![Entry::HandedOver(Box::new(handed)), done]
            }
        };
        self.write(entries).await
    }

    async fn wait(&mut self, until_ms: u64, begun: bool) -> Result<(), DriveError> {
        if !begun {
            self.write(vec![Entry::WaitStarted { until_ms }]).await?;
        }
        let clock = Arc::clone(&self.parts.clock);
        match self.watching(async { clock.until(until_ms).await }).await? {
            Outcome::Done(()) => self.write(vec![Entry::WaitEnded]).await,
            Outcome::Interrupted(entry) => self.give_up(Some(entry)).await,
            Outcome::Left => self.give_up(None).await,
        }
    }

    async fn keep(&mut self, label: &'static str) -> Result<(), DriveError> {
        let Some(site) = self.parts.site.clone() else {
            return self.write(vec![Entry::CheckpointFailed { why: NO_FOLDER.to_owned() }]).await;
        };
        // Not watched: it is short, and what it keeps is needed whatever comes.
        let entry = match self.holding(async { site.keep(label).await }).await? {
            Ok(kept) => Entry::Checkpointed(kept),
            Err(why) => Entry::CheckpointFailed { why },
        };
        self.write(vec![entry]).await
    }

    async fn start_over(
        &mut self,
        why: String,
        tried: String,
        next: String,
    ) -> Result<(), DriveError> {
        let (Some(site), Some(first), Some(left)) =
            (self.parts.site.clone(), self.session.base().cloned(), self.session.left().cloned())
        else {
            return self.write(vec![Entry::StartOverRefused { why: NO_FOLDER.to_owned() }]).await;
        };
        let state = self.session.engine().state();
        let (number, turns) = (state.attempt, state.turns.saturating_sub(state.attempt_turn));
        self.write(vec![Entry::RestoreStarted { to: first.number }]).await?;
        let work = async { site.go_back(&left, &first, number).await };
        let entry = match self.holding(work).await? {
            Err(why) => Entry::StartOverRefused { why },
            Ok(given) => {
                let (failed, passed) = self.session.outlook().tests.unzip();
                Entry::StartedOver(Box::new(Attempt {
                    number,
                    turns,
                    reason: why,
                    tried,
                    next,
                    failed,
                    passed,
                    files: given.files,
                    insertions: given.insertions,
                    deletions: given.deletions,
                    kept: given.kept,
                    restored: first.number,
                }))
            }
        };
        self.write(vec![entry]).await
    }

    async fn close(
        &mut self,
        ending: Ending,
        why: String,
        restore: Option<u32>,
    ) -> Result<(), DriveError> {
        if let Some(number) = restore {
            return self.restore_best(number).await;
        }
        let answer = self.session.last_words();
        self.write(vec![Entry::Ended(Box::new(Ended { ending, why, answer }))]).await
    }

    /// Puts the workspace back to its best state of the run, so that the run ends no worse.
    async fn restore_best(&mut self, number: u32) -> Result<(), DriveError> {
        let wanted = self.session.checkpoints().iter().find(|kept| kept.number == number).cloned();
        let (Some(site), Some(best), Some(left)) =
            (self.parts.site.clone(), wanted, self.session.left().cloned())
        else {
            return self.write(vec![Entry::BestLost { number, why: NO_FOLDER.to_owned() }]).await;
        };
        let attempt = self.session.engine().state().attempt;
        self.write(vec![Entry::RestoreStarted { to: best.number }]).await?;
        let work = async { site.go_back(&left, &best, attempt).await };
        let entry = match self.holding(work).await? {
            Ok(_) => Entry::BestRestored { number },
            Err(why) => Entry::BestLost { number, why },
        };
        self.write(vec![entry]).await
    }
}

const NO_FOLDER: &str = "the workspace is not there";

fn finished(call_id: String, outcome: ToolOutcome, took_ms: u64) -> ToolFinished {
    ToolFinished {
        call_id,
        content: outcome.content,
        is_error: outcome.is_error,
        exit_code: outcome.exit_code,
        full_len: outcome.full_len,
        tests: outcome.tests,
        interrupted: false,
        took_ms,
    }
}

fn interrupted(call_id: String) -> Entry {
    Entry::ToolFinished(Box::new(ToolFinished {
        call_id,
        content: crate::session::INTERRUPTED.to_owned(),
        is_error: Some(true),
        interrupted: true,
        ..ToolFinished::default()
    }))
}

/// What a call cost by the model's prices, in nano-dollars.
fn price(prices: Prices, input: u64, cached: u64, output: u64) -> u64 {
    let fresh = input.saturating_sub(cached).saturating_mul(prices.input);
    let cached = cached.saturating_mul(prices.cached_input);
    fresh.saturating_add(cached).saturating_add(output.saturating_mul(prices.output))
}
