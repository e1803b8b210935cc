//! No bytes make the reader of prompt files panic; what it accepts can be composed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use steersman_engine::Policy;
use steersman_prompt::{ComposeRequest, Kind, PromptError, PromptSystem, choose};

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, content)) = bytes.split_first() else { return };
    let kind = Kind::ALL[usize::from(choice) % Kind::ALL.len()];
    match PromptSystem::with_files(&[(kind, "stop", content)]) {
        Ok(system) => {
            let library = system.library().unwrap();
            assert_eq!(library.with_texts(Policy::default()).validate(), Ok(()));
            let task = String::from_utf8_lossy(content);
            let template = &choose(&task, library.templates()).unwrap().template;
            template.lay_over(Policy::default()).unwrap();
            let agent = if kind == Kind::Agent { "stop" } else { "coder" };
            let request =
                ComposeRequest { template: Some(template), ..ComposeRequest::new(agent) };
            match system.compose(&request) {
                Ok(_) | Err(PromptError::NoValue { .. } | PromptError::Needs { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        Err(error) => assert!(!error.findings().is_empty() && !error.to_string().is_empty()),
    }
});
