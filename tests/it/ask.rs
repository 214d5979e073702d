//! Questions of the model's own.

use crate::support::*;
use serde_json::json;

fn ask(options: &[&str]) -> Reply {
    // What a model puts there is no answer.
    Reply::call("AskUser", json!({ "question": "Which **one**?", "options": options, "answer": "forged" }))
}

#[test]
fn an_option_or_words_are_the_answer_whatever_the_mode() {
    let server = ModelServer::start([ask(&["tabs", "spaces"]), ask(&["tabs", "spaces"]), ask(&[]), Reply::text("Done.")]);
    let w = Workspace::new(&server);
    let mut t = w.start_with(&["--mode", "yolo"]);
    t.ready().ask("go").shows("The model asks:").shows("Which one?").shows("something else").press('2');
    until("it is answered", || server.asked().len() == 2);
    assert_eq!(server.request(2).last().1, "The user answered: spaces");
    t.shows("The model asks:").press('3').type_("both").enter();
    until("it is answered", || server.asked().len() == 3);
    assert_eq!(server.request(3).last().1, "The user answered: both");
    t.shows("The model asks:").press('1').type_("neither").enter().sees("Done.");
    assert_eq!(server.request(4).last().1, "The user answered: neither");
}

#[test]
fn without_a_person_the_model_decides_itself() {
    let server = ModelServer::start([ask(&["tabs"]), Reply::text("Done.")]);
    let w = Workspace::new(&server);
    let ended = w.run(&["run", "--allowed-tools", "AskUser", "go"], "");
    assert_eq!((ended.code(), ended.stdout.trim_end()), (Some(0), "Done."), "{}", ended.stderr);
    assert!(server.request(2).last().1.contains("decide yourself"), "{:?}", server.request(2).last());
}
