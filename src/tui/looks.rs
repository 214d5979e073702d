//! How the program looks and makes itself noticed: the theme for this background, the window's title, calls to a user who looks
//! elsewhere. Pure.
//!
//! - The theme follows from the choice and the background; while the picker is open it is the one under the cursor.
//! - What was printed stays as it is: another theme counts for what comes.
//! - Nobody is called who looks at the window; where that is unknown, only after a long turn.

use super::{
    app::{Cmd, Model},
    images,
    outside::{Call, Errand, News},
    panel::Panel,
};
use crate::protocol::{self, Notice, Notifications, ThemeChoice};
use backstitch_components::{
    editor::Edit,
    text::sanitize::one_line,
    theme::{Theme, is_dark},
};
use std::{sync::Arc, time::Duration};

/// A turn that takes longer is worth a call even if the user may be looking.
const LONG: Duration = Duration::from_secs(10);
/// How long a terminal may take to tell its background before rows are printed in the colours that were guessed.
const PATIENCE: Duration = Duration::from_millis(60);

#[derive(Debug)]
pub struct Looks {
    choice: ThemeChoice,
    own: Vec<Arc<Theme>>,
    notifications: Notifications,
    /// The theme in use, unless another one is being looked at.
    theme: Arc<Theme>,
    dark: bool,
    /// What is printed for good waits so long for the terminal to tell its background; the live region does not.
    waits: Option<Duration>,
    focused: Option<bool>,
    /// When the running turn began.
    since: Option<Duration>,
    asking: bool,
    /// A turn has ended since the start.
    worked: bool,
    opened: bool,
    title: String,
}

impl Looks {
    pub fn new(theme: Arc<Theme>) -> Looks {
        Looks {
            choice: ThemeChoice::default(),
            own: vec![],
            notifications: Notifications::default(),
            dark: theme.dark,
            theme,
            waits: None,
            focused: None,
            since: None,
            asking: false,
            worked: false,
            opened: false,
            title: String::new(),
        }
    }

    /// All themes: the user's own come first.
    pub fn all(&self) -> Vec<Arc<Theme>> {
        let builtin = Theme::names().filter(|name| self.own.iter().all(|own| own.name != *name)).filter_map(Theme::builtin);
        self.own.iter().cloned().chain(builtin).collect()
    }

    pub fn find(&self, name: &str) -> Option<Arc<Theme>> {
        self.own.iter().find(|theme| theme.name == name).cloned().or_else(|| Theme::builtin(name))
    }

    pub fn theme(&self) -> &Arc<Theme> {
        &self.theme
    }

    /// Is the right theme still unknown?
    pub fn waits(&self) -> bool {
        self.waits.is_some()
    }

    /// The choice that follows from taking this theme: for backgrounds of its kind, or for all if it is of another kind than this.
    pub fn taking(&self, theme: &Theme) -> ThemeChoice {
        let name = Some(theme.name.clone());
        match (theme.dark, self.dark) {
            _ if theme.name == "terminal" => ThemeChoice::both(&theme.name),
            (true, true) => ThemeChoice { dark: name, ..self.choice.clone() },
            (false, false) => ThemeChoice { light: name, ..self.choice.clone() },
            _ => ThemeChoice::both(&theme.name),
        }
    }

    fn choose(&mut self, choice: ThemeChoice) {
        self.choice = choice;
        self.theme = match self.choice.name(self.dark) {
            Some(name) => self.find(name).unwrap_or_else(|| Theme::for_background(self.dark)),
            None => Theme::for_background(self.dark),
        };
    }
}

/// What the configuration says, when the session opens.
pub fn begin(model: &mut Model, settings: protocol::Looks) {
    let mut trouble = vec![];
    let looks = &mut model.looks;
    for file in &settings.own_themes {
        let parsed = Theme::parse_over(&file.json, &file.name, &|name| looks.find(name));
        match parsed {
            Ok(theme) => looks.own.push(Arc::new(theme)),
            Err(why) => trouble.push(Notice::warning(format!("The theme themes/{}.json can't be used: {why}.", file.name))),
        }
    }
    let mut unknown: Vec<&String> = [&settings.theme.dark, &settings.theme.light].into_iter().flatten().collect();
    unknown.dedup();
    unknown.retain(|name| looks.find(name).is_none());
    for name in unknown {
        trouble.push(no_theme(looks, name));
    }
    looks.notifications = settings.notifications;
    looks.opened = true;
    if settings.theme != ThemeChoice::default() {
        looks.choose(settings.theme);
    }
    model.setting.still |= !settings.motion;
    trouble.into_iter().for_each(|notice| model.say(notice));
}

fn no_theme(looks: &Looks, name: &str) -> Notice {
    let names: Vec<String> = looks.all().iter().map(|theme| theme.name.clone()).collect();
    Notice::warning(format!("There is no theme {name:?}.")).hint(format!("the themes are {}", names.join(", ")))
}

/// `/theme`, alone or with a name.
pub fn command(model: &mut Model, name: &str) -> Vec<Cmd> {
    if name.is_empty() {
        // Whoever asked for it means the keys that follow.
        (model.panel, model.hasty) = (Some(Panel::theme(&model.looks)), None);
        return vec![];
    }
    match model.looks.find(name) {
        Some(theme) => vec![Cmd::Errand(Errand::SaveTheme(model.looks.taking(&theme)))],
        None => {
            let notice = no_theme(&model.looks, name);
            model.say(notice);
            vec![]
        }
    }
}

pub fn reported(model: &mut Model, report: News) -> Vec<Cmd> {
    let looks = &mut model.looks;
    match report {
        News::Background(r, g, b) => {
            let dark = is_dark(r, g, b);
            looks.waits = None;
            if dark != looks.dark {
                looks.dark = dark;
                looks.choose(looks.choice.clone());
            }
        }
        News::Asked => looks.waits = Some(model.now + PATIENCE),
        News::Answered => looks.waits = None,
        News::Focus(focused) => looks.focused = Some(focused),
        News::Pictures(pictures) => images::read(model, pictures),
        News::NoPictures(notice) => images::failed(model, notice),
        News::Typed(text) => drop(model.prompt.editor.apply(Edit::Paste(text), model.width())),
    }
    vec![]
}

/// After every message: what follows from it for theme, title and calls.
pub fn follow(model: &mut Model, cmds: &mut Vec<Cmd>) {
    let leaves = cmds.iter().any(|cmd| matches!(cmd, Cmd::Exit | Cmd::Suspend));
    if leaves || model.looks.waits.is_some_and(|until| model.now >= until) {
        model.looks.waits = None;
    }
    for cmd in cmds.iter() {
        if let Cmd::Errand(Errand::SaveTheme(choice)) = cmd {
            model.looks.choose(choice.clone());
        }
    }
    let theme = match &model.panel {
        Some(Panel::Theme(picker)) => picker.theme(),
        _ => &model.looks.theme,
    };
    if !Arc::ptr_eq(theme, &model.setting.theme) {
        model.setting.theme = theme.clone();
    }
    if model.looks.opened {
        cmds.extend(call(model).map(|call| Cmd::Errand(Errand::Notify(call))));
        cmds.extend(title(model).map(|title| Cmd::Errand(Errand::Title(title))));
    }
}

fn project(model: &Model) -> String {
    let name = model.setting.root.file_name().map_or_else(|| model.setting.place.clone(), |name| name.to_string_lossy().into_owned());
    one_line(&name).into_owned()
}

/// The title, if it is another one than before. No spinner: it would be a change every tenth of a second.
fn title(model: &mut Model) -> Option<String> {
    if !model.looks.notifications.title {
        return None;
    }
    let state = match (model.approval.is_some(), model.status.turn.is_some(), model.looks.worked) {
        (true, ..) => " · waiting for you",
        (_, true, _) => " · working",
        (_, _, true) => " · done",
        _ => "",
    };
    let title = format!("backstitch · {}{state}", project(model));
    (title != model.looks.title).then(|| {
        model.looks.title.clone_from(&title);
        title
    })
}

/// A call, if a question has opened or a turn has ended while the user looks elsewhere.
fn call(model: &mut Model) -> Option<Call> {
    let (busy, asking) = (model.status.turn.is_some(), model.approval.is_some());
    let since = model.looks.since;
    let was_asking = std::mem::replace(&mut model.looks.asking, asking);
    let question = asking && !was_asking;
    let ended = !busy && since.is_some();
    if busy {
        model.looks.since.get_or_insert(model.now);
    } else {
        model.looks.since = None;
    }
    model.looks.worked |= ended;
    let long = since.is_some_and(|since| model.now.saturating_sub(since) > LONG);
    let away = match model.looks.focused {
        Some(focused) => !focused,
        None => long,
    };
    let wanted = model.looks.notifications;
    if !away || !(question || ended) || !(wanted.bell || wanted.terminal || wanted.desktop) {
        return None;
    }
    let what = match model.transcript.asked().filter(|_| question) {
        Some(call) => format!("waits for you: {} {}", one_line(&call.name), one_line(&call.title)),
        None => "has finished".into(),
    };
    let text = format!("{} {}", project(model), what.trim_end()).chars().take(200).collect();
    Some(Call { text, bell: wanted.bell, terminal: wanted.terminal, desktop: wanted.desktop })
}

#[cfg(test)]
mod tests;
