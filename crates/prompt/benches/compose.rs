//! What composing a prompt costs. `cargo bench -p steersman-prompt`.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench, not a library")]

use divan::{Bencher, black_box};
use steersman_prompt::{PromptSystem, Registry, built_in_tools};

fn main() {
    divan::main();
}

/// A folder with prompt files of its own for half of the shared parts.
fn project() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("steersman-bench-{}", std::process::id()));
    let shared = folder.join(".steersman/prompts/shared");
    std::fs::create_dir_all(&shared).unwrap();
    for n in 0..10 {
        std::fs::write(shared.join(format!("rule_{n}.md")), "Follow the rule.\n").unwrap();
    }
    folder
}

/// A request that was made before, with the look whether a file has changed.
#[divan::bench(args = [false, true])]
fn the_same_request(bencher: Bencher<'_, '_>, own_files: bool) {
    let (folder, tools) = (project(), built_in_tools());
    let system = if own_files {
        PromptSystem::load_with_home(&folder, None).unwrap()
    } else {
        PromptSystem::built_in()
    };
    let registry = Registry::built_in().unwrap();
    let agent = registry.agent("coder").unwrap();
    let profile = registry.profile(agent, "claude-sonnet-4-5");
    bencher.bench_local(|| {
        let mut request = agent.request(&tools);
        request.model = Some(&profile);
        black_box(system.compose(&request).unwrap())
    });
}

/// A request that was never made: everything is composed anew.
#[divan::bench(args = [false, true])]
fn a_new_request(bencher: Bencher<'_, '_>, own_files: bool) {
    let (folder, tools) = (project(), built_in_tools());
    let system = if own_files {
        PromptSystem::load_with_home(&folder, None).unwrap()
    } else {
        PromptSystem::built_in()
    };
    let registry = Registry::built_in().unwrap();
    let agent = registry.agent("coder").unwrap();
    let profile = registry.profile(agent, "claude-sonnet-4-5");
    let mut count = 0;
    bencher.bench_local(|| {
        count += 1;
        let mut request = agent.request(&tools);
        request.model = Some(&profile);
        request.parameters.insert("workspace".to_owned(), count.to_string());
        black_box(system.compose(&request).unwrap())
    });
}
