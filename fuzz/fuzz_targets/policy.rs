//! No bytes make the reader of policy files panic; what it accepts is valid and reads back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use steersman_config::{parse, parse_bytes, to_yaml, to_yaml_over, with_overrides};
use steersman_engine::Policy;

fuzz_target!(|bytes: &[u8]| {
    match parse_bytes("fuzz", bytes) {
        Ok(loaded) => {
            assert_eq!(loaded.policy.validate(), Ok(()));
            let whole = to_yaml(&loaded.policy);
            assert_eq!(parse("whole", &whole).unwrap().policy, loaded.policy, "{whole}");
            let over = to_yaml_over(&loaded.policy, loaded.base).unwrap();
            assert_eq!(parse("over", &over).unwrap().policy, loaded.policy, "{over}");
        }
        Err(error) => {
            assert!(!error.findings().is_empty());
            assert!(!error.to_string().is_empty());
        }
    }
    if let Some((key, value)) = std::str::from_utf8(bytes).ok().and_then(|t| t.split_once('=')) {
        let _ = with_overrides(Policy::default(), &[(key, value)]);
    }
});
