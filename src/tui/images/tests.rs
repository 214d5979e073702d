//! Pictures in the prompt, without a disk.

use super::*;
use crate::{
    protocol::{ModelId, ModelInfo, SessionEvent, *},
    tui::{
        app::{Msg, Setting, update},
        outside::News,
    },
};
use backstitch_components::{
    editor::Edit,
    theme::{ColorDepth, Theme},
};
use iocraft::{KeyCode, KeyModifiers};
use std::time::Duration;

fn model(vision: Option<bool>) -> Model {
    let setting = Setting {
        root: "/p".into(),
        place: "p".into(),
        demo: false,
        trusted: true,
        placeholder: String::new(),
        theme: Theme::for_background(true),
        depth: ColorDepth::None,
        still: true,
        keys: Default::default(),
        fullscreen: false,
    };
    let mut model = Model::new(setting, (80, 24)).0;
    let info = ModelInfo { id: ModelId { provider: "p".into(), model: "m".into() }, context_window: None, vision };
    let started = SessionEvent::Started { id: SessionId("s".into()), model: Some(info), mode: Mode::Normal };
    tell(&mut model, Msg::Event(Event { seq: 1, turn: None, body: EventBody::Session(started) }));
    model
}

fn tell(model: &mut Model, msg: Msg) -> Vec<Cmd> {
    update(model, Duration::from_secs(1), msg)
}

fn press(model: &mut Model, code: KeyCode, ctrl: bool) -> Vec<Cmd> {
    tell(model, Msg::Key(code, if ctrl { KeyModifiers::CONTROL } else { KeyModifiers::NONE }))
}

fn image(width: u32) -> Image {
    Image { label: String::new(), media_type: "image/png".into(), data: "AAAA".into(), width, height: 480 }
}

fn sent(cmds: &[Cmd]) -> Option<Prompt> {
    cmds.iter().find_map(|cmd| if let Cmd::Send(Command::Prompt(prompt)) = cmd { Some(prompt.clone()) } else { None })
}

fn said(model: &mut Model) -> String {
    model.take_outbox().iter().map(|row| row.text() + "\n").collect()
}

#[test]
fn what_is_sent_has_the_pictures_that_are_in_the_text() {
    let mut m = model(None);
    tell(&mut m, Msg::News(News::Pictures(vec![image(640), image(320), image(100)])));
    // The second one goes again.
    m.prompt.editor.apply(Edit::Backspace, 80);
    m.prompt.editor.apply(Edit::Backspace, 80);
    let prompt = sent(&press(&mut m, KeyCode::Enter, false)).unwrap();
    assert_eq!(prompt.text.trim_end(), "[image 1: 640×480 png] [image 2: 320×480 png]");
    let labels: Vec<_> = prompt.images.iter().map(|i| i.label.as_str()).collect();
    assert_eq!(labels, ["[image 1: 640×480 png]", "[image 2: 320×480 png]"]);
    // Taken back out of the queue it is as it was.
    tell(&mut m, Msg::News(News::Pictures(vec![image(7)])));
    let unqueued = SessionEvent::Unqueued { prompt: prompt.clone(), waiting: vec![] };
    tell(&mut m, Msg::Event(Event { seq: 2, turn: None, body: EventBody::Session(unqueued) }));
    let again = sent(&press(&mut m, KeyCode::Enter, false)).unwrap();
    assert_eq!(again.images.iter().map(|i| i.width).collect::<Vec<_>>(), [640, 320, 7], "{again:?}");
    assert!(again.images.iter().all(|i| again.text.matches(&i.label).count() == 1), "{again:?}");
}

#[test]
fn a_fresh_prompt_counts_from_one() {
    let mut m = model(None);
    let labels = |m: &Model| m.prompt.editor.attachments().map(|label| label.split(':').next().unwrap().to_owned()).collect::<Vec<_>>();
    tell(&mut m, Msg::News(News::Pictures(vec![image(640), image(320)])));
    assert_eq!(labels(&m), ["[image 1", "[image 2"]);
    press(&mut m, KeyCode::Char('c'), true);
    tell(&mut m, Msg::News(News::Pictures(vec![image(100)])));
    assert_eq!(labels(&m), ["[image 1"]);
    // What was cleared comes back as it was.
    m.prompt.editor.apply(Edit::Undo, 80);
    m.prompt.editor.apply(Edit::Undo, 80);
    assert_eq!(sent(&press(&mut m, KeyCode::Enter, false)).unwrap().images.iter().map(|i| i.width).collect::<Vec<_>>(), [640, 320]);
    tell(&mut m, Msg::News(News::Pictures(vec![image(7)])));
    assert_eq!(labels(&m), ["[image 1"]);
}

#[test]
fn a_picture_that_is_on_its_way_is_waited_for() {
    let mut m = model(None);
    assert_eq!(press(&mut m, KeyCode::Char('v'), true), [Cmd::Errand(Errand::PastePicture)]);
    assert_eq!(press(&mut m, KeyCode::Char('v'), true), []);
    press(&mut m, KeyCode::Char('x'), false);
    assert!(sent(&press(&mut m, KeyCode::Enter, false)).is_none());
    assert!(said(&mut m).contains("still being read"));
    tell(&mut m, Msg::News(News::NoPictures(Notice::info("nothing there"))));
    assert_eq!(sent(&press(&mut m, KeyCode::Enter, false)).unwrap(), "x".into());
}

#[test]
fn a_model_that_sees_nothing_is_sent_no_picture() {
    let mut m = model(Some(false));
    assert_eq!(press(&mut m, KeyCode::Char('v'), true), []);
    assert!(said(&mut m).contains("p/m sees no images"));
    tell(&mut m, Msg::News(News::Pictures(vec![image(1)])));
    assert!(sent(&press(&mut m, KeyCode::Enter, false)).is_none());
    assert!(!m.prompt.editor.is_empty());
    assert!(
        sent(&{
            m.prompt.editor.apply(Edit::Clear, 80);
            m.prompt.editor.apply(Edit::Insert("words".into()), 80);
            press(&mut m, KeyCode::Enter, false)
        })
        .is_some()
    );
}

#[test]
fn paths_are_known_as_terminals_paste_them() {
    let mut m = model(None);
    let mut paths = |text: &str| match pasted(&mut m, text) {
        Some(Cmd::Errand(Errand::ReadPictures { paths, .. })) => paths.iter().map(|p| p.display().to_string()).collect(),
        _ => vec![],
    };
    assert_eq!(paths("/home/me/a.png"), ["/home/me/a.png"]);
    assert_eq!(paths("/home/me/my shot.png"), ["/home/me/my shot.png"], "as some terminals paste it");
    assert_eq!(paths("'/home/me/my shot.PNG' "), ["/home/me/my shot.PNG"]);
    assert_eq!(paths("/home/me/my\\ shot.jpeg"), ["/home/me/my shot.jpeg"]);
    assert_eq!(paths("file:///home/me/my%20shot.webp"), ["/home/me/my shot.webp"]);
    assert_eq!(paths("~/a.gif \"b c.jpg\""), ["~/a.gif", "/p/b c.jpg"]);
    for text in ["look at a.png please", "a.rs", "", "a.png\nb.png", "%zz"] {
        assert_eq!(paths(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(decoded("a%2"), "a%2");
}

#[test]
fn text_that_only_looks_like_a_path_is_text() {
    let mut m = model(None);
    tell(&mut m, Msg::News(News::Typed("no-such.png".into())));
    assert_eq!(m.prompt.editor.text(), "no-such.png");
}

#[test]
fn a_model_that_sees_nothing_is_said_to() {
    let mut m = model(Some(false));
    assert_eq!(pasted(&mut m, "/tmp/a.png"), None);
    assert!(said(&mut m).contains("sees no images"), "what was pasted stays a path, and why is said");
}

#[test]
fn a_picture_chosen_in_the_completion_is_taken_in() {
    let mut m = model(None);
    m.prompt.editor.set_text("see @docs/a.png now");
    let cmd = mentioned(&mut m, "docs/a.png", 4..15).unwrap();
    let typed = Some("@docs/a.png".to_owned());
    assert_eq!(cmd, Cmd::Errand(Errand::ReadPictures { paths: vec!["/p/docs/a.png".into()], typed }));
    assert_eq!(m.prompt.editor.text(), "see  now");
    assert_eq!(mentioned(&mut m, "docs/a.txt", 0..3), None);
}
