//! Pictures in the prompt: each is one unit of the text, and goes with what is sent. Pure.
//!
//! - what is sent holds exactly the pictures whose labels are in the text, in its order;
//! - a prompt never leaves without the picture that is still on its way from the clipboard;
//! - a model that is known to see nothing is never sent any.

use super::{
    app::{Cmd, Model},
    keymap::Context,
    outside::Errand,
};
use crate::protocol::{Command, Image, Notice, Prompt};
use std::{ops::Range, path::PathBuf};

#[derive(Debug, Default)]
pub struct Images {
    held: Vec<Image>,
    /// Of the last label given.
    last: usize,
    /// The clipboard is being read.
    waiting: bool,
}

const ENDINGS: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];

/// From the clipboard.
pub fn paste(model: &mut Model) -> Vec<Cmd> {
    if blind(model) || std::mem::replace(&mut model.prompt.images.waiting, true) {
        return vec![];
    }
    vec![Cmd::Errand(Errand::PastePicture)]
}

/// `/image PATH`.
pub fn command(model: &mut Model, path: &str) -> Vec<Cmd> {
    let paths = names(path).into_iter().map(|word| place(model, &word)).collect::<Vec<_>>();
    if paths.is_empty() {
        let pastes = model.setting.keys.phrase(Context::Prompt, &[("paste-image", "takes one from the clipboard")]);
        model.say(Notice::info(format!("/image PATH puts a picture into the prompt; {pastes}.").replace("; .", ".")));
        return vec![];
    }
    if blind(model) { vec![] } else { vec![Cmd::Errand(Errand::ReadPictures { paths, typed: None })] }
}

/// Pasted text that names pictures, as terminals paste what is dragged into them: whether there are such files is for the disk to
/// say.
pub fn pasted(model: &mut Model, text: &str) -> Option<Cmd> {
    let text = text.trim();
    if text.contains('\n') || text.len() > 4096 {
        return None;
    }
    let names = names(text);
    if names.is_empty() || !names.iter().all(|name| is_picture(name)) || blind(model) {
        return None;
    }
    let paths = names.iter().map(|name| place(model, name)).collect();
    Some(Cmd::Errand(Errand::ReadPictures { paths, typed: Some(text.to_owned()) }))
}

/// A picture of the project that was chosen by its path: the picture takes the place of the words in `range`. Nothing if it stays a
/// path.
pub fn mentioned(model: &mut Model, path: &str, range: Range<usize>) -> Option<Cmd> {
    if !is_picture(path) || blind(model) {
        return None;
    }
    let typed = model.prompt.editor.text()[range.clone()].to_owned();
    model.prompt.editor.replace(range, "");
    Some(Cmd::Errand(Errand::ReadPictures { paths: vec![model.setting.root.join(path)], typed: Some(typed) }))
}

fn is_picture(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.to_ascii_lowercase().ends_with(ending))
}

/// The files that a text names: as a shell would read it, or, if only that makes it one picture, the whole of it.
fn names(text: &str) -> Vec<String> {
    let words = words(text);
    let whole = text.trim();
    let blanks = !words.iter().all(|word| is_picture(word)) && is_picture(whole) && !whole.contains(['"', '\'', '\\']);
    // In the middle of a sentence a name is only a word.
    let begins = ["/", "~", ".", "file://"].iter().any(|start| whole.starts_with(start));
    if blanks && begins { vec![whole.to_owned()] } else { words }
}

fn place(model: &Model, word: &str) -> PathBuf {
    let path = match word.strip_prefix("file://") {
        Some(url) => PathBuf::from(decoded(url.strip_prefix("localhost").unwrap_or(url))),
        None => PathBuf::from(word),
    };
    // A leading `~` is for whoever reads the file.
    if path.starts_with("~") { path } else { model.setting.root.join(path) }
}

/// As a shell takes words apart: quotes and backslashes.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// `%20` is a blank.
fn decoded(url: &str) -> String {
    let mut bytes = vec![];
    let mut rest = url.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let hex = more.get(..2).filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(hex.unwrap_or(*first));
        rest = if hex.is_some() { &more[2..] } else { more };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Says so if the model is known to see nothing.
fn blind(model: &mut Model) -> bool {
    let Some(id) = model.status.model.as_ref().filter(|m| m.vision == Some(false)).map(|m| m.id.to_string()) else { return false };
    let notice = Notice::warning(format!("{id} sees no images: its provider's settings say so.")).hint("/model chooses another one");
    model.say(notice);
    true
}

pub fn read(model: &mut Model, images: Vec<Image>) {
    model.prompt.images.waiting = false;
    if model.prompt.editor.attachments().next().is_none() {
        // A fresh prompt. What was cleared away stays held: that can be undone.
        model.prompt.images.last = 0;
    }
    for mut image in images {
        let images = &mut model.prompt.images;
        loop {
            images.last += 1;
            image = image.numbered(images.last);
            match images.held.iter().find(|held| held.label == image.label) {
                Some(other) if other.data != image.data => {}
                Some(_) => break,
                None => {
                    images.held.push(image.clone());
                    break;
                }
            }
        }
        model.prompt.editor.attach(&image.label);
    }
}

pub fn failed(model: &mut Model, notice: Notice) {
    model.prompt.images.waiting = false;
    model.say(notice);
}

/// The prompt as it is sent; nothing if it can't be.
pub fn submit(model: &mut Model) -> Vec<Cmd> {
    if model.prompt.images.waiting {
        model.say(Notice::info("The clipboard is still being read: send again in a moment."));
        return vec![];
    }
    if model.prompt.editor.attachments().next().is_some() && blind(model) {
        return vec![];
    }
    let held = std::mem::take(&mut model.prompt.images).held;
    let images = model.prompt.editor.attachments().filter_map(|label| held.iter().find(|image| image.label == label).cloned()).collect();
    let text = model.prompt.take();
    vec![Cmd::Send(Command::Prompt(Prompt { text, images }))]
}

/// Only words go into a running turn.
pub fn steers(model: &mut Model) -> bool {
    let none = model.prompt.editor.attachments().next().is_none();
    if !none {
        let waits = model.setting.keys.phrase(Context::Prompt, &[("submit", "lets it wait in line")]);
        model.say(Notice::info(format!("A picture can't go into the running turn: {waits}.")));
    }
    none
}

impl Images {
    /// A prompt has come back: its pictures are held again, under labels that no other one has.
    pub fn take_back(&mut self, mut prompt: Prompt) -> Prompt {
        for image in &mut prompt.images {
            self.last += 1;
            if self.held.iter().any(|held| held.label == image.label) {
                let renamed = image.clone().numbered(self.last);
                prompt.text = prompt.text.replacen(&image.label, &renamed.label, 1);
                *image = renamed;
            }
            self.held.push(image.clone());
        }
        prompt
    }
}

#[cfg(test)]
mod tests;
