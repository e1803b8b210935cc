//! No bytes make the reader of registries panic; the agents it accepts can be used.

#![no_main]

use libfuzzer_sys::fuzz_target;
use steersman_engine::Policy;
use steersman_prompt::{PromptSystem, Registry};

fuzz_target!(|bytes: &[u8]| {
    match Registry::parse_bytes("fuzz", bytes) {
        Ok(registry) => {
            registry.agent(registry.default_agent()).unwrap();
            for agent in registry.agents() {
                let policy = agent.policy(Policy::default(), None).unwrap();
                assert_eq!(policy.validate(), Ok(()));
                let _ = PromptSystem::built_in().compose(&agent.request(&[]));
            }
        }
        Err(error) => assert!(!error.findings().is_empty() && !error.to_string().is_empty()),
    }
});
