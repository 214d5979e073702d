//! The whole program from outside: the real binary in a terminal, or without one, against a model server that does as it is told.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod approval;
mod ask;
mod background;
mod checkpoint_cli;
mod completion;
mod exit;
mod first_start;
mod headless;
mod keys;
mod looks;
mod main_job;
mod own_keys;
mod permissions;
mod plan;
mod replay;
mod resume;
mod sandbox;
mod screen;
mod session;
mod stream;
mod support;
mod tidy;
mod trust;
mod view;
mod web;
