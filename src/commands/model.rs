//! `/model`: lists the models, or switches to one.

use super::{Around, Outcome, SlashCommand};
use crate::protocol::{Command, ModelId, ModelInfo};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "model",
    arguments: "[provider/]name",
    help: "list the models, or switch to one",
    run: |arguments, around| {
        if arguments.is_empty() {
            return Outcome::Send(Command::ListModels);
        }
        match choose(arguments, around) {
            Ok(id) => Outcome::Send(Command::SetModel(id)),
            Err(why) => Outcome::Fail(why),
        }
    },
};

/// By full name, by model name, or by a part of one that fits no other.
fn choose(wanted: &str, around: &Around) -> Result<ModelId, String> {
    let known = &around.models;
    let exact = known.iter().find(|m| m.id.to_string() == wanted || m.id.model == wanted);
    let part: Vec<&ModelInfo> = known.iter().filter(|m| m.id.to_string().contains(wanted)).collect();
    match (exact, part.as_slice(), wanted.split_once('/')) {
        (Some(model), _, _) => Ok(model.id.clone()),
        (None, [model], _) => Ok(model.id.clone()),
        (None, [], Some((provider, model))) => Ok(ModelId { provider: provider.into(), model: model.into() }),
        (None, [], None) => Err(format!("No model is called {wanted:?}; /model lists those that are known.")),
        (None, several, _) => {
            let names: Vec<String> = several.iter().take(8).map(|m| m.id.to_string()).collect();
            Err(format!("{wanted:?} fits several models: {}.", names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_chosen_by_name_or_by_a_part_that_is_unique() {
        let model =
            |p: &str, m: &str| ModelInfo { id: ModelId { provider: p.into(), model: m.into() }, context_window: None, vision: None };
        let around = Around { models: vec![model("local", "qwen3:8b"), model("local", "qwen3:30b"), model("hub", "org/llama")] };
        let chosen = |wanted| choose(wanted, &around).map(|id| id.to_string());
        assert_eq!(chosen("local/qwen3:8b"), Ok("local/qwen3:8b".into()));
        assert_eq!(chosen("30b"), Ok("local/qwen3:30b".into()));
        assert_eq!(chosen("org/llama"), Ok("hub/org/llama".into()));
        assert_eq!(chosen("qwen3"), Err("\"qwen3\" fits several models: local/qwen3:8b, local/qwen3:30b.".into()));
        assert_eq!(chosen("other/new"), Ok("other/new".into()));
        assert!(chosen("nothing").is_err());
    }
}
