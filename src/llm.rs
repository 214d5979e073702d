//! Models: providers behind one trait, one file per wire format, local servers found by looking, and a scripted model.
//!
//! Nothing here knows an agent, a tool or a screen. Failures of the outside world are the last item of a stream, never an `Err`
//! on the way. Sending again is decided elsewhere; here one request is one request.

mod answer;
mod anthropic;
mod calls;
pub mod demo;
pub mod discover;
mod errors;
mod google;
mod history;
mod http;
mod ollama;
pub mod openai;
pub mod provider;
pub mod registry;
mod responses;
pub mod scripted;
mod sse;
mod wire;

pub use provider::Provider;
pub use registry::Registry;
