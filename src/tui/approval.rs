//! The question before a change: what would happen, and the answers.
//!
//! It opens by itself, so it takes no key for an answer until the keyboard has been quiet: what was being typed goes on into the
//! prompt, and nobody approves what they had not seen.

mod always;

use super::{
    app::{Cmd, Model, QUIET, interrupt},
    blocks,
    cell::CallCell,
    chain,
    jobs::{Draft, Job},
    keymap::{Action, Context, Keymap},
    panel::{Diff, Panel},
};
use crate::{
    command_line,
    protocol::{Access, CallId, Command, Decision, Notice},
};
use backstitch_components::{
    dialog::{Dialog, DialogOutcome, DialogState, DialogView},
    editor::Edit,
    key::Chord,
    list::Item,
    text::{
        sanitize::one_line,
        span::{Line, Span},
        wrap::{truncate_middle, wrap_hanging},
    },
    theme::Role,
};
use std::{path::Path, time::Duration};

#[derive(Debug)]
pub struct Approval {
    pub call: CallId,
    state: DialogState,
    opened: Duration,
    armed: bool,
    /// What is typed is a pattern, and why the last one was not taken.
    pattern: Option<String>,
    /// Laid out once for a size of the screen, not for every frame.
    dialog: Dialog,
    size: (u16, u16),
}

/// In the order shown.
const YES: usize = 0;
const SESSION: usize = 1;
const NO: usize = 2;
const EDIT: usize = 4;
const SAVE: usize = 5;
/// No choice of its own: `p` changes what the second one allows.
const PATTERN: usize = 9;

impl Approval {
    /// Opens, keeps or closes the question so that it is about the first call that waits.
    pub fn follow(model: &mut Model) {
        let (size, width) = (model.size, model.width());
        let Some(call) = model.transcript.asked() else {
            model.approval = None;
            return;
        };
        let lay_out = || dialog(call, &model.setting.root, &model.setting.keys, (width, usize::from(size.1)));
        match &mut model.approval {
            Some(approval) if approval.call == call.id && approval.size == size => {}
            Some(approval) if approval.call == call.id => (approval.dialog, approval.size) = (lay_out(), size),
            other => {
                let (dialog, state) = (lay_out(), DialogState::default());
                *other = Some(Approval { call: call.id, state, opened: model.now, armed: false, pattern: None, dialog, size });
                // What it is about is at the end.
                model.window_to_end();
            }
        }
    }

    /// Code may have got colours.
    pub fn lay_out_anew(&mut self) {
        self.size = (0, 0);
    }

    /// The user has edited what the call would write: that is what is allowed then.
    pub fn revised(model: &mut Model, call: CallId, text: String) -> Vec<Cmd> {
        let asked = model.transcript.asked().filter(|asked| asked.id == call);
        let Some((before, is_plan)) = asked.and_then(|call| Some((call.editable()?.text, call.plan().is_some()))) else {
            model.say(Notice::warning("The question is over: what was edited is not used."));
            return vec![];
        };
        if before == text {
            return vec![];
        }
        let note = match is_plan {
            true => format!("The user edited the plan before accepting it. It is now:\n\n{}", text.trim_end()),
            false => {
                "The user edited this change before accepting it: the file has the user's version now. View it before you change it again."
                    .into()
            }
        };
        vec![Cmd::Send(Command::Decide { call, decision: Decision::AllowPart { content: text, note } })]
    }

    /// May keys be answers? Once they may, they stay so.
    pub fn arm(&mut self, now: Duration, quiet: bool) -> bool {
        self.armed |= quiet && now.saturating_sub(self.opened) >= QUIET;
        self.armed
    }

    pub fn typing(&self) -> bool {
        self.state.typing.is_some()
    }

    pub fn paste(&mut self, text: &str) {
        self.state.text.apply(Edit::Paste(text.into()), 80);
    }

    pub fn key(model: &mut Model, chord: &Chord) -> Vec<Cmd> {
        let width = model.width();
        let Some(call) = model.transcript.asked().cloned() else { return vec![] };
        let Some(approval) = &mut model.approval else { return vec![] };
        let keys = &model.setting.keys;
        let here: &[Context] = if approval.typing() { &[Context::Field, Context::Edit] } else { &[Context::Dialog, Context::List] };
        if approval.typing() {
            // In what is typed it clears, and then interrupts, as in the prompt.
            if keys.action(Context::Prompt, chord) == Some(Action::Cancel) {
                if approval.state.text.is_empty() {
                    return interrupt(model);
                }
                approval.state.text.set_text("");
                return vec![];
            }
        } else {
            match keys.action(Context::Dialog, chord) {
                Some(Action::Interrupt) => return interrupt(model),
                Some(Action::Keys) => {
                    model.panel = Some(Panel::keys_of_question(keys));
                    return vec![];
                }
                _ => {}
            }
        }
        let Some(chord) = keys.translate(here, chord) else { return vec![] };
        if let Some(options) = call.options() {
            return approval.answered(&chord, call.id, options).unwrap_or_else(|| interrupt(model));
        }
        if !approval.typing() && chord.typed() == Some('p') {
            let needing = always::needing(&call, &model.setting.root);
            if always::offered(&needing).is_some() {
                approval.state.text.set_text(&always::written(&needing));
                approval.state.type_for(PATTERN);
                approval.pattern = Some(String::new());
            }
            return vec![];
        }
        let decision = match approval.state.press(&chord, &approval.dialog) {
            DialogOutcome::Chosen(YES, _) => Decision::Allow,
            DialogOutcome::Chosen(SESSION, _) => Decision::AllowSession,
            DialogOutcome::Chosen(NO, reason) if approval.typing() => {
                let reason = reason.trim().to_string();
                Decision::Deny { reason: (!reason.is_empty()).then_some(reason) }
            }
            DialogOutcome::Chosen(NO, _) => {
                if approval.pattern.take().is_some() {
                    approval.state.text.set_text("");
                }
                approval.state.type_for(NO);
                return vec![];
            }
            DialogOutcome::Chosen(PATTERN, typed) => match always::read(&typed, &always::needing(&call, &model.setting.root)) {
                Ok(patterns) => Decision::AllowCommands(patterns),
                Err(why) => {
                    approval.state.text.set_text(&typed);
                    approval.pattern = Some(why);
                    return vec![];
                }
            },
            DialogOutcome::Chosen(EDIT, _) => {
                let draft = call.editable().map(|editable| Draft {
                    text: editable.text.to_owned(),
                    call: Some(call.id),
                    ending: Path::new(editable.path).extension().map_or(String::new(), |ending| format!(".{}", ending.to_string_lossy())),
                });
                return draft.map(|draft| Cmd::Do(Job::Edit(draft))).into_iter().collect();
            }
            DialogOutcome::Chosen(SAVE, _) => {
                let text = call.plan().map(|plan| plan.trim_end().to_owned() + "\n");
                return text.map(|text| Cmd::Export { file: Some("plan.md".into()), text }).into_iter().collect();
            }
            DialogOutcome::Chosen(..) if call.shown.diffs().is_empty() => {
                model.transcript.print_block(&call, width);
                return vec![];
            }
            DialogOutcome::Chosen(..) => {
                model.panel = Some(Panel::Diff(Box::new(Diff::new(call.shown.diffs().to_vec(), Some(call.id)))));
                return vec![];
            }
            DialogOutcome::Dismissed => return interrupt(model),
            DialogOutcome::Moved | DialogOutcome::Ignored => return vec![],
        };
        // The next question opens when the agent asks it.
        vec![Cmd::Send(Command::Decide { call: call.id, decision })]
    }

    /// A key at a question of the model's own: one of its options, or words. `None` interrupts.
    fn answered(&mut self, chord: &Chord, call: CallId, options: &[String]) -> Option<Vec<Cmd>> {
        let answer = match self.state.press(chord, &self.dialog) {
            DialogOutcome::Chosen(_, words) if self.state.typing.is_some() => words.trim().to_owned(),
            DialogOutcome::Chosen(at, _) => match options.get(at) {
                Some(option) => option.clone(),
                None => {
                    self.state.type_for(options.len());
                    return Some(vec![]);
                }
            },
            DialogOutcome::Dismissed => return None,
            DialogOutcome::Moved | DialogOutcome::Ignored => return Some(vec![]),
        };
        if answer.is_empty() {
            return Some(vec![]);
        }
        let decision = Decision::AllowPart { content: answer, note: String::new() };
        Some(vec![Cmd::Send(Command::Decide { call, decision })])
    }

    pub fn view(&self, width: usize, max_rows: usize) -> DialogView {
        let mut state = self.state.clone();
        let Some(why) = self.pattern.as_ref().filter(|_| state.typing == Some(PATTERN)) else {
            return state.view(&self.dialog, width, max_rows);
        };
        let mut dialog = self.dialog.clone();
        if why.is_empty() {
            dialog.title = Line::plain("Always allow what? * ends a pattern, ; parts several");
        } else {
            dialog.title = Line::styled(why.clone(), Role::Warning);
        }
        state.view(&dialog, width, max_rows)
    }
}

/// `room`: columns and rows.
fn dialog(call: &CallCell, root: &Path, keys: &Keymap, (width, max_rows): (usize, usize)) -> Dialog {
    let key = |action| keys.key(Context::Dialog, action);
    let patterns = always::offered(&always::needing(call, root));
    let session = match (&call.access, &patterns) {
        (Some(Access::Write(paths)), _) if paths.iter().all(|p| command_line::is_plain_file(root, p)) => {
            "yes, all edits this session".into()
        }
        (Some(Access::Run { .. }), Some(patterns)) => always::label(patterns, width),
        (Some(Access::Run { .. }), None) => "yes, exactly this command this session".into(),
        (Some(Access::Plan), _) => "yes, and edits need no question".into(),
        (Some(Access::Network { .. }), _) => "yes, this host this session".into(),
        _ => "yes, this path this session".to_owned(),
    };
    let session = Item::new(session).key('a').called(key("session"));
    let mut choices = vec![
        Item::new("yes").key('y').called(key("yes")),
        // Where there is little room the key has to do without a word.
        match key("pattern").filter(|_| patterns.is_some() && width >= 60) {
            Some(key) => session.detail(format!("{key} edits")),
            None => session,
        },
        Item::new("no, and say why").key('n').called(key("no")),
        Item::new(if call.shown.diffs().is_empty() { "show all of it above" } else { "look closer, choose hunks" })
            .key('v')
            .called(key("view")),
    ];
    if call.editable().is_some() {
        let then = if call.plan().is_some() { "edit in $EDITOR, and go ahead" } else { "edit in $EDITOR, and make it" };
        choices.push(Item::new(then).key('e').called(key("edit")));
    }
    if call.plan().is_some() {
        choices.push(Item::new("save as plan.md").key('s').called(key("save")));
    }
    let question = call.access.as_ref().map_or("Go on?", |access| blocks::question(access, root));
    let note = call.shown.counts();
    let mut title = Line::plain(question);
    // The line of the call may be out of sight, or not name it: which file or host it is stands in the question.
    let subject = match &call.access {
        Some(Access::Network { host }) => Some(host),
        _ => (!call.shown.diffs().is_empty()).then_some(&call.title),
    };
    if let Some(subject) = subject {
        let room = width.saturating_sub(question.len() + note.width() + 5);
        title.push(Span::plain(format!("  {}", truncate_middle(&one_line(subject), room))));
    }
    let (body, missing) = body(call, root, width, max_rows);
    if let Some(options) = call.options() {
        let mut choices: Vec<Item> = options.iter().map(|option| Item::new(one_line(option).into_owned())).collect();
        choices.push(Item::new(if options.is_empty() { "answer" } else { "something else" }));
        return Dialog { title, note, body, missing, choices, asks: Some("your answer".into()) };
    }
    Dialog {
        title,
        note,
        body,
        missing,
        choices,
        asks: Some(if width < 70 {
            "what should be done instead?".into()
        } else {
            format!("what should be done instead? ({})", keys.phrase(Context::Field, &[("accept", "sends"), ("leave", "returns")]))
        }),
    }
}

/// Its first rows, and how many more there are.
fn body(call: &CallCell, root: &Path, width: usize, max_rows: usize) -> (Vec<Line>, usize) {
    let (its, missing) = what(call, root, width, max_rows);
    // Whoever said "for this session" and is asked again wants to know why.
    let why = call.why.iter().flat_map(|why| {
        let why = Line::styled(format!("{} (/permissions)", one_line(why)), Role::Dim);
        wrap_hanging(&why, width, &Line::styled("    ↳ ", Role::Dim), &Line::plain("      "))
    });
    (why.chain(its).collect(), missing)
}

fn what(call: &CallCell, root: &Path, width: usize, max_rows: usize) -> (Vec<Line>, usize) {
    if let Some(Access::Run { command, parts, folder, outside }) = &call.access {
        let place = folder.as_ref().map(|folder| one_line(&folder.strip_prefix(root).unwrap_or(folder).to_string_lossy()).into_owned());
        let place = place.map(|place| Line::styled(format!("    in {place}"), Role::Warning));
        let bare = outside.then(|| Line::styled("    outside the sandbox: it may write wherever you may", Role::Warning));
        return (place.into_iter().chain(bare).chain(chain::rows_with_touches(command, parts, root, width)).collect(), 0);
    }
    let (mut rows, missing) = call.shown.beginning(width, max_rows);
    if rows.is_empty() {
        rows = vec![Line::plain(format!("    {} {}", call.name, call.title))];
    }
    (rows, missing)
}
