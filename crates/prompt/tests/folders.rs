//! Prompt files of projects and users: overrides, changes while a run goes on, errors.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its case must fail")]

mod files;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use files::{check_golden, project, testdata, write};
use steersman_engine::Policy;
use steersman_prompt::{
    ComposeRequest, Kind, MAX_PROMPT_BYTES, Origin, PromptError, PromptSystem, ToolInstruction,
    built_in_tools,
};

fn load(folder: &Path) -> Result<PromptSystem, PromptError> {
    PromptSystem::load_with_home(folder, Some(&folder.join("home")))
}

fn text(system: &PromptSystem, request: &ComposeRequest<'_>) -> String {
    system.compose(request).unwrap().to_string()
}

#[test]
fn the_project_comes_before_the_user_before_the_built_in_ones() {
    let folder = project("layers");
    write(&folder, "home/steersman/prompts/shared/core.md", "The user's core.\n");
    write(&folder, "home/steersman/prompts/shared/output_format.md", "The user's format.\n");
    write(&folder, ".steersman/prompts/shared/core.md", "The project's core.\n");
    write(&folder, ".steersman/prompts/agents/coder.prompt.md", "Our coder.\n");
    write(&folder, ".steersman/prompts/shared/README.md", "Not a feature {{{x}}}.\n");
    write(&folder, ".steersman/prompts/tools/read.md", "Our way to read.\n");
    fs::create_dir_all(folder.join("src/deep")).unwrap();
    let system = PromptSystem::load_with_home(&folder.join("src/deep"), Some(&folder.join("home")));
    let system = system.unwrap();
    let tools = built_in_tools();
    let mut request = ComposeRequest::new("coder");
    request.features.insert("continuation_protocol".to_owned(), false);
    request.features.insert("tool_guidelines".to_owned(), false);
    request.tools = &tools[1..2];
    let expected = "Our coder.\n\nThe project's core.\n\n## Tools\n\n### read\n\nReads a file, or a \
                    range of its lines.\nOur way to read.\n\nThe user's format.\n";
    assert_eq!(text(&system, &request), expected);
    let origin = |name: &str| {
        let files = system.library().unwrap().files();
        files.into_iter().find(|f| f.kind == Kind::Shared && f.name == name).unwrap().origin
    };
    assert_eq!(origin("core"), Origin::Project(folder.join(".steersman/prompts")));
    assert_eq!(origin("output_format"), Origin::User(folder.join("home/steersman/prompts")));
    assert_eq!(origin("mailbox_protocol"), Origin::BuiltIn);
}

#[test]
fn features_are_ordered_and_switched() {
    let folder = project("features");
    let shared = ".steersman/prompts/shared";
    let quiet = ["continuation_protocol", "tool_guidelines", "output_format"];
    write(&folder, &format!("{shared}/core.md"), "core");
    write(&folder, &format!("{shared}/late.md"), "---\norder: 70\ntitle: Late\n---\nlate\n");
    write(&folder, &format!("{shared}/b_rule.md"), "b rule");
    write(&folder, &format!("{shared}/a_rule.md"), "a rule");
    write(&folder, &format!("{shared}/rare.md"), "---\nenabled: false\norder: 1\n---\nrare");
    let needs = "---\nenabled: false\nrequires: [rare]\norder: 2\n---\nneeds";
    write(&folder, &format!("{shared}/needs.md"), needs);
    write(&folder, ".steersman/prompts/agents/me.prompt.md", "me\n");
    let system = load(&folder).unwrap();
    let composed = |features: &[(&str, bool)], shared: bool| {
        let mut request = ComposeRequest::new("me");
        request.include_shared = shared;
        let quiet = quiet.iter().map(|name| (*name, false));
        request.features =
            quiet.chain(features.iter().copied()).map(|(name, on)| (name.to_owned(), on)).collect();
        system.compose(&request).map(|prompt| prompt.replace("\n\n", "|").trim().to_owned())
    };
    type Switches = &'static [(&'static str, bool)];
    let cases: [(Switches, bool, &str); 6] = [
        (&[], true, "me|core|a rule|b rule|## Late|late"),
        (&[("a_rule", false), ("late", false)], true, "me|core|b rule"),
        (&[("rare", true)], true, "me|core|rare|a rule|b rule|## Late|late"),
        (&[("needs", true)], true, "me|core|rare|needs|a rule|b rule|## Late|late"),
        (&[("core", true)], true, "me|core|a rule|b rule|## Late|late"),
        (&[("rare", true)], false, "me"),
    ];
    for (features, shared, expected) in cases {
        assert_eq!(composed(features, shared).unwrap(), expected, "{features:?}");
    }
    let errors: [(Switches, &str); 3] = [
        (
            &[("core", false)],
            "the feature `core` is always on; `include_shared` leaves out all shared parts",
        ),
        (
            &[("needs", true), ("rare", false)],
            "the feature `needs` needs `rare`, which is switched off",
        ),
        (
            &[("lat", true)],
            "no feature `lat`; did you mean `late`? There are a_rule, b_rule, \
             continuation_protocol, core, late, mailbox_protocol, needs, output_format, rare, \
             tool_guidelines",
        ),
    ];
    for (features, expected) in errors {
        assert_eq!(composed(features, true).unwrap_err().to_string(), expected);
    }
}

#[test]
fn parameters_are_put_in_once() {
    let folder = project("parameters");
    let own = "---\nparameters: [team]\ndefaults: {tone: dry}\n---\n\
               {{{agent}}} of {{{team}}}, {{{tone}}}, in {{{workspace}}}\n";
    write(&folder, ".steersman/prompts/agents/me.prompt.md", own);
    let system = load(&folder).unwrap();
    let composed = |parameters: &[(&str, &str)], instructions: Option<&str>| {
        let mut request = ComposeRequest::new("me");
        request.include_shared = false;
        request.instructions = instructions;
        let owned = parameters.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        request.parameters = owned.collect::<BTreeMap<String, String>>();
        system.compose(&request).map(|prompt| prompt.trim_end().to_owned())
    };
    let ok = [
        (&[("team", "cells")][..], None, "me of cells, dry, in the current folder"),
        (
            &[("team", "{{{tone}}} {{{x"), ("tone", "warm")],
            None,
            "me of {{{tone}}} {{{x, warm, in the current folder",
        ),
        (&[("team", ""), ("agent", "you"), ("workspace", "/w")], None, "you of , dry, in /w"),
        (&[("x", "1")], Some("own {{{x}}} {{{agent}}}"), "own 1 me"),
    ];
    for (parameters, instructions, expected) in ok {
        assert_eq!(composed(parameters, instructions).unwrap(), expected, "{parameters:?}");
    }
    let file = folder.join(".steersman/prompts/agents/me.prompt.md");
    let no_value = format!(
        "no value for the parameter `team`, which {}:5 uses and declares without default",
        file.display()
    );
    assert_eq!(composed(&[], None).unwrap_err().to_string(), no_value);
    let unknown = "no parameter `tema`; did you mean `team`? There are agent, agents, batch, \
                   check, team, tone, workspace";
    assert_eq!(composed(&[("tema", "x")], None).unwrap_err().to_string(), unknown);
    let error = composed(&[], Some("own {{{x}}}\n{{{y")).unwrap_err().to_string();
    assert!(error.starts_with("<instructions>:2:1: error: `{{{` is not closed"), "{error}");
}

#[test]
fn the_same_request_gives_the_same_text_until_a_file_changes() {
    let folder = project("fresh");
    let system = load(&folder).unwrap();
    let request = ComposeRequest::new("coder");
    let first = system.compose(&request).unwrap();
    assert!(Arc::ptr_eq(&first, &system.compose(&request.clone()).unwrap()));
    let other = ComposeRequest { include_shared: false, ..request.clone() };
    assert_ne!(first, system.compose(&other).unwrap());
    let core = ".steersman/prompts/shared/core.md";
    write(&folder, core, "one");
    assert!(text(&system, &request).contains("\n\none\n\n"));
    write(&folder, core, "two");
    assert!(text(&system, &request).contains("\n\ntwo\n\n"));
    write(&folder, core, "{{{bad}}}");
    let error = system.compose(&request).unwrap_err().to_string();
    assert!(error.contains("the parameter `bad` is not known"), "{error}");
    assert_eq!(system.compose(&request).unwrap_err().to_string(), error);
    write(&folder, ".steersman/prompts/shared/extra.md", "extra");
    write(&folder, core, "three");
    let third = text(&system, &request);
    assert!(third.contains("\n\nthree\n\n") && third.contains("\n\nextra\n\n"), "{third}");
    fs::remove_dir_all(folder.join(".steersman")).unwrap();
    assert_eq!(system.compose(&request).unwrap(), first);
}

#[test]
fn every_part_of_a_request_counts() {
    let system = PromptSystem::built_in();
    let tool = |name: &'static str, text: &'static str| ToolInstruction {
        name: name.into(),
        description: text.into(),
        instructions: "".into(),
    };
    let (one, two) = ([tool("a", "b")], [tool("ab", "")]);
    let mut requests = vec![ComposeRequest::new("coder"), ComposeRequest::new("reviewer")];
    let mut with = |change: &dyn Fn(&mut ComposeRequest<'static>)| {
        let mut request = ComposeRequest::new("coder");
        change(&mut request);
        requests.push(request);
    };
    with(&|request| request.instructions = Some("x"));
    with(&|request| request.features.extend([("mailbox_protocol".into(), true)]));
    with(&|request| request.parameters.extend([("check".into(), "make".into())]));
    with(&|request| request.include_shared = false);
    let mut requests: Vec<ComposeRequest<'_>> = requests;
    for tools in [&one, &two] {
        requests.push(ComposeRequest { tools, ..ComposeRequest::new("coder") });
    }
    let prompts: Vec<_> = requests.iter().map(|r| system.compose(r).unwrap()).collect();
    for (at, prompt) in prompts.iter().enumerate() {
        assert!(prompts[..at].iter().all(|other| other != prompt), "{at}");
        assert!(Arc::ptr_eq(prompt, &system.compose(&requests[at]).unwrap()));
    }
    let long = "x".repeat(MAX_PROMPT_BYTES);
    let request = ComposeRequest { instructions: Some(&long), ..ComposeRequest::new("coder") };
    assert!(matches!(system.compose(&request), Err(PromptError::TooLong { .. })));
}

#[test]
fn interventions_replace_the_texts_of_the_engine() {
    let folder = project("interventions");
    let file = ".steersman/prompts/interventions";
    write(&folder, &format!("{file}/nudge_loop.md"), "Halt: {reason}{excerpt}.\n");
    write(&folder, &format!("{file}/stop.md"), "The end.\n");
    let system = load(&folder).unwrap();
    let mut policy = Policy::default();
    policy.texts.insert("stop".to_owned(), vec!["As the policy says.".to_owned()]);
    let policy = system.library().unwrap().with_texts(policy);
    assert_eq!(policy.validate(), Ok(()));
    let texts: Vec<_> = policy.texts.iter().map(|(k, v)| (k.as_str(), v[0].as_str())).collect();
    let expected = [("nudge_loop", "Halt: {reason}{excerpt}."), ("stop", "As the policy says.")];
    assert_eq!(texts, expected);
}

/// File below `.steersman/prompts`, and its content.
const BAD: &[(&str, &[u8])] = &[
    ("agents/a.md", b"x"),
    ("agents/odd name.prompt.md", b"x"),
    ("agents/b.prompt.md", b"line\nHello {{{agnet}}}\n"),
    ("agents/c.prompt.md", b"Hello {{{agent\n"),
    ("agents/d.prompt.md", b"{{{}}} {{{a b}}}"),
    ("agents/e.prompt.md", b"---\ntitle: x\n"),
    ("agents/f.prompt.md", b"---\ntitel: x\n---\n"),
    ("agents/g.prompt.md", b"---\norder: 3\n---\n"),
    ("agents/h.prompt.md", b"fine\n\xff\xfe"),
    ("agents/i.prompt.md", b"---\nparameters: [a, b c]\n---\n{{{a}}}"),
    ("shared/j.md", b"---\norder: 5000\n---\n"),
    ("shared/k.md", b"---\norder: early\nenabled: yes\n---\n"),
    ("shared/l.md", b"---\nrequires: [cor]\n---\n"),
    ("shared/m.md", b"---\ntitle: &a x\nrequires: [*a]\n---\n"),
    ("interventions/nudge_lop.md", b"x"),
    ("templates/n.md", b"---\ntask_types: [edits]\nwords: ['']\n---\n"),
    ("templates/o.md", b"---\npolicy: {loops: {cycle: {notise: 1}}}\n---\n"),
    ("templates/p.md", b"---\npolicy:\n  tests:\n    stuck_after: 1\ncheck: maybe\n---\n"),
    ("templates/q.md", b"---\nfeatures: {core: false, maibox_protocol: true}\n---\n"),
    ("agent/r.prompt.md", b"x"),
];

#[test]
fn bad_files_are_refused_with_these_messages() {
    let mut found = String::new();
    for (file, content) in BAD {
        let folder = project("bad");
        write(&folder, &format!(".steersman/prompts/{file}"), content);
        let error = load(&folder).unwrap_err();
        assert!(!error.findings().is_empty(), "{file}");
        let shown = error.to_string().replace(&format!("{}/", folder.display()), "");
        found.push_str(&format!("{shown}\n\n"));
    }
    let found = format!("{}\n", found.trim_end());
    check_golden(&testdata("prompts").join("bad.txt"), &found);
    let folder = project("large");
    write(&folder, ".steersman/prompts/shared/large.md", "x".repeat((256 << 10) + 1));
    let error = load(&folder).unwrap_err().to_string();
    assert!(error.ends_with("larger than 262144 bytes: a prompt is not"), "{error}");
    let folder = project("folder");
    fs::create_dir_all(folder.join(".steersman/prompts/shared/x.md")).unwrap();
    let error = load(&folder).unwrap_err().to_string();
    assert!(error.ends_with("x.md: error: cannot read it: not a file"), "{error}");
}
