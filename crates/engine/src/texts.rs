//! The messages that are put into a conversation.
//!
//! Each has a name and a text with `{parameters}`; a policy may replace any of them under `texts`.
//! They say what was seen, with numbers, and what to do next; they are shown to the model and, word
//! for word, to the user.

use alloc::format;
use alloc::string::{String, ToString};

use crate::decision::{Action, Evidence, Intervention};
use crate::policy::{Policy, RuleId};
use crate::reason::Reason;
use crate::state::State;
use crate::wording::{self, Occasion};

/// Most bytes of a message.
const MAX_TEXT: usize = 4000;

/// Built-in texts by template name.
const TEXTS: &[(&str, &str)] = &[
    (
        "nudge_loop",
        "Notice: {reason}{excerpt}. Doing it again will give the same result. Use what you already \
         know, or try something that differs in kind: another file, another command, another \
         question.",
    ),
    (
        "nudge_errors",
        "Notice: {reason}{excerpt}. Read the error as it stands, check your assumption about it \
         (path, name, argument, permission) with one small call, and then change the approach.",
    ),
    (
        "nudge_search",
        "Notice: {reason}{excerpt}. What you look for may have another name or may not exist. \
         List what is there, try a shorter or broader term, or go on with what you have and say \
         what you could not find.",
    ),
    (
        "nudge_narration",
        "Notice: {reason}. Announcing a step does not take it. Call the tool now, or give the \
         final answer if nothing is left to do.",
    ),
    (
        "nudge_revert",
        "Notice: {reason}{excerpt}. Going back and forth between the same versions settles \
         nothing. Decide from evidence: run the check, read its output, and make one change that \
         it calls for.",
    ),
    ("nudge_chanting", "Notice: {reason}. Say it once, then take the next step."),
    (
        "nudge_polling",
        "Notice: {reason}{excerpt}. Wait longer between polls, look whether the process still \
         runs, or go on with other work and come back later.",
    ),
    (
        "nudge_context",
        "Notice: {reason}. Keep what you still read short, and begin the final answer while there \
         is room for it.",
    ),
    (
        "nudge_goal",
        "You have read the target and changed nothing so far. Make the change now, then verify it.",
    ),
    (
        "cut_off",
        "Your last reply was cut off by the limit on generated tokens. Do not repeat it. Go on in \
         smaller steps: shorter calls, large files in several parts.",
    ),
    (
        "empty_reply",
        "Your last reply had no visible text and no tool call. Take the next step with a tool \
         call, or give the final answer.",
    ),
    (
        "premature_end",
        "You announced a next step and ended without taking it. Take it now; if nothing is left to \
         do, say so plainly and sum up what was done.",
    ),
    (
        "contradicted_claim",
        "You say it is done, but the last check failed{tests}. Look at the failure, fix its \
         cause, run the check again, and report only what it shows.{check}",
    ),
    (
        "re_evaluate",
        "Stop and reconsider. {Reason}{excerpt}. The present approach is not working; small \
         variations of it will not either.{approaches} Name the assumption behind it, choose an \
         approach that differs in kind, say which one and why, then take its first step.{restart}",
    ),
    (
        "nudge_synthesis",
        "{Reason}{excerpt}. You have probably seen what there is to see. Begin the final answer \
         from what you know; use a tool only for a named gap.",
    ),
    (
        "force_synthesis",
        "{Reason}{excerpt}. Tools are withdrawn. Give your final answer now from what you know: \
         what was found or done, what is uncertain, what is left to do. Do not claim what was not \
         verified.",
    ),
    (
        "start_over",
        "The workspace was restored to its state before this attempt, because \
         {reason}.{approaches} Do not repeat them. Begin again with an approach that differs in \
         kind.",
    ),
    ("stop", "The run was ended: {reason}."),
];

/// Other ways to say the same, by template name. They are shown only where the choice of wording is
/// learned: each says what was seen and what to do next, and differs in tone or in what it asks for
/// first.
const ALTERNATIVES: &[(&str, &[&str])] = &[
    (
        "nudge_loop",
        &[
            "{Reason}{excerpt}. Before the next call, say in one sentence what you know now and \
             what is still missing; then make the one call that would tell you that.",
            "You are going round: {reason}{excerpt}. Leave this call alone from here on. Which \
             other place could the answer be in? Look there.",
        ],
    ),
    (
        "nudge_errors",
        &["{Reason}{excerpt}. Do not send the call again as it is. Say what the error claims, \
             name the assumption that it contradicts, and look at that before anything else."],
    ),
    (
        "nudge_search",
        &["{Reason}{excerpt}. Stop guessing names: list the folder, or read the file that \
             should use what you look for, and take the name from there. If it is nowhere, say \
             so."],
    ),
    (
        "nudge_narration",
        &["{Reason}. Your next reply should hold either a tool call or the final answer, not \
             a plan."],
    ),
    (
        "premature_end",
        &["Your reply names a step that was not taken. Either take it in your next reply, or \
             say that it is not needed and why, with a summary of what was done."],
    ),
    (
        "re_evaluate",
        &["Let us step back. {Reason}{excerpt}.{approaches} List two or three approaches that \
             do not share the assumption of these, choose the one that a single small check can \
             confirm or refute soonest, and run that check first.{restart}"],
    ),
];

/// Other ways to say what the built-in text of this name says. Empty if there are none.
#[must_use]
pub fn alternative_texts(template: &str) -> &'static [&'static str] {
    let found = ALTERNATIVES.iter().find(|(name, _)| *name == template);
    found.map_or(&[], |(_, texts)| texts)
}

/// The built-in texts by template name, as a policy may replace them under `texts`.
#[must_use]
pub const fn built_in_texts() -> &'static [(&'static str, &'static str)] {
    TEXTS
}

/// The message of a decision; `None` for actions that need none.
pub(crate) fn intervention(
    action: Action,
    reason: &Reason,
    evidence: &Evidence,
    state: &State,
    policy: &Policy,
) -> Option<Intervention> {
    let template = template(action, reason)?;
    let occasion = Occasion {
        run: &state.info.id,
        turn: state.turns,
        model: &state.info.model,
        template,
        shown_before: state.ladder.total,
    };
    let variant = wording::choose(policy, &occasion);
    let chosen = wording::texts_of(policy, template).get(variant as usize).copied()?;
    let text = fill(chosen, reason, evidence, state);
    Some(Intervention { text, template: template.to_string(), variant })
}

/// The template of an action and its reason.
fn template(action: Action, reason: &Reason) -> Option<&'static str> {
    Some(match action {
        Action::Continue | Action::Retry => return None,
        Action::NudgeSynthesis => "nudge_synthesis",
        Action::ReEvaluate => "re_evaluate",
        Action::ForceSynthesis => "force_synthesis",
        Action::StartOver => "start_over",
        Action::Stop => "stop",
        Action::Nudge => match reason {
            Reason::Reply { rule } => match rule {
                RuleId::CutOff => "cut_off",
                RuleId::EmptyReply => "empty_reply",
                RuleId::PrematureEnd => "premature_end",
                RuleId::ContradictedClaim => "contradicted_claim",
                _ => "nudge_goal",
            },
            Reason::ContextFull { .. } => "nudge_context",
            Reason::Counted { rule, .. } => match rule {
                RuleId::SameError | RuleId::ErrorStreak => "nudge_errors",
                RuleId::FruitlessSearch => "nudge_search",
                RuleId::Narration => "nudge_narration",
                RuleId::EditRevert => "nudge_revert",
                RuleId::Chanting => "nudge_chanting",
                RuleId::Polling => "nudge_polling",
                _ => "nudge_loop",
            },
            _ => "nudge_loop",
        },
    })
}

/// Puts the parameters into a text, in one pass; what was put in is not looked at again.
fn fill(text: &str, reason: &Reason, evidence: &Evidence, state: &State) -> String {
    let mut filled = String::with_capacity(text.len() + 256);
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}') else { break };
        let name = &rest[open + 1..open + close];
        filled.push_str(&rest[..open]);
        match parameter(name, reason, evidence, state) {
            Some(value) => filled.push_str(&value),
            None => filled.push_str(&rest[open..=open + close]),
        }
        rest = &rest[open + close + 1..];
    }
    filled.push_str(rest);
    filled.truncate(filled.floor_char_boundary(MAX_TEXT));
    filled
}

/// The value of a parameter; `None` if there is none of that name.
fn parameter(name: &str, reason: &Reason, evidence: &Evidence, state: &State) -> Option<String> {
    Some(match name {
        "reason" => reason.to_string(),
        "Reason" => capitalised(&reason.to_string()),
        "count" => reason.count().to_string(),
        "turn" => state.turns.to_string(),
        "turns" => evidence.turns.iter().map(|turn| format!("{turn} ")).collect::<String>(),
        "excerpt" if evidence.excerpt.is_empty() => String::new(),
        "excerpt" => format!(" (`{}`)", evidence.excerpt),
        "approaches" if state.approaches.is_empty() => String::new(),
        "approaches" => format!(" Tried so far: {}.", state.approaches.join("; ")),
        "tests" => state.tests.last.map_or_else(String::new, |last| {
            format!(" ({} failing, {} passing)", last.failed, last.passed)
        }),
        "check" if state.check.excerpt.is_empty() => String::new(),
        "check" => format!("\n\n{}", state.check.excerpt),
        "restart" if !state.info.can_start_over => String::new(),
        "restart" => " If your changes lead nowhere, start over.".to_string(),
        _ => return None,
    })
}

/// A text with its first letter in upper case.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
