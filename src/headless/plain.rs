//! Events as plain lines: a fold without any IO.
//!
//! The answer is the last thing that the model says; what it says before its tool calls is progress. Nothing of it can drive a
//! terminal.

use crate::{
    command_line,
    failure::Failure,
    protocol::{
        Access, Block, CallEvent, CallId, Event, EventBody, Job, Level, Mode, Notice, Outcome, Ruling, SessionEvent, TextEvent, TurnEvent,
        TurnId, TurnOutcome,
    },
};
use backstitch_components::text::sanitize::{one_line, sanitize};
use std::collections::HashMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Answer(String),
    Progress(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    Ended(Result<(), Failure>),
    /// Somebody would have to be asked.
    Asked(CallId, Failure),
}

/// A call that is not finished.
#[derive(Debug, Default)]
pub struct Call {
    pub name: String,
    pub title: String,
    pub access: Option<Access>,
    /// What it would do, once that is known.
    pub block: Option<Block>,
}

impl Call {
    /// The plan, if that is what somebody would be asked about.
    pub fn plan(&self) -> Option<String> {
        match (&self.access, &self.block) {
            (Some(Access::Plan), Some(Block::Markdown(plan))) => Some(format!("{}\n", clean(plan.trim_end()))),
            _ => None,
        }
    }
}

#[derive(Debug, Default)]
pub struct Plain {
    pub turn: Option<TurnId>,
    /// What runs in the background.
    background: Vec<Job>,
    mode: Mode,
    text: String,
    calls: HashMap<CallId, Call>,
    /// The error that the turn may be about to end with: who says that it has ended says it too, and once is enough.
    held: Option<Notice>,
}

impl Plain {
    pub fn new(mode: Mode) -> Plain {
        Plain { mode, ..Plain::default() }
    }

    pub fn fold(&mut self, event: Event) -> (Vec<Line>, Option<Stop>) {
        let mut lines = vec![];
        let (held, hints) = match (self.held.take(), &event.body) {
            (Some(notice), EventBody::Turn(TurnEvent::Ended(end))) if matches!(&end.how, TurnOutcome::Failed(why) if *why == notice.text) => {
                (None, notice.hints)
            }
            (held, _) => (held, vec![]),
        };
        lines.extend(held.iter().flat_map(noticed));
        let stop = match event.body {
            EventBody::Turn(TurnEvent::Started) => {
                self.turn = event.turn;
                None
            }
            EventBody::Session(SessionEvent::Background(running)) => {
                self.background = running;
                None
            }
            EventBody::Turn(TurnEvent::Retrying { attempt, of, wait, why }) => {
                let why = one_line(why.trim_end_matches('.'));
                lines.push(Line::Progress(format!("! {why}: again in {:.1} s ({attempt} of {of})", wait.as_secs_f64())));
                None
            }
            EventBody::Turn(TurnEvent::Ended(end)) => {
                self.turn = None;
                self.answer(&mut lines);
                Some(Stop::Ended(match end.how {
                    TurnOutcome::Answered => Ok(()),
                    TurnOutcome::Interrupted => Err(Failure::interrupted()),
                    TurnOutcome::Failed(why) => Err(hints.into_iter().fold(Failure::provider(why), Failure::hint)),
                }))
            }
            EventBody::Text(TextEvent::Answer(text)) => {
                self.text.push_str(&text);
                None
            }
            EventBody::Call(event) => self.call(event, &mut lines),
            EventBody::Notice(notice) => {
                match self.turn {
                    Some(_) if notice.level == Level::Error => self.held = Some(notice),
                    _ => lines.extend(noticed(&notice)),
                }
                None
            }
            _ => None,
        };
        (lines, stop)
    }

    /// What ends with the run, in words.
    pub fn left(&self) -> Option<String> {
        let names: Vec<String> = self.background.iter().map(|job| one_line(&job.named()).into_owned()).collect();
        (!names.is_empty()).then(|| format!("› ended with the run, in the background: {}", names.join(", ")))
    }

    pub fn call_of(&self, id: CallId) -> Option<&Call> {
        self.calls.get(&id)
    }

    fn answer(&mut self, lines: &mut Vec<Line>) {
        let text = std::mem::take(&mut self.text);
        let text = clean(text.trim_end());
        if !text.is_empty() {
            lines.push(Line::Answer(format!("{text}\n")));
        }
    }

    fn call(&mut self, event: CallEvent, lines: &mut Vec<Line>) -> Option<Stop> {
        match event {
            CallEvent::Proposed { id, name, title } => {
                let said = std::mem::take(&mut self.text);
                if !said.trim().is_empty() {
                    lines.push(Line::Progress(clean(said.trim())));
                }
                self.calls.insert(id, Call { name, title, ..Call::default() });
            }
            CallEvent::Previewed { id, access, title, block } => {
                if let Some(call) = self.calls.get_mut(&id) {
                    (call.title, call.access, call.block) = (title, Some(access), Some(block));
                }
            }
            CallEvent::Asked { id, why } => return self.calls.get(&id).map(|call| Stop::Asked(id, refusal(call, self.mode, why))),
            CallEvent::Finished { id, outcome } => {
                let call = self.calls.remove(&id).unwrap_or_default();
                lines.push(Line::Progress(finished(&call.name, &call.title, &outcome)));
            }
            CallEvent::Started { .. } | CallEvent::Progress { .. } => {}
        }
        None
    }
}

fn noticed(notice: &Notice) -> Vec<Line> {
    let mark = if notice.level == Level::Info { "›" } else { "!" };
    let first = format!("{mark} {}", one_line(&notice.text));
    let hints = notice.hints.iter().map(|hint| format!("  {}", one_line(hint)));
    std::iter::once(first).chain(hints).map(Line::Progress).collect()
}

/// What goes into a file or a pipe keeps its tabs, and a lone carriage return hides nothing.
fn clean(text: &str) -> String {
    text.split('\t').map(sanitize).collect::<Vec<_>>().join("\t")
}

fn refusal(call: &Call, mode: Mode, why: Option<String>) -> Failure {
    let Call { name, title, access, .. } = call;
    let failure =
        Failure::approval(format!("It would have to ask before this: {}", format!("{} {}", one_line(name), one_line(title)).trim_end()));
    if let Some(why) = why {
        let failure = failure.hint(format!("{}: nobody is here to be asked", one_line(&why)));
        // A question that a rule asks for stays one; what can't be seen may be allowed by name.
        return match rule_for(access.as_ref()).filter(|_| why.contains("can't be seen")) {
            Some(rule) => failure.hint(format!("--allowed-tools '{rule}' allows it by name")),
            None => failure.hint("/permissions shows the rules; without that one it would not be asked about"),
        };
    }
    let hint = match access {
        // Whatever the mode, somebody is asked before what can't be walked back.
        _ if mode == Mode::Yolo => "without a checkpoint nothing is changed unasked; BACKSTITCH_DATA_DIR says where they are kept",
        Some(Access::Write(_)) => "--mode auto-accept lets it edit files in the project; --mode yolo lets it do everything",
        _ => "--mode yolo lets it run without asking; the screen asks",
    };
    let failure = failure.hint(hint);
    match rule_for(access.as_ref()).filter(|_| mode != Mode::Yolo && mode != Mode::Plan) {
        Some(rule) => failure.hint(format!("--allowed-tools '{rule}', or the same under \"permissions\", \"allow\", lets just this run")),
        None => failure,
    }
}

/// The rule that would allow it, if there is one that does.
fn rule_for(access: Option<&Access>) -> Option<String> {
    let path = |tool: &str, paths: &[std::path::PathBuf]| match paths {
        [one] => Some(format!("{tool}({})", one.display())),
        _ => None,
    };
    let rule = match access? {
        Access::Write(paths) => path("Edit", paths),
        Access::Read(paths) => path("View", paths),
        Access::Network { host } => Some(format!("WebFetch(domain:{host})")),
        Access::Plan | Access::Question { .. } | Access::Job { .. } => None,
        Access::Run { parts, .. } => {
            let patterns = command_line::offers(parts.iter().filter(|part| !part.is_read()))?;
            Some(patterns.iter().map(|pattern| format!("Bash({pattern})")).collect::<Vec<_>>().join(","))
        }
    };
    // What it is about was written by a model: only what reads back is offered.
    rule.filter(|rule| {
        !rule.contains('\'')
            && one_line(rule) == rule.as_str()
            && crate::policy::split(rule).iter().all(|r| crate::policy::check(Ruling::Allow, r).is_ok())
    })
}

fn finished(name: &str, title: &str, outcome: &Outcome) -> String {
    let (mark, result) = match outcome {
        Outcome::Done(output) => (if output.failed { "✗" } else { "✓" }, output.summary.clone()),
        Outcome::Failed(why) => ("✗", why.clone()),
        Outcome::Forbidden(why) => ("⊘", why.clone()),
        Outcome::Denied { .. } => ("⊘", "declined".into()),
        Outcome::Interrupted { .. } => ("⊘", "interrupted".into()),
    };
    let (name, title, result) = (one_line(name), one_line(title), one_line(&result));
    format!("{mark} {name} {title}  {result}").trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Notice, ToolOutput, TurnEnd, Usage};
    use std::time::Duration;

    fn fold(bodies: Vec<EventBody>) -> (Vec<Line>, Vec<Stop>) {
        let mut plain = Plain::default();
        let (mut lines, mut stops) = (vec![], vec![]);
        for (n, body) in bodies.into_iter().enumerate() {
            let (more, stop) = plain.fold(Event { seq: n as u64, turn: Some(TurnId(1)), body });
            lines.extend(more);
            stops.extend(stop);
        }
        (lines, stops)
    }

    fn said(text: &str) -> EventBody {
        EventBody::Text(TextEvent::Answer(text.into()))
    }

    fn ended(how: TurnOutcome) -> EventBody {
        EventBody::Turn(TurnEvent::Ended(TurnEnd { how, usage: Usage::default(), took: Duration::ZERO }))
    }

    fn proposed(id: u64) -> EventBody {
        EventBody::Call(CallEvent::Proposed { id: CallId(id), name: "Edit".into(), title: String::new() })
    }

    #[test]
    fn only_the_last_thing_said_is_the_answer() {
        let output = ToolOutput { for_model: String::new(), for_user: Block::Nothing, summary: "+1 −0".into(), failed: false };
        let (lines, stops) = fold(vec![
            said("I'll "),
            said("look."),
            EventBody::Text(TextEvent::Done),
            proposed(1),
            EventBody::Call(CallEvent::Previewed {
                id: CallId(1),
                access: Access::Write(vec![]),
                title: "a\u{1b}[31m.rs".into(),
                block: Block::Nothing,
            }),
            EventBody::Call(CallEvent::Finished { id: CallId(1), outcome: Outcome::Done(output) }),
            said("Done\u{1b}[2J.\n\n"),
            ended(TurnOutcome::Answered),
        ]);
        assert_eq!(stops, [Stop::Ended(Ok(()))]);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0], Line::Progress("I'll look.".into()));
        let Line::Progress(call) = &lines[1] else { panic!("{lines:?}") };
        assert!(call.starts_with("✓ Edit a") && call.ends_with(".rs  +1 −0") && !call.contains('\u{1b}'), "{call:?}");
        let Line::Answer(answer) = &lines[2] else { panic!("{lines:?}") };
        assert!(answer.starts_with("Done") && answer.ends_with(".\n") && !answer.contains('\u{1b}'), "{answer:?}");
    }

    #[test]
    fn what_would_have_to_be_asked_ends_the_run_with_code_2() {
        let (_, stops) = fold(vec![proposed(1), EventBody::Call(CallEvent::Asked { id: CallId(1), why: None })]);
        let [Stop::Asked(CallId(1), failure)] = &stops[..] else { panic!("{stops:?}") };
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.message.contains("Edit"), "{failure}");
    }

    #[test]
    fn an_answer_keeps_its_tabs_and_what_a_carriage_return_would_hide() {
        let (lines, _) = fold(vec![said("all:\n\tcc x.c\nrm -rf x\rls"), ended(TurnOutcome::Answered)]);
        let [Line::Answer(answer)] = &lines[..] else { panic!("{lines:?}") };
        assert!(answer.starts_with("all:\n\tcc x.c\nrm -rf x") && answer.ends_with("ls\n") && !answer.contains('\r'), "{answer:?}");
    }

    #[test]
    fn no_name_of_a_tool_and_no_word_of_a_server_drives_the_terminal() {
        let name = "\u{1b}[31mBash".to_string();
        let retrying = TurnEvent::Retrying { attempt: 1, of: 5, wait: Duration::from_secs(1), why: "Busy\u{1b}]0;x\u{7}.".into() };
        let (lines, _) = fold(vec![
            EventBody::Turn(retrying),
            EventBody::Call(CallEvent::Proposed { id: CallId(1), name, title: String::new() }),
            EventBody::Call(CallEvent::Finished { id: CallId(1), outcome: Outcome::Failed("no such tool".into()) }),
        ]);
        let expected = ["! Busy␛]0;x␇: again in 1.0 s (1 of 5)", "✗ ␛[31mBash   no such tool"].map(|l| Line::Progress(l.into()));
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_hint_is_not_to_allow_what_is_allowed_already() {
        let mut plain = Plain::new(Mode::Yolo);
        plain.fold(Event { seq: 1, turn: None, body: proposed(1) });
        let (_, stop) = plain.fold(Event { seq: 2, turn: None, body: EventBody::Call(CallEvent::Asked { id: CallId(1), why: None }) });
        let Some(Stop::Asked(_, failure)) = stop else { panic!("{stop:?}") };
        assert!(!failure.to_string().contains("--mode") && failure.to_string().contains("checkpoint"), "{failure}");
    }

    #[test]
    fn what_a_turn_fails_by_is_said_once_and_other_errors_before_it() {
        let started = || EventBody::Turn(TurnEvent::Started);
        let cut = || EventBody::Notice(Notice::error("cut").hint("look there"));
        let failure = |stops: &[Stop]| match stops {
            [Stop::Ended(Err(failure))] => failure.to_string(),
            _ => panic!("{stops:?}"),
        };
        let (lines, stops) = fold(vec![started(), cut(), ended(TurnOutcome::Failed("cut".into()))]);
        assert_eq!((lines, failure(&stops)), (vec![], "cut\n  hint: look there".into()));
        let (lines, stops) = fold(vec![started(), cut(), ended(TurnOutcome::Failed("gone".into()))]);
        assert_eq!(lines, [Line::Progress("! cut".into()), Line::Progress("  look there".into())]);
        assert_eq!(failure(&stops), "gone");
    }

    #[test]
    fn a_failed_turn_is_an_error_and_keeps_what_was_said() {
        let (lines, stops) =
            fold(vec![said("half"), EventBody::Notice(Notice::error("cut")), ended(TurnOutcome::Failed("the server is gone".into()))]);
        assert_eq!(lines, [Line::Progress("! cut".into()), Line::Answer("half\n".into())]);
        let [Stop::Ended(Err(failure))] = &stops[..] else { panic!("{stops:?}") };
        assert_eq!((failure.exit_code(), failure.message.as_str()), (1, "the server is gone"));
    }
}
