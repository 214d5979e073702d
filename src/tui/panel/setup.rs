//! No model yet: take a server found on this machine, enter an address and a key, or see the demo.

use super::PanelOutcome;
use crate::{
    protocol::{Command, FoundServer, ProviderSettings},
    tui::{
        app::Cmd,
        keymap::{Context, Keymap},
    },
};
use backstitch_components::{
    dialog::{Dialog, DialogOutcome, DialogState, DialogView},
    editor::{Edit, Editor},
    key::Chord,
    list::Item,
    text::{
        span::{Line, Style},
        wrap::wrap_hanging,
    },
    theme::Role,
};
use iocraft::KeyCode;

#[derive(Debug, Default)]
pub struct Setup {
    state: DialogState,
    /// `None` while the machine is still being searched.
    found: Option<Vec<FoundServer>>,
    form: Option<Form>,
}

#[derive(Debug, Default)]
struct Form {
    url: Editor,
    key: Editor,
    on_key: bool,
    problem: Option<&'static str>,
}

impl Setup {
    pub fn found(&mut self, servers: Vec<FoundServer>) {
        self.found = Some(servers);
    }

    fn servers(&self) -> &[FoundServer] {
        self.found.as_deref().unwrap_or_default()
    }

    pub fn contexts(&self) -> &'static [Context] {
        if self.form.is_some() { &[Context::Setup, Context::Field, Context::Edit] } else { &[Context::List, Context::Setup] }
    }

    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        if let Some(form) = &mut self.form {
            return match form.press(chord) {
                FormOutcome::Stays => PanelOutcome::Stays,
                FormOutcome::Back => {
                    self.form = None;
                    PanelOutcome::Stays
                }
                FormOutcome::Done(settings) => PanelOutcome::Does(Cmd::Send(Command::Connect(settings))),
            };
        }
        let servers = self.servers().len();
        match self.state.press(chord, &self.dialog(&Keymap::default(), 80)) {
            DialogOutcome::Chosen(n, _) if n < servers => {
                PanelOutcome::Does(Cmd::Send(Command::Connect(self.servers()[n].settings.clone())))
            }
            DialogOutcome::Chosen(n, _) if n == servers => {
                self.form = Some(Form::default());
                PanelOutcome::Stays
            }
            DialogOutcome::Chosen(..) => PanelOutcome::Does(Cmd::Demo),
            DialogOutcome::Dismissed => PanelOutcome::Closed,
            DialogOutcome::Moved | DialogOutcome::Ignored => PanelOutcome::Stays,
        }
    }

    pub fn takes_secret(&self) -> bool {
        self.form.as_ref().is_some_and(|form| form.on_key)
    }

    pub fn paste(&mut self, text: &str) {
        if let Some(form) = &mut self.form {
            let line = text.trim().lines().next().unwrap_or_default().to_string();
            form.field().apply(Edit::Insert(line), 200);
        }
    }

    fn dialog(&self, keys: &Keymap, width: usize) -> Dialog {
        let mut choices: Vec<Item> = self
            .servers()
            .iter()
            .map(|s| {
                let models = s.settings.models.len();
                let first = s.settings.models.first().map_or(String::new(), |m| m.to_string());
                let more = if models > 1 { format!("{first} and {} more", models - 1) } else { first };
                Item::new(format!("{} at {}", s.settings.name, s.settings.base_url)).detail(Line::styled(more, Role::Dim))
            })
            .collect();
        choices.push(Item::new("enter an address and a key").key('e').called(keys.key(Context::Setup, "address")));
        let demo = Item::new("try the demo").key('d').called(keys.key(Context::Setup, "demo"));
        choices.push(demo.detail("needs no model"));
        let search = match &self.found {
            None => "Looking for model servers on this machine …",
            Some(found) if found.is_empty() => "None was found on this machine (Ollama, LM Studio, llama.cpp, vLLM).",
            Some(_) => "Found on this machine:",
        };
        Dialog {
            title: Line::plain("Backstitch has no model to talk to yet."),
            body: wrap_hanging(&Line::styled(search, Role::Dim), width, &Line::from("  "), &Line::from("  ")),
            choices,
            ..Dialog::default()
        }
    }

    pub fn view(&self, keys: &Keymap, width: usize, max_rows: usize) -> DialogView {
        match &self.form {
            Some(form) => form.view(keys, width, max_rows),
            None => self.state.clone().view(&self.dialog(keys, width), width, max_rows),
        }
    }
}

enum FormOutcome {
    Stays,
    Back,
    Done(ProviderSettings),
}

impl Form {
    fn field(&mut self) -> &mut Editor {
        if self.on_key { &mut self.key } else { &mut self.url }
    }

    fn press(&mut self, chord: &Chord) -> FormOutcome {
        match chord.code {
            KeyCode::Esc => return FormOutcome::Back,
            KeyCode::Tab | KeyCode::Up | KeyCode::Down => self.on_key = !self.on_key,
            KeyCode::Enter if !self.on_key => match address(self.url.text()) {
                Ok(_) => (self.on_key, self.problem) = (true, None),
                Err(why) => self.problem = Some(why),
            },
            KeyCode::Enter => match address(self.url.text()) {
                Ok(base_url) => return FormOutcome::Done(settings(base_url, self.key.text().trim())),
                Err(why) => (self.on_key, self.problem) = (false, Some(why)),
            },
            _ => {
                if let Some(edit) = Edit::from_chord(chord).filter(|e| *e != Edit::Newline) {
                    self.field().apply(edit, 200);
                }
            }
        }
        FormOutcome::Stays
    }

    fn view(&self, keys: &Keymap, width: usize, max_rows: usize) -> DialogView {
        let label = |text: &'static str, on: bool| Line::styled(text, if on { Role::Accent } else { Role::Dim });
        let (url, url_column) = self.url.field(label("  address  ", !self.on_key), "http://localhost:11434/v1", width);
        // A key is never on the screen; its length is, so that a paste can be seen to have worked.
        let stars = Editor::with_text(&"•".repeat(self.key.text().chars().count()));
        let (key, key_column) = stars.field(label("  key      ", self.on_key), "empty for a local server", width);
        let parts = [
            keys.phrase(Context::Field, &[("accept", "goes on")]),
            keys.phrase(Context::Setup, &[("next-field", "changes the field")]),
            keys.phrase(Context::Field, &[("leave", "returns")]),
        ];
        let usual = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
        let hint = self.problem.unwrap_or(&usual);
        let wrapped =
            |text: &str, style: Style| wrap_hanging(&Line::styled(text.to_owned(), style), width, &Line::from("  "), &Line::from("  "));
        let mut rows = wrapped("The address of an OpenAI-compatible server, and its key.", Style::new().bold());
        let cursor = if self.on_key { (key_column, rows.len() + 1) } else { (url_column, rows.len()) };
        rows.extend([url, key]);
        rows.extend(wrapped(hint, Style::from(if self.problem.is_some() { Role::Error } else { Role::Dim })));
        // The fields are what has to be seen.
        let above = rows.len().saturating_sub(max_rows).min(cursor.1 - usize::from(self.on_key));
        rows.drain(..above);
        rows.truncate(max_rows);
        let cursor = (cursor.0, cursor.1 - above);
        DialogView { rows, cursor: Some(cursor) }
    }
}

/// `localhost:8080` is as good as `http://localhost:8080/v1`.
fn address(text: &str) -> Result<String, &'static str> {
    let text = text.trim().trim_end_matches('/');
    if text.is_empty() {
        return Err("an address, please: http://localhost:11434/v1");
    }
    let local = |t: &str| t.starts_with("localhost") || t.starts_with("127.") || t.starts_with('[');
    let url = match text.split_once("://") {
        Some(("http" | "https", rest)) if !rest.is_empty() => text.to_string(),
        Some(_) => return Err("the address must begin with http:// or https://"),
        None if local(text) => format!("http://{text}"),
        None => format!("https://{text}"),
    };
    if url.contains(char::is_whitespace) {
        return Err("an address has no spaces in it");
    }
    let has_path = url.splitn(4, '/').nth(3).is_some_and(|path| !path.is_empty());
    Ok(if has_path { url } else { format!("{url}/v1") })
}

fn settings(base_url: String, key: &str) -> ProviderSettings {
    let host = base_url.split('/').nth(2).unwrap_or("provider");
    let name = host.rsplit('@').next().unwrap_or(host).to_string();
    ProviderSettings { name, base_url, api_key: (!key.is_empty()).then(|| key.into()), ..ProviderSettings::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_people_type_them() {
        for (typed, expected) in [
            ("localhost:8080", Ok("http://localhost:8080/v1")),
            ("127.0.0.1:1234/", Ok("http://127.0.0.1:1234/v1")),
            ("http://box:8000/v1", Ok("http://box:8000/v1")),
            ("https://api.example.com/openai/v1/", Ok("https://api.example.com/openai/v1")),
            ("api.example.com", Ok("https://api.example.com/v1")),
            ("ftp://x", Err("the address must begin with http:// or https://")),
            ("", Err("an address, please: http://localhost:11434/v1")),
            ("a b", Err("an address has no spaces in it")),
        ] {
            assert_eq!(address(typed), expected.map(String::from), "{typed}");
        }
    }

    #[test]
    fn a_key_is_never_on_the_screen() {
        let mut setup = Setup::default();
        let press = |setup: &mut Setup, keys: &str| {
            let mut last = PanelOutcome::Stays;
            for key in keys.split(' ') {
                last = setup.press(&key.parse().unwrap());
            }
            last
        };
        press(&mut setup, "e l o c a l h o s t enter s e c r e t");
        let shown: String = setup.view(&Keymap::default(), 80, 20).rows.iter().map(|r| r.text() + "\n").collect();
        assert!(shown.contains("••••••") && !shown.contains("secret"), "{shown}");
        let PanelOutcome::Does(Cmd::Send(Command::Connect(settings))) = press(&mut setup, "enter") else { panic!("not done") };
        assert_eq!((settings.api_key.as_deref(), settings.base_url.as_str()), (Some("secret"), "http://localhost/v1"));
    }
}
