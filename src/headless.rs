//! stub
use crate::{failure::Failure, launch::Options};
pub fn run(_: &Options, _: &[String], _: bool, _: bool) -> Result<(), Failure> { Err(Failure::internal("x")) }
