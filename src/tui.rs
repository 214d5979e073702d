//! The terminal front end: an Elm loop over iocraft. `app` and `view` are pure; `root`, `terminal` and `perform` touch the world.

pub mod app;
mod approval;
mod blocks;
mod cell;
mod chain;
mod checkpoints;
mod completion;
mod editor_program;
mod events;
mod fullscreen;
mod images;
pub mod jobs;
pub mod keymap;
pub mod looks;
pub mod outside;
mod panel;
pub mod perform;
mod prompt;
mod recall;
pub mod recording;
mod report;
mod root;
mod status;
pub mod terminal;
#[cfg(test)]
mod tests;
mod transcript;
pub mod view;
mod workers;

pub use panel::RuleChange;

use app::{Model, Setting};
use backstitch_components::ansi::to_ansi;
use engine::recorder::Recorder;
use perform::{Leave, Performer, World};
use std::{io, sync::Arc};
use terminal::Tty;

use crate::engine;

/// Runs the screen until the user leaves it. The session is closed, and the terminal as it was, by the time this returns.
pub fn run(terminal: &Arc<Tty>, setting: Setting, world: Box<dyn World>, recorder: Recorder) -> io::Result<Leave> {
    backstitch_components::code::compile_elsewhere();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let size = terminal.size().unwrap_or((80, 24));
    recorder.line("setting", &recording::Facts::of(&setting, size));
    let performer = Performer::new(world, recorder, terminal.clone(), setting.root.clone());
    let (model, first) = Model::new(setting, size);
    let props = root::RootProps { model, performer, stage: Default::default(), first };
    let mut element = root::element(props);
    let left = runtime.block_on(root::run(&mut element, terminal));
    // Colours that nobody will see hold no exit.
    runtime.shutdown_background();
    let model = &mut element.props.model;
    let left = left.map(|left| match left {
        Leave::Resume(which, _) => Leave::Resume(which, model.is_fullscreen()),
        left => left,
    });
    let (width, theme, depth) = (model.width(), model.setting.theme.clone(), model.setting.depth);
    if let Some(window) = model.window.take() {
        // What was said in the window stays in the terminal.
        let _ = terminal.write_all(to_ansi(&window.close(), &theme, depth, width).as_bytes());
    }
    terminal.restore();
    element.props.performer.close();
    left
}
