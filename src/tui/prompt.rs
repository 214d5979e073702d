//! The prompt: what is typed, what was sent before, and what sending it means.

use super::{
    app::{self, Cmd, Model, act},
    cell::Cell,
    completion::Completion,
    images::{self, Images},
    keymap::{Action, Context, Keymap},
    looks,
    panel::Panel,
    recall::Recall,
    report,
};
use crate::{
    commands::{self, Around, Outcome, Screen},
    protocol::{self, Command, ModelInfo, Notice},
};
use backstitch_components::{
    editor::{Edit, Editor, EditorView, Look},
    key::Chord,
};

#[derive(Debug)]
pub struct Prompt {
    pub editor: Editor,
    pub recall: Recall,
    placeholder: String,
    pub images: Images,
    /// For `/model`: the models that providers have told of.
    pub models: Vec<ModelInfo>,
}

impl Prompt {
    pub fn new(placeholder: String) -> Self {
        Prompt { editor: Editor::new(), recall: Recall::default(), placeholder, images: Images::default(), models: vec![] }
    }

    /// Is the suggestion for a first prompt shown, while nothing is typed?
    fn suggests(&self, busy: bool) -> bool {
        !busy && !self.recall.sent()
    }

    /// `busy`: a turn is running, so what is sent waits.
    pub fn view(&self, busy: bool, keys: &Keymap, width: usize, max_rows: usize) -> EditorView {
        let placeholder = if busy {
            let waits = keys.phrase(Context::Prompt, &[("submit", "waits in line")]);
            let steers = keys.phrase(Context::Running, &[("steer", "goes into the turn")]);
            let parts: Vec<String> = [waits, steers].into_iter().filter(|part| !part.is_empty()).collect();
            let both = parts.join(", ");
            if both.len() + 2 <= width { both } else { parts.into_iter().next().unwrap_or_default() }
        } else if self.suggests(busy) {
            self.placeholder.clone()
        } else {
            String::new()
        };
        self.editor.view(&Look { placeholder, ..Look::default() }, width, max_rows)
    }

    pub fn take(&mut self) -> String {
        let text = self.editor.take();
        self.recall.push(&text);
        text
    }

    /// A key that nothing else has the focus for.
    pub fn key(model: &mut Model, chord: &Chord) -> Vec<Cmd> {
        if let Some(cmds) = Completion::key(model, chord) {
            return cmds;
        }
        let width = model.width();
        let keys = &model.setting.keys;
        let running = model.status.turn.and_then(|_| keys.action(Context::Running, chord));
        let edit = || keys.translate(&[Context::Edit], chord).as_ref().and_then(Edit::from_chord);
        let edit = match running.or_else(|| keys.action(Context::Prompt, chord)) {
            Some(Action::Keys | Action::Exit) if !model.prompt.editor.is_empty() => edit(),
            Some(Action::Older) if !model.prompt.editor.at_edge(false, width) => Some(Edit::Up),
            Some(Action::Newer) if !model.prompt.editor.at_edge(true, width) => Some(Edit::Down),
            Some(action) => {
                model.completion.close();
                return act(model, action);
            }
            None => edit(),
        };
        let Some(edit) = edit else { return vec![] };
        model.exit_armed = None;
        let length = model.prompt.editor.text().len();
        // `@file:10-20`: the lines belong to the file that was just taken.
        if model.completion.blank.take() == Some(model.prompt.editor.cursor()) && edit == Edit::Insert(":".into()) {
            model.prompt.editor.apply(Edit::Backspace, width);
        }
        model.prompt.editor.apply(edit, width);
        let typed = length != model.prompt.editor.text().len();
        Completion::follow(model, typed)
    }

    /// Enter sends what is there: a command, a shell line, or a prompt.
    pub fn submit(model: &mut Model) -> Vec<Cmd> {
        if model.prompt.editor.continue_line() {
            return vec![];
        }
        let mut text = model.prompt.editor.submit_text();
        if text.trim().is_empty() && model.setting.demo && model.prompt.suggests(model.status.turn.is_some()) {
            // What the demo suggests is there to be sent.
            let suggested = model.setting.placeholder.clone();
            model.prompt.editor.set_text(&suggested);
            text = suggested;
        }
        if text.trim().is_empty() {
            return vec![];
        }
        if let Some(command) = text.trim().strip_prefix('!') {
            let command = command.trim().to_string();
            model.prompt.take();
            return if command.is_empty() { vec![] } else { vec![Cmd::Send(Command::RunShell(command))] };
        }
        match commands::parse(text.trim()) {
            None => images::submit(model),
            Some(Err(why)) => {
                // The text stays: it may only be misspelt.
                model.say(Notice::error(why));
                vec![]
            }
            Some(Ok((command, arguments))) => {
                let outcome = (command.run)(arguments, &Around { models: model.prompt.models.clone() });
                if !matches!(outcome, Outcome::Fail(_)) {
                    model.prompt.take();
                }
                Self::carry_out(model, outcome)
            }
        }
    }

    fn carry_out(model: &mut Model, outcome: Outcome) -> Vec<Cmd> {
        match outcome {
            Outcome::Send(command) => return vec![Cmd::Send(command)],
            Outcome::Say(text) => model.transcript.push(Cell::Said(text), model.width()),
            Outcome::Fail(why) => model.say(Notice::error(why)),
            Outcome::Image(path) => return images::command(model, &path),
            Outcome::Theme(name) => return looks::command(model, &name),
            Outcome::Screen(Screen::Keys) => model.panel = Some(Panel::keys(&model.setting.keys)),
            Outcome::Screen(Screen::Redraw) => model.transcript.print_again(model.width()),
            Outcome::Screen(Screen::Checkpoints(sought)) => return app::open_checkpoints(model, sought),
            Outcome::Screen(Screen::Fullscreen) => model.switch(),
            Outcome::Screen(Screen::Status) => {
                model.transcript.push(Cell::Said(report::status(model)), model.width());
                return vec![Cmd::Send(Command::Facts), Cmd::Send(Command::ListCheckpoints)];
            }
            Outcome::Screen(Screen::Usage) => model.transcript.push(Cell::Said(report::usage(model)), model.width()),
            Outcome::Screen(Screen::Export(file)) => return vec![Cmd::Export { file, text: report::markdown(model) }],
            Outcome::Screen(Screen::Copy) => match report::last_answer(model) {
                Some(text) => return vec![Cmd::Copy(text.to_string())],
                None => model.say(Notice::info("There is no answer yet.")),
            },
            Outcome::Screen(Screen::Permissions) => return Panel::open_permissions(model),
            Outcome::Screen(Screen::Sessions(id)) => return app::resume(model, id),
            Outcome::Screen(Screen::Setup) => {
                model.panel = Some(Panel::setup());
                return vec![Cmd::Send(Command::Discover)];
            }
            Outcome::Screen(Screen::Exit) => return vec![Cmd::Exit],
        }
        vec![]
    }

    /// Into the running turn instead of after it.
    pub fn steer(model: &mut Model) -> Vec<Cmd> {
        if model.prompt.editor.submit_text().trim().is_empty() || !images::steers(model) {
            return vec![];
        }
        let text = model.prompt.take();
        vec![Cmd::Send(Command::Steer(text))]
    }

    /// Earlier prompts; first of all those that still wait, which come back out of the queue.
    pub fn older(model: &mut Model) -> Vec<Cmd> {
        if model.prompt.editor.is_empty() && !model.status.queue.is_empty() {
            return vec![Cmd::Send(Command::Unqueue)];
        }
        Recall::older(&mut model.prompt)
    }

    pub fn newer(&mut self) {
        Recall::newer(self);
    }

    /// A prompt comes back. What has been typed since is kept below it.
    pub fn give_back(&mut self, prompt: protocol::Prompt) {
        let protocol::Prompt { text, images } = self.images.take_back(prompt);
        let typed = self.editor.submit_text();
        let labels: Vec<String> = images.into_iter().map(|i| i.label).chain(self.editor.attachments().map(str::to_owned)).collect();
        let all = if typed.trim().is_empty() { text } else { format!("{text}\n{typed}") };
        self.editor.set_text_with(&all, labels.iter().map(String::as_str));
    }
}
