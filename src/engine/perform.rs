//! Carries out effects: each becomes a task or a job, whose result comes back as an input.

use super::lane::{Job, Lane};
use crate::{
    agent::{Effect, Input},
    llm,
    mailbox::Mailbox,
    protocol::{
        CallId, Job as Background, JobEnd, ModelId, Preview, ProviderError, ProviderErrorKind, Request, RequestId, StreamItem, ToolCall,
        ToolError, ToolOutput,
    },
    tools::{self, Cancel, RunContext},
};
use futures::{StreamExt, future::BoxFuture};
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    runtime::Handle,
    task::{AbortHandle, JoinSet},
};

/// How long the end waits for tools that were told to stop.
const LAST_WAIT: Duration = Duration::from_secs(2);

pub struct Performer {
    models: llm::Registry,
    places: Vec<(String, u16)>,
    tools: Arc<tools::Registry>,
    workspace: Arc<tools::Workspace>,
    inputs: Mailbox<Input>,
    lane: Lane,
    /// Streams, timers, previews and look-ups: dropped at the end.
    tasks: JoinSet<()>,
    /// Tools: waited for at the end.
    calls: JoinSet<CallId>,
    /// Commands in the background: waited for after those.
    background: Arc<Mutex<JoinSet<()>>>,
    backgrounds: usize,
    streams: HashMap<RequestId, AbortHandle>,
    running: HashMap<CallId, Cancel>,
}

impl Performer {
    pub fn new(
        models: llm::Registry,
        places: Vec<(String, u16)>,
        tools: Arc<tools::Registry>,
        workspace: Arc<tools::Workspace>,
        inputs: Mailbox<Input>,
        lane: Lane,
    ) -> Self {
        Performer {
            models,
            places,
            tools,
            workspace,
            inputs,
            lane,
            tasks: JoinSet::new(),
            calls: JoinSet::new(),
            background: Arc::default(),
            backgrounds: 0,
            streams: HashMap::new(),
            running: HashMap::new(),
        }
    }

    pub fn perform(&mut self, effect: Effect) {
        while self.tasks.try_join_next().is_some() {}
        while let Some(ended) = self.calls.try_join_next() {
            // Never fails: what the tool does is caught inside.
            let _ = ended.map(|id| self.running.remove(&id));
        }
        match effect {
            Effect::CallModel(request) => self.call_model(request),
            Effect::StopModel(id) => drop(self.streams.remove(&id).map(|task| task.abort())),
            Effect::Preview { id, name, args } => self.preview(id, name, args),
            Effect::RunTool(call) => self.run_tool(call),
            Effect::StopTool(id) => drop(self.running.get(&id).map(Cancel::cancel)),
            Effect::TakeCheckpoint(request) => self.lane.send(Job::Take(request)),
            Effect::KeepCheckpoint(name, messages) => self.lane.send(Job::Keep(name, messages)),
            Effect::Restore(wanted, plan) => self.lane.send(Job::Restore(wanted, plan)),
            Effect::Plan(wanted) => self.lane.send(Job::Plan(wanted)),
            Effect::PlanStep(wanted) => self.lane.send(Job::PlanStep(wanted)),
            Effect::Compare(from, to) => self.lane.send(Job::Compare(from, to)),
            Effect::Facts => {
                let (workspace, inputs) = (self.workspace.clone(), self.inputs.clone());
                let look = move || Ok(workspace.sandbox().status(workspace.root()));
                self.tasks.spawn(async move {
                    let sandbox = blocking(look).await.unwrap_or_else(|error: ToolError| error.0);
                    inputs.send(Input::Facts(vec![("sandbox".into(), sandbox)]));
                });
            }
            Effect::ListCheckpoints => self.lane.send(Job::List),
            Effect::Revise(id, revision) => self.lane.send(Job::Revise(id, revision)),
            Effect::Unfinished(finish) => self.lane.send(Job::Unfinished(finish)),
            Effect::StartTimer(id, after) => {
                let inputs = self.inputs.clone();
                self.tasks.spawn(async move {
                    tokio::time::sleep(after).await;
                    inputs.send(Input::TimerFired(id));
                });
            }
            Effect::UseModel(model) => {
                let found = self.models.resolve(Some(&model.provider), Some(&model.model));
                self.inputs.send(Input::ModelReady(found.map_err(|f| f.to_string())));
            }
            Effect::UseRules(rules) => self.workspace.set_rules(&rules),
            Effect::LeaveFolder => self.workspace.set_cwd(self.workspace.root().to_path_buf()),
            Effect::Try(text) => {
                let (tools, workspace, inputs) = (self.tools.clone(), self.workspace.clone(), self.inputs.clone());
                let tried = text.clone();
                let work = move || tools.would_touch(&tried, &workspace);
                self.tasks.spawn(async move { inputs.send(Input::Tried(text, blocking(work).await.map_err(|error| error.0))) });
            }
            Effect::Connect(settings) => self.connect(settings),
            Effect::Discover => {
                let (inputs, places) = (self.inputs.clone(), self.places.clone());
                self.tasks.spawn(async move {
                    let places: Vec<(&str, u16)> = places.iter().map(|(name, port)| (name.as_str(), *port)).collect();
                    inputs.send(Input::Found(llm::discover::find(&places).await));
                });
            }
            Effect::ListModels => self.list_models(),
            // The driver's own.
            Effect::Emit(..) | Effect::Append(_) | Effect::Stop => {}
        }
    }

    /// What an input says to those who do the work.
    pub fn heard(&mut self, input: &Input) {
        match input {
            Input::Ran(..) => self.lane.rest(),
            Input::JobStarted(_) => {
                self.backgrounds += 1;
                self.lane.lasts(true);
            }
            Input::JobEnded(..) => {
                self.backgrounds = self.backgrounds.saturating_sub(1);
                if self.backgrounds == 0 {
                    self.lane.lasts(false);
                }
            }
            _ => {}
        }
    }

    fn call_model(&mut self, request: Request) {
        let (id, inputs) = (request.id, self.inputs.clone());
        self.streams.clear();
        let mut stream = self.models.stream(request);
        let task = self.tasks.spawn(async move {
            let mut ended = false;
            while let Some(item) = stream.next().await {
                ended = matches!(item, StreamItem::Done(_) | StreamItem::Failed(_));
                inputs.send(Input::Stream(id, item));
                if ended {
                    break;
                }
            }
            if !ended {
                let message = "the provider ended without an answer".into();
                let error = ProviderError { kind: ProviderErrorKind::Malformed, message, status: None, retry_after: None };
                inputs.send(Input::Stream(id, StreamItem::Failed(error)));
            }
        });
        self.streams.insert(id, task);
    }

    fn preview(&mut self, id: CallId, name: String, args: Value) {
        let (tools, workspace, inputs) = (self.tools.clone(), self.workspace.clone(), self.inputs.clone());
        let work = move || -> Result<Preview, ToolError> { tools.preview(&name, args, &workspace) };
        self.tasks.spawn(async move { inputs.send(Input::Previewed(id, blocking(work).await)) });
    }

    fn run_tool(&mut self, call: ToolCall) {
        let (id, cancel, inputs) = (call.id, Cancel::new(), self.inputs.clone());
        self.running.insert(id, cancel.clone());
        let (tools, workspace, runtime, reports) = (self.tools.clone(), self.workspace.clone(), Handle::current(), inputs.clone());
        let jobs = self.background.clone();
        let work = move || -> Result<ToolOutput, ToolError> {
            let (name, args) = tools.canonical(&call.name, call.args)?;
            let call = ToolCall { name, args, ..call };
            let progress = |output: String| reports.send(Input::Progress(id, output));
            let background = |job: Background, command: BoxFuture<'static, JobEnd>| {
                let (runtime, inputs) = (runtime.clone(), reports.clone());
                inputs.send(Input::JobStarted(job.clone()));
                // On a thread of its own: what a command prints without end must not hold up the rest.
                let driven = { runtime.clone().spawn_blocking(move || runtime.block_on(command)) };
                let ended = async move {
                    let crashed = |_| JobEnd { how: "lost".into(), failed: true, asked: false };
                    inputs.send(Input::JobEnded(job, driven.await.unwrap_or_else(crashed)));
                };
                let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
                while jobs.try_join_next().is_some() {}
                jobs.spawn_on(ended, &Handle::current());
            };
            let cx = RunContext { workspace: &workspace, cancel, progress: &progress, background: &background };
            runtime.block_on(tools.run(&call, &cx))
        };
        self.calls.spawn(async move {
            inputs.send(Input::Ran(id, blocking(work).await));
            id
        });
    }

    fn connect(&mut self, settings: crate::protocol::ProviderSettings) {
        let name = settings.name.clone();
        let has_model = !settings.models.is_empty();
        self.models.add(settings);
        if has_model {
            let found = self.models.resolve(Some(&name), None);
            return self.inputs.send(Input::ModelReady(found.map_err(|f| f.to_string())));
        }
        let provider = self.models.provider(&ModelId { provider: name.clone(), model: String::new() });
        let inputs = self.inputs.clone();
        self.tasks.spawn(async move {
            let models = match provider {
                Some(provider) => provider.models().await.map_err(|e| e.message),
                None => Err(format!("there is no provider {name}")),
            };
            let first = models.and_then(|m| m.into_iter().next().ok_or(format!("{name} offers no model")));
            inputs.send(Input::ModelReady(first));
        });
    }

    fn list_models(&mut self) {
        let (asked, inputs) = (self.models.all_models(), self.inputs.clone());
        self.tasks.spawn(async move {
            let listed = asked.await;
            let failed = listed.failed.into_iter().map(|(name, error)| format!("{name}: {}", error.message)).collect();
            inputs.send(Input::Models(listed.models, failed));
        });
    }

    /// Ends everything: tools and commands in the background are told to stop and waited for, streams are dropped, the checkpoint in hand is finished.
    pub async fn finish(mut self) {
        self.streams.drain().for_each(|(_, task)| task.abort());
        self.running.values().for_each(Cancel::cancel);
        self.workspace.jobs.close();
        let ended = async {
            while self.calls.join_next().await.is_some() {}
            // No call is left that could begin one.
            let mut jobs = std::mem::take(&mut *self.background.lock().unwrap_or_else(PoisonError::into_inner));
            while jobs.join_next().await.is_some() {}
        };
        let _ = tokio::time::timeout(LAST_WAIT, ended).await;
        self.lane.rest();
        if self.backgrounds > 0 {
            self.lane.lasts(false);
        }
    }
}

/// On a thread that may block. A panic in a tool is that call's error, and nobody else's.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, ToolError> + Send + 'static) -> Result<T, ToolError> {
    let crashed = |_| Err(ToolError::new("the tool crashed: this is a fault of Backstitch, not of the call"));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(crashed)
}
