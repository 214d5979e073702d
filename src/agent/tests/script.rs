//! Transitions, written as a tiny text script of inputs with the effects that each line must have.
//!
//! A line: `prompt TEXT`, `text TEXT`, `think TEXT`, `call NAME ARGS`, `done`, `length`, `fail KIND TEXT`, `preview N ACCESS`,
//! `badpreview N TEXT`, `ran N TEXT`, `ranfail N TEXT`, `allow N`, `part N TEXT`, `session N`, `deny N REASON`, `checkpoint ID`, `nocheckpoint`,
//! `interrupt`, `timer N`, `mode NAME`, `steer TEXT`, `unqueue`, `undo`, `redo`, `planned ID REASONS`, `badplan ID TEXT`, `yes`, `no`, `restored ID`, `keep NAME`, `kept ID NAME`, `shell COMMAND`, `close`,
//! `started JOB`, `ended JOB HOW`, `killed JOB`, `read N HOW` (what ran brought the end of a command in the background).
//! Stream items belong to the newest request, everything else to the newest turn.

use super::*;
use std::fmt::Write;

struct Bench {
    agent: Agent,
    request: u64,
    turn: u64,
    index: usize,
    log: String,
}

impl Bench {
    fn new(settings: Settings) -> Self {
        Bench { agent: Agent::start(settings, &[]).0, request: 0, turn: 0, index: 0, log: String::new() }
    }

    fn line(&mut self, line: &str) {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (first, tail) = rest.split_once(' ').unwrap_or((rest, ""));
        let call = || CallId(first.parse().unwrap_or_else(|_| panic!("no call number in {line:?}")));
        let stream = |item| Input::Stream(RequestId(self.request), item);
        let turn = TurnId(self.turn);
        let input = match verb {
            "prompt" => Input::Command(Command::Prompt(rest.into())),
            "steer" => Input::Command(Command::Steer(rest.into())),
            "unqueue" => Input::Command(Command::Unqueue),
            "undo" => Input::Command(Command::Undo),
            "redo" => Input::Command(Command::Redo),
            "keep" => Input::Command(Command::Checkpoint(rest.into())),
            "kept" => {
                let taken = Checkpointed { id: CheckpointId(first.into()), files_changed: 0, skipped: vec![], notice: None };
                Input::Kept(tail.into(), Ok(taken))
            }
            "shell" => Input::Command(Command::RunShell(rest.into())),
            "close" => Input::Command(Command::Close),
            "interrupt" => Input::Command(Command::Interrupt(turn)),
            "mode" => Input::Command(Command::SetMode(Mode::from_name(rest).unwrap())),
            "allow" => decide(call(), Decision::Allow),
            "session" => decide(call(), Decision::AllowSession),
            "part" => decide(call(), Decision::AllowPart { content: tail.into(), note: "the rest was refused".into() }),
            "deny" => decide(call(), Decision::Deny { reason: (!tail.is_empty()).then(|| tail.into()) }),
            "text" => stream(StreamItem::Text(rest.into())),
            "think" => stream(StreamItem::Reasoning(rest.into())),
            "done" => stream(StreamItem::Done(StopReason::Finished)),
            "length" => stream(StreamItem::Done(StopReason::Length)),
            "call" => {
                self.index += 1;
                let (name, arguments) = (Some(first.into()), tail.into());
                Input::Stream(
                    RequestId(self.request),
                    StreamItem::CallDelta { index: self.index, id: Some(format!("c{}", self.index)), name, arguments },
                )
            }
            "fail" => {
                let kind = match first {
                    "busy" => ProviderErrorKind::Busy,
                    "cut" => ProviderErrorKind::Cut,
                    _ => ProviderErrorKind::Refused,
                };
                stream(StreamItem::Failed(ProviderError { kind, message: tail.into(), status: None, retry_after: None }))
            }
            "preview" => {
                let (kind, path) = tail.split_once(' ').unwrap_or((tail, ""));
                let access = match kind {
                    "read" => Access::Read(vec![path.into()]),
                    "write" => Access::Write(vec![path.into()]),
                    "job" => Access::Job { id: path.into(), end: false },
                    "kill" => Access::Job { id: path.into(), end: true },
                    _ => Access::Run { command: path.into(), parts: vec![], folder: None, outside: false },
                };
                let preview = Preview::new(access, path.into(), Block::Nothing);
                Input::Previewed(call(), Ok(preview))
            }
            "badpreview" => Input::Previewed(call(), Err(ToolError::new(tail))),
            "ran" => {
                let output = ToolOutput { for_model: tail.into(), for_user: Block::Nothing, summary: String::new(), failed: false };
                Input::Ran(call(), Ok(output))
            }
            "started" => Input::JobStarted(job(first)),
            "ended" => Input::JobEnded(job(first), JobEnd { how: tail.into(), failed: tail != "exit 0", asked: false }),
            "killed" => Input::JobEnded(job(first), JobEnd { how: "signal 15".into(), failed: false, asked: true }),
            "read" => {
                let for_user = Block::Terminal { output: "".into(), status: Some(1) };
                Input::Ran(call(), Ok(ToolOutput { for_model: tail.into(), for_user, summary: String::new(), failed: false }))
            }
            "ranfail" => Input::Ran(call(), Err(ToolError::new(tail))),
            "checkpoint" => Input::Checkpointed(
                turn,
                Ok(Checkpointed { id: CheckpointId(rest.into()), files_changed: 1, skipped: vec![], notice: None }),
            ),
            "nocheckpoint" => Input::Checkpointed(turn, Err("disk full".into())),
            // The rest are files that stay, each with this reason.
            "planned" => {
                let wanted = Wanted { to: CheckpointId(first.into()), since: Some(CheckpointId("x".into())), only: None };
                let skipped = tail.split(", ").filter(|why| !why.is_empty()).map(|why| ("f".into(), why.into())).collect();
                Input::StepPlanned(CheckpointId(first.into()), Ok(Plan { wanted, files: vec![], skipped }))
            }
            "badplan" => Input::StepPlanned(CheckpointId(first.into()), Err(tail.into())),
            "yes" => Input::Command(Command::Step { go: true }),
            "no" => Input::Command(Command::Step { go: false }),
            "restored" => Input::Restored(
                CheckpointId(rest.into()),
                Ok(Restored {
                    before: CheckpointId("before".into()),
                    after: Some(CheckpointId("after".into())),
                    changes: vec![],
                    skipped: vec![],
                }),
            ),
            "timer" => Input::TimerFired(TimerId(rest.parse().unwrap())),
            _ => panic!("what is {line:?}?"),
        };
        writeln!(self.log, "> {line}").unwrap();
        let effects = self.agent.step(Duration::ZERO, input);
        for effect in &effects {
            match effect {
                Effect::CallModel(request) => {
                    self.request = request.id.0;
                    self.index = 0;
                }
                Effect::Append(RecordBody::TurnStarted { turn, .. }) => self.turn = turn.0,
                _ => {}
            }
            if let Some(text) = brief(effect) {
                writeln!(self.log, "  {text}").unwrap();
            }
        }
    }
}

fn job(id: &str) -> Job {
    Job { id: id.into(), command: format!("serve {id}") }
}

fn decide(call: CallId, decision: Decision) -> Input {
    Input::Command(Command::Decide { call, decision })
}

/// One line for an effect; records are left out, the property test looks at them.
fn brief(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::Append(_) => return None,
        Effect::CallModel(r) => {
            format!("CALL MODEL #{} with {}", r.id, r.messages.iter().map(brief_message).collect::<Vec<_>>().join(" | "))
        }
        Effect::Emit(_, body) => match body {
            EventBody::Turn(TurnEvent::UserSaid(p)) => format!("user: {}", p.text),
            EventBody::Turn(TurnEvent::Started | TurnEvent::Called) => return None,
            EventBody::Turn(TurnEvent::Ended(end)) => format!("ended: {:?}", end.how),
            EventBody::Text(text) => format!("{text:?}"),
            EventBody::Call(CallEvent::Proposed { id, name, .. }) => format!("proposed {id} {name}"),
            EventBody::Call(CallEvent::Previewed { .. }) => return None,
            EventBody::Call(CallEvent::Asked { id, .. }) => format!("ASKED {id}"),
            EventBody::Call(CallEvent::Started { id }) => format!("started {id}"),
            EventBody::Call(CallEvent::Finished { id, outcome }) => format!("finished {id}: {}", outcome.for_model()),
            EventBody::Notice(n) => format!("{:?}: {}", n.level, n.text),
            EventBody::Session(SessionEvent::Queued { waiting }) => {
                format!("queued: {:?}", waiting.iter().map(|p| &p.text).collect::<Vec<_>>())
            }
            EventBody::Session(SessionEvent::Unqueued { prompt, .. }) => format!("back to the input: {:?}", prompt.text),
            other => format!("{other:?}"),
        },
        Effect::Preview { id, name, args } => format!("PREVIEW {id} {name} {args}"),
        Effect::RunTool(call) => format!("RUN {} {} {}", call.id, call.name, call.args),
        Effect::StopTool(id) => format!("STOP {id}"),
        Effect::PlanStep(Wanted { to, since, .. }) => format!("PLAN {} since {}", to.0, since.as_ref().map_or("-", |id| &id.0)),
        Effect::Restore(wanted, Some(_)) => format!("RESTORE {} as planned", wanted.to.0),
        Effect::TakeCheckpoint(c) => format!("CHECKPOINT {:?} {:?}", c.kind, c.label),
        other => format!("{other:?}"),
    })
}

fn brief_message(m: &Message) -> String {
    match m {
        Message::User(prompt) => format!("user {:?}", prompt.text),
        Message::Assistant { text, calls, .. } => {
            let calls: Vec<_> = calls.iter().map(|c| format!("{}{}", c.name, c.arguments)).collect();
            format!("assistant {text:?} {}", calls.join(" "))
        }
        Message::Result { call, content, failed, .. } => {
            format!("result {call}{} {content:?}", if *failed { " failed" } else { "" })
        }
    }
}

fn run(script: &str) -> String {
    run_with(settings(), script)
}

pub fn run_with(settings: Settings, script: &str) -> String {
    let mut bench = Bench::new(settings);
    script.lines().map(str::trim).filter(|l| !l.is_empty()).for_each(|l| bench.line(l));
    bench.log
}

macro_rules! check {
    ($script:expr, @$expected:literal) => {
        insta::assert_snapshot!(run($script), @$expected)
    };
}

#[test]
fn a_plain_answer() {
    check!("prompt hi\n think hm\n text Hello\n done", @r#"
    > prompt hi
      user: hi
      CALL MODEL #1 with user "hi"
    > think hm
      Reasoning("hm")
    > text Hello
      Answer("Hello")
    > done
      Done
      ended: Answered
    "#);
}

#[test]
fn an_edit_is_asked_for_then_checkpointed_then_run() {
    check!("prompt fix\n call Edit {\"a\":1}\n done\n preview 1 write /p/a\n allow 1\n checkpoint c1\n ran 1 ok\n text Fixed.\n done\n checkpoint c2", @r#"
    > prompt fix
      user: fix
      CALL MODEL #1 with user "fix"
    > call Edit {"a":1}
    > done
      proposed 1 Edit
      PREVIEW 1 Edit {"a":1}
    > preview 1 write /p/a
      ASKED 1
    > allow 1
      CHECKPOINT Opening "fix"
    > checkpoint c1
      Checkpoint(Taken { id: CheckpointId("c1"), label: "fix", kind: Opening, files_changed: 1 })
      started 1
      RUN 1 Edit {"a":1}
    > ran 1 ok
      finished 1: ok
      CALL MODEL #2 with user "fix" | assistant "" Edit{"a":1} | result 1 "ok"
    > text Fixed.
      Answer("Fixed.")
    > done
      Done
      CHECKPOINT Closing "fix"
    > checkpoint c2
      Checkpoint(Taken { id: CheckpointId("c2"), label: "fix", kind: Closing, files_changed: 1 })
      ended: Answered
    "#);
}

#[test]
fn reads_run_side_by_side_and_nothing_overtakes_a_change() {
    check!("mode yolo\n prompt go\n call View {}\n call LS {}\n call Bash {}\n call View {}\n done
        preview 1 read /p/a\n preview 2 read /p/b\n preview 3 run ls\n ran 2 two\n ran 1 one\n checkpoint c1\n ran 3 three\n preview 4 read /p/a\n ran 4 four", @r#"
    > mode yolo
      Session(ModeChanged(Yolo))
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call View {}
    > call LS {}
    > call Bash {}
    > call View {}
    > done
      proposed 1 View
      proposed 2 LS
      proposed 3 Bash
      proposed 4 View
      PREVIEW 1 View {}
    > preview 1 read /p/a
      started 1
      RUN 1 View {}
      PREVIEW 2 LS {}
    > preview 2 read /p/b
      started 2
      RUN 2 LS {}
      PREVIEW 3 Bash {}
    > preview 3 run ls
    > ran 2 two
    > ran 1 one
      finished 1: one
      finished 2: two
      CHECKPOINT Opening "go"
    > checkpoint c1
      Checkpoint(Taken { id: CheckpointId("c1"), label: "go", kind: Opening, files_changed: 1 })
      started 3
      RUN 3 Bash {}
    > ran 3 three
      finished 3: three
      PREVIEW 4 View {}
    > preview 4 read /p/a
      started 4
      RUN 4 View {}
    > ran 4 four
      finished 4: four
      CALL MODEL #2 with user "go" | assistant "" View{} LS{} Bash{} View{} | result 1 "one" | result 2 "two" | result 3 "three" | result 4 "four"
    "#);
}

#[test]
fn a_no_ends_only_that_call_and_the_model_gets_the_reason() {
    check!("prompt go\n call Edit {}\n call Edit {\"b\":2}\n done\n preview 1 write /p/a\n deny 1 not this file\n preview 2 write /p/b\n deny 2", @r#"
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Edit {}
    > call Edit {"b":2}
    > done
      proposed 1 Edit
      proposed 2 Edit
      PREVIEW 1 Edit {}
    > preview 1 write /p/a
      ASKED 1
    > deny 1 not this file
      finished 1: The user declined this call and said: not this file
      PREVIEW 2 Edit {"b":2}
    > preview 2 write /p/b
      ASKED 2
    > deny 2
      finished 2: The user declined this call. Do not repeat it; ask or choose another way.
      CALL MODEL #2 with user "go" | assistant "" Edit{} Edit{"b":2} | result 1 failed "The user declined this call and said: not this file" | result 2 failed "The user declined this call. Do not repeat it; ask or choose another way."
    "#);
}

#[test]
fn a_part_of_a_change_is_what_runs_and_the_model_is_told() {
    check!("prompt go\n call Edit {}\n call Bash {}\n done\n preview 1 write /p/a\n part 1 half\n checkpoint c\n ran 1 ok\n preview 2 run make\n part 2 x", @r#"
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Edit {}
    > call Bash {}
    > done
      proposed 1 Edit
      proposed 2 Bash
      PREVIEW 1 Edit {}
    > preview 1 write /p/a
      ASKED 1
    > part 1 half
      CHECKPOINT Opening "go"
    > checkpoint c
      Checkpoint(Taken { id: CheckpointId("c"), label: "go", kind: Opening, files_changed: 1 })
      started 1
      RUN 1 Replace {"file_path":"/p/a","content":"half"}
    > ran 1 ok
      finished 1: ok
    the rest was refused
      PREVIEW 2 Bash {}
    > preview 2 run make
      ASKED 2
    > part 2 x
    "#);
}

#[test]
fn a_yes_for_the_session_covers_the_next_edit_but_no_command() {
    check!("prompt go\n call Edit {}\n call Edit {}\n call Bash {}\n done\n preview 1 write /p/a\n session 1\n checkpoint c\n ran 1 ok
        preview 2 write /p/b\n ran 2 ok\n preview 3 run make", @r#"
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Edit {}
    > call Edit {}
    > call Bash {}
    > done
      proposed 1 Edit
      proposed 2 Edit
      proposed 3 Bash
      PREVIEW 1 Edit {}
    > preview 1 write /p/a
      ASKED 1
    > session 1
      CHECKPOINT Opening "go"
    > checkpoint c
      Checkpoint(Taken { id: CheckpointId("c"), label: "go", kind: Opening, files_changed: 1 })
      started 1
      RUN 1 Edit {}
    > ran 1 ok
      finished 1: ok
      PREVIEW 2 Edit {}
    > preview 2 write /p/b
      CHECKPOINT Between "go"
    > ran 2 ok
    > preview 3 run make
    "#);
}

#[test]
fn broken_arguments_and_failed_previews_are_answered() {
    check!("prompt go\n call Edit {\"path\": \"a\n call View [1]\n call View\n done\n badpreview 3 no file_path", @r#"
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Edit {"path": "a
    > call View [1]
    > call View
    > done
      proposed 1 Edit
      proposed 2 View
      proposed 3 View
      finished 1: Error: the arguments are not valid JSON (EOF while parsing a string at line 1 column 11); they began with: {"path": "a
      finished 2: Error: the arguments must be a JSON object
      PREVIEW 3 View {}
    > badpreview 3 no file_path
      finished 3: Error: no file_path
      CALL MODEL #2 with user "go" | assistant "" Edit{} View{} View{} | result 1 failed "Error: the arguments are not valid JSON (EOF while parsing a string at line 1 column 11); they began with: {\"path\": \"a" | result 2 failed "Error: the arguments must be a JSON object" | result 3 failed "Error: no file_path"
    "#);
}

#[test]
fn interrupt_while_streaming_keeps_what_was_said() {
    check!("prompt hi\n text Once upon\n call Edit {}\n interrupt\n text late\n done\n prompt again", @r#"
    > prompt hi
      user: hi
      CALL MODEL #1 with user "hi"
    > text Once upon
      Answer("Once upon")
    > call Edit {}
    > interrupt
      StopModel(RequestId(1))
      Done
      ended: Interrupted
    > text late
    > done
    > prompt again
      user: again
      CALL MODEL #2 with user "hi" | assistant "Once upon"  | user "again"
    "#);
}

#[test]
fn interrupt_while_a_tool_runs_waits_for_its_end() {
    check!("mode yolo\n prompt go\n call Bash {}\n call Edit {}\n done\n preview 1 run make\n checkpoint c1\n interrupt\n ran 1 half done\n checkpoint c2", @r#"
    > mode yolo
      Session(ModeChanged(Yolo))
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Bash {}
    > call Edit {}
    > done
      proposed 1 Bash
      proposed 2 Edit
      PREVIEW 1 Bash {}
    > preview 1 run make
      CHECKPOINT Opening "go"
    > checkpoint c1
      Checkpoint(Taken { id: CheckpointId("c1"), label: "go", kind: Opening, files_changed: 1 })
      started 1
      RUN 1 Bash {}
    > interrupt
      StartTimer(TimerId(1), 3s)
      STOP 1
    > ran 1 half done
      finished 1: half done
    Interrupted by the user before it finished.
      finished 2: Interrupted by the user before it finished.
      CHECKPOINT Closing "go"
    > checkpoint c2
      Checkpoint(Taken { id: CheckpointId("c2"), label: "go", kind: Closing, files_changed: 1 })
      ended: Interrupted
    "#);
}

#[test]
fn interrupt_twice_or_a_tool_that_never_ends() {
    check!("mode yolo\n prompt go\n call Bash {}\n done\n preview 1 run make\n checkpoint c1\n interrupt\n interrupt\n ran 1 late\n interrupt\n interrupt", @r#"
    > mode yolo
      Session(ModeChanged(Yolo))
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Bash {}
    > done
      proposed 1 Bash
      PREVIEW 1 Bash {}
    > preview 1 run make
      CHECKPOINT Opening "go"
    > checkpoint c1
      Checkpoint(Taken { id: CheckpointId("c1"), label: "go", kind: Opening, files_changed: 1 })
      started 1
      RUN 1 Bash {}
    > interrupt
      StartTimer(TimerId(1), 3s)
      STOP 1
    > interrupt
      finished 1: Interrupted by the user before it finished.
      CHECKPOINT Closing "go"
    > ran 1 late
    > interrupt
      ended: Interrupted
    > interrupt
    "#);
    check!("mode yolo\n prompt go\n call Bash {}\n done\n preview 1 run make\n checkpoint c1\n interrupt\n timer 1\n checkpoint c2", @r#"
    > mode yolo
      Session(ModeChanged(Yolo))
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Bash {}
    > done
      proposed 1 Bash
      PREVIEW 1 Bash {}
    > preview 1 run make
      CHECKPOINT Opening "go"
    > checkpoint c1
      Checkpoint(Taken { id: CheckpointId("c1"), label: "go", kind: Opening, files_changed: 1 })
      started 1
      RUN 1 Bash {}
    > interrupt
      StartTimer(TimerId(1), 3s)
      STOP 1
    > timer 1
      finished 1: Interrupted by the user before it finished.
      CHECKPOINT Closing "go"
    > checkpoint c2
      Checkpoint(Taken { id: CheckpointId("c2"), label: "go", kind: Closing, files_changed: 1 })
      ended: Interrupted
    "#);
}

#[test]
fn interrupt_while_asking_and_while_the_checkpoint_is_taken() {
    check!("prompt go\n call Bash {}\n done\n preview 1 run make\n interrupt", @r#"
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Bash {}
    > done
      proposed 1 Bash
      PREVIEW 1 Bash {}
    > preview 1 run make
      ASKED 1
    > interrupt
      finished 1: Interrupted by the user before it finished.
      ended: Interrupted
    "#);
    check!("mode yolo\n prompt go\n call Bash {}\n done\n preview 1 run make\n interrupt\n checkpoint late", @r#"
    > mode yolo
      Session(ModeChanged(Yolo))
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Bash {}
    > done
      proposed 1 Bash
      PREVIEW 1 Bash {}
    > preview 1 run make
      CHECKPOINT Opening "go"
    > interrupt
      finished 1: Interrupted by the user before it finished.
      ended: Interrupted
    > checkpoint late
    "#);
}

#[test]
fn a_busy_server_is_asked_again_and_a_refusal_is_not() {
    check!("prompt hi\n fail busy slow down\n fail busy stale\n timer 1\n text ok\n done\n prompt hi\n fail refused no such model", @r#"
    > prompt hi
      user: hi
      CALL MODEL #1 with user "hi"
    > fail busy slow down
      StartTimer(TimerId(1), 500ms)
      Turn(Retrying { attempt: 1, of: 5, wait: 500ms, why: "slow down" })
    > fail busy stale
    > timer 1
      CALL MODEL #2 with user "hi"
    > text ok
      Answer("ok")
    > done
      Done
      ended: Answered
    > prompt hi
      user: hi
      CALL MODEL #3 with user "hi" | assistant "ok"  | user "hi"
    > fail refused no such model
      Error: no such model
      ended: Failed("no such model")
    "#);
}

#[test]
fn interrupt_while_waiting_to_ask_again() {
    check!("prompt hi\n fail busy slow down\n interrupt\n timer 1", @r#"
    > prompt hi
      user: hi
      CALL MODEL #1 with user "hi"
    > fail busy slow down
      StartTimer(TimerId(1), 500ms)
      Turn(Retrying { attempt: 1, of: 5, wait: 500ms, why: "slow down" })
    > interrupt
      ended: Interrupted
    > timer 1
    "#);
}

#[test]
fn a_stream_cut_in_the_middle_keeps_its_text_and_says_so() {
    check!("prompt hi\n text Half an\n fail cut the connection was closed", @r#"
    > prompt hi
      user: hi
      CALL MODEL #1 with user "hi"
    > text Half an
      Answer("Half an")
    > fail cut the connection was closed
      Done
      Warning: The answer ended early: the connection was closed. What had come is kept.
      ended: Failed("the connection was closed")
    "#);
}

#[test]
fn prompts_wait_their_turn_and_come_back_when_it_is_interrupted() {
    check!("prompt one\n prompt two\n text a\n done\n prompt three\n unqueue\n prompt four\n steer five\n interrupt", @r#"
    > prompt one
      user: one
      CALL MODEL #1 with user "one"
    > prompt two
      queued: ["two"]
    > text a
      Answer("a")
    > done
      Done
      ended: Answered
      queued: []
      user: two
      CALL MODEL #2 with user "one" | assistant "a"  | user "two"
    > prompt three
      queued: ["three"]
    > unqueue
      back to the input: "three"
    > prompt four
      queued: ["four"]
    > steer five
    > interrupt
      StopModel(RequestId(2))
      ended: Interrupted
      back to the input: "five\nfour"
    "#);
}

#[test]
fn steering_reaches_the_model_after_the_calls_in_flight() {
    check!("prompt go\n call View {}\n done\n steer look at b too\n preview 1 read /p/a\n ran 1 a\n text ok\n steer and c\n done", @r#"
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call View {}
    > done
      proposed 1 View
      PREVIEW 1 View {}
    > steer look at b too
    > preview 1 read /p/a
      started 1
      RUN 1 View {}
    > ran 1 a
      finished 1: a
      user: look at b too
      CALL MODEL #2 with user "go" | assistant "" View{} | result 1 "a" | user "look at b too"
    > text ok
      Answer("ok")
    > steer and c
    > done
      Done
      user: and c
      CALL MODEL #3 with user "go" | assistant "" View{} | result 1 "a" | user "look at b too" | assistant "ok"  | user "and c"
    "#);
}

#[test]
fn without_a_checkpoint_every_change_asks_whatever_the_mode() {
    check!("mode yolo\n prompt go\n call Bash {}\n call Bash {}\n done\n preview 1 run make\n nocheckpoint\n allow 1\n ran 1 ok\n preview 2 run make", @r#"
    > mode yolo
      Session(ModeChanged(Yolo))
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Bash {}
    > call Bash {}
    > done
      proposed 1 Bash
      proposed 2 Bash
      PREVIEW 1 Bash {}
    > preview 1 run make
      CHECKPOINT Opening "go"
    > nocheckpoint
      Error: No checkpoint could be taken: disk full
      ASKED 1
    > allow 1
      started 1
      RUN 1 Bash {}
    > ran 1 ok
      finished 1: ok
      PREVIEW 2 Bash {}
    > preview 2 run make
      started 2
      RUN 2 Bash {}
    "#);
}

#[test]
fn plan_mode_refuses_changes_also_those_already_allowed() {
    check!("mode plan\n prompt go\n call Edit {}\n done\n preview 1 write /p/a", @r#"
    > mode plan
      Session(ModeChanged(Plan))
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Edit {}
    > done
      proposed 1 Edit
      PREVIEW 1 Edit {}
    > preview 1 write /p/a
      finished 1: Not allowed: plan mode is for reading only: nothing may be changed, run or sent
      CALL MODEL #2 with user "go" | assistant "" Edit{} | result 1 failed "Not allowed: plan mode is for reading only: nothing may be changed, run or sent"
    "#);
    check!("prompt go\n call View {}\n call Edit {}\n done\n preview 1 read /p/a\n preview 2 write /p/a\n allow 2\n mode plan\n ran 1 a", @r#"
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call View {}
    > call Edit {}
    > done
      proposed 1 View
      proposed 2 Edit
      PREVIEW 1 View {}
    > preview 1 read /p/a
      started 1
      RUN 1 View {}
      PREVIEW 2 Edit {}
    > preview 2 write /p/a
      ASKED 2
    > allow 2
    > mode plan
      Session(ModeChanged(Plan))
    > ran 1 a
      finished 1: a
      finished 2: Not allowed: plan mode is for reading only: nothing may be changed, run or sent
      CALL MODEL #2 with user "go" | assistant "" View{} Edit{} | result 1 "a" | result 2 failed "Not allowed: plan mode is for reading only: nothing may be changed, run or sent"
    "#);
}

#[test]
fn redo_goes_forward_again_until_something_else_is_asked() {
    check!("mode yolo\n prompt go\n call Edit {}\n done\n preview 1 write /p/a\n checkpoint c1\n ran 1 ok\n text done\n done\n checkpoint c2
        undo\n planned c1\n restored c1\n redo\n planned before\n restored before\n redo\n keep mine\n kept c3 mine\n undo\n planned c1\n restored c1\n prompt other\n interrupt\n redo", @r#"
    > mode yolo
      Session(ModeChanged(Yolo))
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Edit {}
    > done
      proposed 1 Edit
      PREVIEW 1 Edit {}
    > preview 1 write /p/a
      CHECKPOINT Opening "go"
    > checkpoint c1
      Checkpoint(Taken { id: CheckpointId("c1"), label: "go", kind: Opening, files_changed: 1 })
      started 1
      RUN 1 Edit {}
    > ran 1 ok
      finished 1: ok
      CALL MODEL #2 with user "go" | assistant "" Edit{} | result 1 "ok"
    > text done
      Answer("done")
    > done
      Done
      CHECKPOINT Closing "go"
    > checkpoint c2
      Checkpoint(Taken { id: CheckpointId("c2"), label: "go", kind: Closing, files_changed: 1 })
      ended: Answered
    > undo
      PLAN c1 since c2
    > planned c1
      Info: Going back to before “go”: nothing to do.
      RESTORE c1 as planned
    > restored c1
      Checkpoint(Restored { to: CheckpointId("c1"), before: Some(CheckpointId("before")), scope: Both, changes: [], kept_messages: 0, forward: false })
      back to the input: "go"
    > redo
      PLAN before since after
    > planned before
      Info: Going forward again: nothing to do.
      RESTORE before as planned
    > restored before
      Checkpoint(Restored { to: CheckpointId("before"), before: Some(CheckpointId("before")), scope: Both, changes: [], kept_messages: 4, forward: true })
    > redo
      Info: There is nothing to redo: nothing was walked back since the last request.
    > keep mine
      KeepCheckpoint("mine", 4)
    > kept c3 mine
      Checkpoint(Taken { id: CheckpointId("c3"), label: "mine", kind: Manual, files_changed: 0 })
      Info: Nothing has changed since checkpoint c3. It is called “mine”.
    > undo
      PLAN c1 since c2
    > planned c1
      Info: Going back to before “go”: nothing to do.
      RESTORE c1 as planned
    > restored c1
      Checkpoint(Restored { to: CheckpointId("c1"), before: Some(CheckpointId("before")), scope: Both, changes: [], kept_messages: 0, forward: false })
      back to the input: "go"
    > prompt other
      user: other
      CALL MODEL #3 with user "other"
    > interrupt
      StopModel(RequestId(3))
      ended: Interrupted
    > redo
      Info: There is nothing to redo: nothing was walked back since the last request.
    "#);
}

#[test]
fn an_undo_that_leaves_something_asks_and_a_no_or_another_request_leaves_everything() {
    check!("mode yolo\n prompt two\n call Edit {}\n done\n preview 1 write /p/a\n checkpoint c1\n ran 1 ok\n text done\n done\n checkpoint c2
        undo\n planned c1 changed after\n no\n restored c1\n undo\n planned c1 changed after\n prompt other\n interrupt
        undo\n badplan c1 disk full\n undo\n undo\n planned c1 not in that checkpoint: larger\n restored c1
        redo\n planned before changed after\n yes\n yes\n restored before", @r#"
    > mode yolo
      Session(ModeChanged(Yolo))
    > prompt two
      user: two
      CALL MODEL #1 with user "two"
    > call Edit {}
    > done
      proposed 1 Edit
      PREVIEW 1 Edit {}
    > preview 1 write /p/a
      CHECKPOINT Opening "two"
    > checkpoint c1
      Checkpoint(Taken { id: CheckpointId("c1"), label: "two", kind: Opening, files_changed: 1 })
      started 1
      RUN 1 Edit {}
    > ran 1 ok
      finished 1: ok
      CALL MODEL #2 with user "two" | assistant "" Edit{} | result 1 "ok"
    > text done
      Answer("done")
    > done
      Done
      CHECKPOINT Closing "two"
    > checkpoint c2
      Checkpoint(Taken { id: CheckpointId("c2"), label: "two", kind: Closing, files_changed: 1 })
      ended: Answered
    > undo
      PLAN c1 since c2
    > planned c1 changed after
      Session(StepAsked { title: "Going back to before “two”", plan: Plan { wanted: Wanted { to: CheckpointId("c1"), since: Some(CheckpointId("x")), only: None }, files: [], skipped: [("f", "changed after")] } })
    > no
      Info: Everything was left as it is.
    > restored c1
    > undo
      PLAN c1 since c2
    > planned c1 changed after
      Session(StepAsked { title: "Going back to before “two”", plan: Plan { wanted: Wanted { to: CheckpointId("c1"), since: Some(CheckpointId("x")), only: None }, files: [], skipped: [("f", "changed after")] } })
    > prompt other
      Info: Everything was left as it is.
      user: other
      CALL MODEL #3 with user "two" | assistant "" Edit{} | result 1 "ok" | assistant "done"  | user "other"
    > interrupt
      StopModel(RequestId(3))
      ended: Interrupted
    > undo
      PLAN c1 since c2
    > badplan c1 disk full
      Error: The files could not be restored: disk full
    > undo
      PLAN c1 since c2
    > undo
      Warning: A turn is running: nothing was walked back.
    > planned c1 not in that checkpoint: larger
      Info: Going back to before “two”: nothing to do, 1 skipped.
      RESTORE c1 as planned
    > restored c1
      Checkpoint(Restored { to: CheckpointId("c1"), before: Some(CheckpointId("before")), scope: Both, changes: [], kept_messages: 0, forward: false })
      back to the input: "two"
    > redo
      PLAN before since after
    > planned before changed after
      Session(StepAsked { title: "Going forward again", plan: Plan { wanted: Wanted { to: CheckpointId("before"), since: Some(CheckpointId("x")), only: None }, files: [], skipped: [("f", "changed after")] } })
    > yes
      RESTORE before as planned
    > yes
    > restored before
      Checkpoint(Restored { to: CheckpointId("before"), before: Some(CheckpointId("before")), scope: Both, changes: [], kept_messages: 5, forward: true })
    "#);
}

/// Without the end of a turn it is not known what came after it.
#[test]
fn an_undo_of_a_turn_that_was_cut_off_asks() {
    let begun = [
        RecordBody::TurnStarted { turn: TurnId(1), prompt: "go\nmore".into() },
        RecordBody::CheckpointTaken {
            turn: Some(TurnId(1)),
            id: CheckpointId("c1".into()),
            label: "go".into(),
            files_changed: 0,
            purpose: CheckpointKind::Opening,
        },
    ];
    let (mut agent, _) = Agent::start(settings(), &begun.map(Record::new));
    agent.step(Duration::ZERO, Input::Command(Command::Undo));
    let version = Version { id: "0".repeat(40), mode: 0o100644 };
    let files = vec![Planned { path: "a".into(), now: Some(version), then: None }];
    let wanted = Wanted { to: CheckpointId("c1".into()), since: None, only: None };
    let plan = Plan { wanted: wanted.clone(), files, skipped: vec![] };
    let asked = agent.step(Duration::ZERO, Input::StepPlanned(CheckpointId("c1".into()), Ok(plan.clone())));
    let title = "Going back to before “go”".to_owned();
    assert_eq!(asked, [Effect::Emit(None, EventBody::Session(SessionEvent::StepAsked { title, plan: plan.clone() }))]);
    assert!(!agent.idle());
    let done = agent.step(Duration::ZERO, Input::Command(Command::Step { go: true }));
    assert_eq!(done, [Effect::Restore(wanted, Some(plan))], "what was shown");
}

#[test]
fn undo_walks_files_and_conversation_back_and_returns_the_prompt() {
    check!("mode yolo\n prompt one\n text a\n done\n prompt two\n call Edit {}\n done\n preview 1 write /p/a\n checkpoint c1\n ran 1 ok\n text done\n done\n checkpoint c2
        undo\n planned c1\n prompt while restoring\n restored c1\n text b\n done\n undo", @r#"
    > mode yolo
      Session(ModeChanged(Yolo))
    > prompt one
      user: one
      CALL MODEL #1 with user "one"
    > text a
      Answer("a")
    > done
      Done
      ended: Answered
    > prompt two
      user: two
      CALL MODEL #2 with user "one" | assistant "a"  | user "two"
    > call Edit {}
    > done
      proposed 1 Edit
      PREVIEW 1 Edit {}
    > preview 1 write /p/a
      CHECKPOINT Opening "two"
    > checkpoint c1
      Checkpoint(Taken { id: CheckpointId("c1"), label: "two", kind: Opening, files_changed: 1 })
      started 1
      RUN 1 Edit {}
    > ran 1 ok
      finished 1: ok
      CALL MODEL #3 with user "one" | assistant "a"  | user "two" | assistant "" Edit{} | result 1 "ok"
    > text done
      Answer("done")
    > done
      Done
      CHECKPOINT Closing "two"
    > checkpoint c2
      Checkpoint(Taken { id: CheckpointId("c2"), label: "two", kind: Closing, files_changed: 1 })
      ended: Answered
    > undo
      PLAN c1 since c2
    > planned c1
      Info: Going back to before “two”: nothing to do.
      RESTORE c1 as planned
    > prompt while restoring
      queued: ["while restoring"]
    > restored c1
      Checkpoint(Restored { to: CheckpointId("c1"), before: Some(CheckpointId("before")), scope: Both, changes: [], kept_messages: 2, forward: false })
      back to the input: "two"
      queued: []
      user: while restoring
      CALL MODEL #4 with user "one" | assistant "a"  | user "while restoring"
    > text b
      Answer("b")
    > done
      Done
      ended: Answered
    > undo
      Info: There is nothing to undo: no turn of this conversation has changed anything.
    "#);
}

#[test]
fn the_users_own_command_needs_no_approval_and_joins_the_conversation() {
    check!("shell make\n preview 1 run make\n checkpoint c1\n ran 1 built\n checkpoint c2\n prompt why?", @r#"
    > shell make
      user: !make
      proposed 1 Bash
      PREVIEW 1 Bash {"command":"make"}
    > preview 1 run make
      CHECKPOINT Opening "!make"
    > checkpoint c1
      Checkpoint(Taken { id: CheckpointId("c1"), label: "!make", kind: Opening, files_changed: 1 })
      started 1
      RUN 1 Bash {"command":"make"}
    > ran 1 built
      finished 1: built
      CHECKPOINT Closing "!make"
    > checkpoint c2
      Checkpoint(Taken { id: CheckpointId("c2"), label: "!make", kind: Closing, files_changed: 1 })
      ended: Answered
    > prompt why?
      user: why?
      CALL MODEL #1 with user "I ran this command myself: make\nIts output:\nbuilt" | user "why?"
    "#);
}

#[test]
fn closing_at_any_point_leaves_a_valid_transcript() {
    check!("prompt go\n text par\n close", @r#"
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > text par
      Answer("par")
    > close
      StopModel(RequestId(1))
      Done
      ended: Interrupted
      Session(Closed)
      Stop
    "#);
    check!("mode yolo\n prompt go\n call Bash {}\n done\n preview 1 run make\n checkpoint c\n close", @r#"
    > mode yolo
      Session(ModeChanged(Yolo))
    > prompt go
      user: go
      CALL MODEL #1 with user "go"
    > call Bash {}
    > done
      proposed 1 Bash
      PREVIEW 1 Bash {}
    > preview 1 run make
      CHECKPOINT Opening "go"
    > checkpoint c
      Checkpoint(Taken { id: CheckpointId("c"), label: "go", kind: Opening, files_changed: 1 })
      started 1
      RUN 1 Bash {}
    > close
      StartTimer(TimerId(1), 3s)
      STOP 1
      finished 1: Interrupted by the user before it finished.
      CHECKPOINT Closing "go"
      ended: Interrupted
      Session(Closed)
      Stop
    "#);
}

#[test]
fn odd_answers() {
    check!("prompt hi\n done\n prompt hi\n text long\n length", @r#"
    > prompt hi
      user: hi
      CALL MODEL #1 with user "hi"
    > done
      Warning: The model gave an empty answer.
      ended: Answered
    > prompt hi
      user: hi
      CALL MODEL #2 with user "hi" | user "hi"
    > text long
      Answer("long")
    > length
      Done
      Warning: The answer was cut: the model reached its output limit.
      ended: Answered
    "#);
    let none = Settings { model: None, ..settings() };
    insta::assert_snapshot!(run_with(none, "prompt hi"), @r#"
    > prompt hi
      Error: There is no model to send this to.
      back to the input: "hi"
    "#);
    let two = Settings { max_requests: 2, ..settings() };
    insta::assert_snapshot!(run_with(two, "prompt hi\n call View\n done\n badpreview 1 no\n call View\n done\n badpreview 2 no"), @r#"
    > prompt hi
      user: hi
      CALL MODEL #1 with user "hi"
    > call View
    > done
      proposed 1 View
      PREVIEW 1 View {}
    > badpreview 1 no
      finished 1: Error: no
      CALL MODEL #2 with user "hi" | assistant "" View{} | result 1 failed "Error: no"
    > call View
    > done
      proposed 2 View
      PREVIEW 2 View {}
    > badpreview 2 no
      finished 2: Error: no
      Warning: The turn was stopped after 2 requests in one turn.
      ended: Failed("stopped after 2 requests in one turn")
    "#);
}
