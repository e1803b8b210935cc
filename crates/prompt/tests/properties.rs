//! What holds for any input.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use proptest::prelude::*;
use steersman_engine::Policy;
use steersman_prompt::{
    ComposeRequest, Draft, Kind, MailEntry, Mailbox, PromptError, PromptSystem, Registry,
};

/// Pieces of which registries and prompt files are made.
const PIECES: &[&str] = &[
    "---\n",
    "agents:\n",
    "  coder:",
    " {}",
    "\n",
    "    prompt: ",
    "coder",
    "{{{",
    "}}}",
    "agent",
    "title: x\n",
    "    tools: {allow: [",
    "read",
    "]}",
    "    model: {provider: openai, name: x}",
    "    policy: {loops: {cycle: {notice: ",
    "3",
    "}}}",
    "words: [a, b]\n",
    "requires: [core]\n",
    "enabled: false\n",
    "defaults: {a: b}\n",
    "\u{feff}",
    "ä",
    "\t",
    ": ",
    "- ",
    "\"",
    "&a ",
    "*a",
];

fn pieces() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(PIECES), 0..24)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_registry_is_read_or_refused(text in pieces()) {
        match Registry::parse_bytes("x", text.as_bytes()) {
            Ok(registry) => for agent in registry.agents() {
                prop_assert_eq!(agent.policy(Policy::default(), None).unwrap().validate(), Ok(()));
            },
            Err(error) => prop_assert!(!error.findings().is_empty()),
        }
    }

    #[test]
    fn a_prompt_file_is_read_or_refused(text in pieces(), kind in 0..Kind::ALL.len()) {
        let kind = Kind::ALL[kind];
        match PromptSystem::with_files(&[(kind, "stop", text.as_bytes())]) {
            Ok(system) => {
                let agent = if kind == Kind::Agent { "stop" } else { "coder" };
                match system.compose(&ComposeRequest::new(agent)) {
                    Ok(_) | Err(PromptError::NoValue { .. }) => {}
                    Err(error) => prop_assert!(false, "{error}"),
                }
            }
            Err(error) => prop_assert!(!error.findings().is_empty()),
        }
    }

    /// Values are put in once, whatever they hold.
    #[test]
    fn values_stay_as_they_are(value in "[{}a-z\\PC]{0,40}") {
        let system = PromptSystem::built_in();
        let mut request = ComposeRequest::new("x");
        request.instructions = Some("<{{{check}}}>{{{workspace}}}");
        request.include_shared = false;
        request.parameters.insert("check".to_owned(), value.clone());
        let prompt = system.compose(&request).unwrap();
        prop_assert_eq!(&*prompt, format!("<{value}>the current folder\n"));
    }

    /// A mailbox is the fold of its entries, and a second fold changes nothing.
    #[test]
    fn mail_is_bounded_and_folds_again(
        steps in proptest::collection::vec((0..3u8, 0..3u8), 0..400),
    ) {
        let (mut mailbox, mut entries) = (Mailbox::default(), Vec::<MailEntry>::new());
        for (from, to) in steps {
            let name = |n: u8| char::from(b'a' + n).to_string();
            let entry = if from == to {
                mailbox.read(&name(from)).1
            } else {
                let draft = Draft { to: name(to), text: "t".to_owned(), ..Draft::default() };
                mailbox.post(&name(from), draft).ok()
            };
            if let Some(entry) = entry {
                mailbox.fold(&entry);
                entries.push(entry);
            }
        }
        for name in ["a", "b", "c"] {
            prop_assert!(mailbox.of(name).count() <= steersman_prompt::MAX_MAILS);
            prop_assert_eq!(mailbox.notice(name).is_some(), mailbox.unread(name) > 0);
        }
        let mut again = Mailbox::default();
        entries.iter().chain(&entries).for_each(|entry| again.fold(entry));
        prop_assert_eq!(again, mailbox);
    }
}
