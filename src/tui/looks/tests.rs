//! Themes, title and calls, without a terminal.

use super::*;
use crate::{
    protocol::*,
    tui::app::{Msg, Opened, Setting, update},
};
use backstitch_components::theme::{ColorDepth, Role};
use iocraft::{KeyCode, KeyModifiers};

struct Desk {
    model: Model,
    seq: u64,
}

fn desk(looks: protocol::Looks) -> Desk {
    let setting = Setting {
        root: "/home/me/shop".into(),
        place: "~/shop".into(),
        demo: false,
        trusted: true,
        placeholder: String::new(),
        theme: Theme::for_background(true),
        depth: ColorDepth::TrueColor,
        still: false,
        keys: Default::default(),
        fullscreen: false,
    };
    let mut desk = Desk { model: Model::new(setting, (80, 30)).0, seq: 0 };
    let opened = Opened { looks, ..Opened::default() };
    desk.at(0, Msg::Opened(Ok(opened)));
    desk
}

impl Desk {
    fn at(&mut self, seconds: u64, msg: Msg) -> Vec<Cmd> {
        update(&mut self.model, Duration::from_secs(seconds), msg)
    }

    fn event(&mut self, seconds: u64, body: EventBody) -> Vec<Cmd> {
        self.seq += 1;
        self.at(seconds, Msg::Event(Event { seq: self.seq, turn: Some(TurnId(1)), body }))
    }

    fn began(&mut self, seconds: u64) -> Vec<Cmd> {
        self.event(seconds, EventBody::Turn(TurnEvent::Started))
    }

    fn ended(&mut self, seconds: u64) -> Vec<Cmd> {
        let end = TurnEnd { how: TurnOutcome::Answered, usage: Usage::default(), took: Duration::ZERO };
        self.event(seconds, EventBody::Turn(TurnEvent::Ended(end)))
    }

    fn keys(&mut self, text: &str) -> Vec<Cmd> {
        let press = |c| match c {
            '\n' => KeyCode::Enter,
            '\x1b' => KeyCode::Esc,
            '↓' => KeyCode::Down,
            c => KeyCode::Char(c),
        };
        text.chars().flat_map(|c| self.at(100, Msg::Key(press(c), KeyModifiers::NONE))).collect()
    }

    fn theme(&self) -> &str {
        &self.model.setting.theme.name
    }

    fn printed(&mut self) -> String {
        self.model.take_outbox().iter().map(|row| row.text() + "\n").collect()
    }
}

fn titles(cmds: &[Cmd]) -> Vec<&str> {
    cmds.iter().filter_map(|c| if let Cmd::Errand(Errand::Title(title)) = c { Some(title.as_str()) } else { None }).collect()
}

fn calls(cmds: &[Cmd]) -> Vec<&str> {
    cmds.iter().filter_map(|c| if let Cmd::Errand(Errand::Notify(call)) = c { Some(call.text.as_str()) } else { None }).collect()
}

#[test]
fn the_terminals_background_decides_between_dark_and_light() {
    let mut d = desk(protocol::Looks::default());
    assert_eq!(d.theme(), "backstitch-dark");
    d.at(1, Msg::News(News::Background(255, 255, 255)));
    assert_eq!(d.theme(), "backstitch-light");
    d.at(1, Msg::News(News::Background(30, 30, 46)));
    assert_eq!(d.theme(), "backstitch-dark");
    let choice = ThemeChoice { dark: None, light: Some("rose-pine-dawn".into()) };
    let mut d = desk(protocol::Looks { theme: choice, ..Default::default() });
    assert_eq!(d.theme(), "backstitch-dark");
    d.at(1, Msg::News(News::Background(250, 244, 237)));
    assert_eq!(d.theme(), "rose-pine-dawn");
    let mut d = desk(protocol::Looks { theme: ThemeChoice::both("nord"), ..Default::default() });
    d.at(1, Msg::News(News::Background(255, 255, 255)));
    assert_eq!(d.theme(), "nord");
}

#[test]
fn the_picker_shows_each_theme_at_once_and_esc_restores() {
    let mut d = desk(protocol::Looks::default());
    d.keys("/theme\n");
    assert!(matches!(d.model.panel, Some(Panel::Theme(_))));
    assert_eq!(d.theme(), "backstitch-dark");
    d.keys("↓↓");
    assert_eq!(d.theme(), "high-contrast-dark");
    d.keys("\x1b");
    assert_eq!((d.theme(), d.model.panel.is_none()), ("backstitch-dark", true));
    d.keys("/theme\n");
    let cmds = d.keys("↓↓\n");
    let dark = ThemeChoice { dark: Some("high-contrast-dark".into()), light: None };
    assert!(cmds.contains(&Cmd::Errand(Errand::SaveTheme(dark))), "{cmds:?}");
    assert_eq!(d.theme(), "high-contrast-dark");
    d.at(101, Msg::News(News::Background(255, 255, 255)));
    assert_eq!(d.theme(), "backstitch-light", "the choice is for dark backgrounds");
}

#[test]
fn a_theme_is_taken_by_name() {
    let mut d = desk(protocol::Looks::default());
    // A light theme on a dark background is meant.
    let cmds = d.keys("/theme nord\n/theme gruvbox-light\n");
    assert!(cmds.contains(&Cmd::Errand(Errand::SaveTheme(ThemeChoice::both("gruvbox-light")))), "{cmds:?}");
    assert_eq!(d.theme(), "gruvbox-light");
    d.keys("/theme nosuch\n");
    assert!(d.printed().contains("There is no theme \"nosuch\""));
    assert_eq!(d.theme(), "gruvbox-light");
}

#[test]
fn themes_of_the_users_count_and_their_mistakes_are_said() {
    let own = |name: &str, json: &str| OwnTheme { name: name.into(), json: json.into() };
    let own_themes = vec![
        own("mine", r##"{ "extends": "nord", "colours": { "accent": "#ff0000" } }"##),
        own("over", r#"{ "extends": "mine" }"#),
        own("broken", r#"{ "extends": "nord", "colours": { "acent": "x" } }"#),
    ];
    let mut d = desk(protocol::Looks { theme: ThemeChoice::both("over"), own_themes, ..Default::default() });
    assert_eq!(d.theme(), "over");
    let accent = d.model.setting.theme.resolve(Role::Accent, ColorDepth::TrueColor);
    assert_eq!(accent, d.model.looks.find("mine").unwrap().resolve(Role::Accent, ColorDepth::TrueColor));
    let said = d.printed();
    assert!(said.contains("themes/broken.json") && said.contains("acent"), "{said}");
}

#[test]
fn the_title_says_what_the_session_does() {
    let mut d = desk(protocol::Looks::default());
    assert_eq!(titles(&d.began(1)), ["backstitch · shop · working"]);
    assert_eq!(titles(&d.event(1, EventBody::Turn(TurnEvent::Called))), Vec::<&str>::new());
    let id = CallId(1);
    d.event(2, EventBody::Call(CallEvent::Proposed { id, name: "Bash".into(), title: "ls".into() }));
    assert_eq!(titles(&d.event(2, EventBody::Call(CallEvent::Asked { id, why: None }))), ["backstitch · shop · waiting for you"]);
    assert_eq!(titles(&d.ended(3)), ["backstitch · shop · done"]);
    let off = Notifications { title: false, ..Notifications::default() };
    let mut d = desk(protocol::Looks { notifications: off, ..Default::default() });
    assert!(titles(&d.began(1)).is_empty());
}

#[test]
fn only_who_looks_elsewhere_is_called() {
    let mut d = desk(protocol::Looks::default());
    d.began(1);
    assert!(calls(&d.ended(5)).is_empty(), "unknown, and a short turn");
    d.began(6);
    assert_eq!(calls(&d.ended(17)), ["shop has finished"], "unknown, and a long turn");
    d.at(18, Msg::News(News::Focus(true)));
    d.began(20);
    assert!(calls(&d.ended(60)).is_empty());
    d.at(61, Msg::News(News::Focus(false)));
    d.began(62);
    let id = CallId(1);
    d.event(62, EventBody::Call(CallEvent::Proposed { id, name: "Bash".into(), title: "make\x1b[2J".into() }));
    let asked = d.event(63, EventBody::Call(CallEvent::Asked { id, why: None }));
    assert!(calls(&asked)[0].starts_with("shop waits for you: Bash make"), "{asked:?}");
    assert!(!calls(&asked)[0].contains('\x1b'));
    assert!(calls(&d.event(64, EventBody::Turn(TurnEvent::Called))).is_empty(), "once");
    assert_eq!(calls(&d.ended(65)), ["shop has finished"]);
    let off = Notifications { title: true, bell: false, terminal: false, desktop: false };
    let mut d = desk(protocol::Looks { notifications: off, ..Default::default() });
    d.began(1);
    assert!(calls(&d.ended(60)).is_empty());
}

#[test]
fn reduced_motion_stands_still() {
    assert!(!desk(protocol::Looks::default()).model.setting.still);
    assert!(desk(protocol::Looks { motion: false, ..Default::default() }).model.setting.still);
}

#[test]
fn modes_and_turns_differ_in_words() {
    let mut d = desk(protocol::Looks::default());
    let screen = |d: &Desk| crate::tui::view::frame(&d.model).rows().map(|row| row.text() + "\n").collect::<String>();
    let mut seen = std::collections::BTreeSet::new();
    for mode in Mode::ALL {
        d.model.status.mode = mode;
        assert!(seen.insert(screen(&d)), "{mode:?} looks like another mode");
    }
    d.began(1);
    assert!(seen.insert(screen(&d)));
    d.model.status.stopping = true;
    assert!(seen.insert(screen(&d)));
}

#[test]
fn what_is_printed_waits_a_moment_for_the_background() {
    let started = || {
        let started = SessionEvent::Started { id: SessionId("s".into()), model: None, mode: Mode::Normal };
        Msg::Event(Event { seq: 1, turn: None, body: EventBody::Session(started) })
    };
    for answer in [News::Background(255, 255, 255), News::Answered] {
        let mut d = desk(protocol::Looks::default());
        d.at(0, Msg::News(News::Asked));
        d.at(0, started());
        assert_eq!(d.printed(), "");
        assert!(crate::tui::app::tick_every(&d.model).is_some());
        d.at(0, Msg::News(answer));
        assert!(d.printed().contains("backstitch"));
    }
    // A terminal that never answers holds nothing back for long.
    let mut d = desk(protocol::Looks::default());
    d.at(0, Msg::News(News::Asked));
    d.at(0, started());
    update(&mut d.model, Duration::from_millis(61), Msg::Tick);
    assert!(d.printed().contains("backstitch"));
}
