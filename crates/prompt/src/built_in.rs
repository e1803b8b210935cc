//! The prompt files that are compiled in.

use std::sync::{Arc, OnceLock};

use steersman_config::document::Text;

use crate::part::{Kind, Origin, Part};
use crate::template::Template;

macro_rules! files {
    ($($kind:ident $folder:literal $ending:literal: $($name:literal)*;)*) => {
        /// Kind, name and text of every built-in file.
        pub(crate) const FILES: &[(Kind, &str, &str)] = &[
            $($((
                Kind::$kind,
                $name,
                include_str!(concat!("../prompts/", $folder, "/", $name, $ending)),
            ),)*)*
        ];
    };
}

files! {
    Agent "agents" ".prompt.md": "coder" "explorer" "reviewer";
    Shared "shared" ".md":
        "core" "continuation_protocol" "mailbox_protocol" "tool_guidelines" "output_format";
    Model "models" ".md":
        "single_tool" "multi_tool" "small_model" "reasoning"
        "signal_tool_call" "signal_structured_output" "signal_text";
    Tool "tools" ".md":
        "list" "read" "search" "edit" "write" "shell" "run_check" "start_over" "finish" "ask_user"
        "report_progress" "send_mail" "read_mail" "reply_mail" "hand_over";
    Template "templates" ".md":
        "fix_failing_tests" "add_feature" "refactor" "write_docs" "explore_and_explain" "review"
        "research" "data_task" "general";
}

/// The built-in files but templates, read once.
pub(crate) fn parts() -> &'static [Arc<Part>] {
    static PARTS: OnceLock<Vec<Arc<Part>>> = OnceLock::new();
    PARTS.get_or_init(|| {
        let files = FILES.iter().filter(|(kind, ..)| *kind != Kind::Template);
        // That every one can be read is tested.
        let read = |(kind, name, text): &(Kind, &str, &str)| {
            Part::parse(*kind, name, Origin::BuiltIn, named(*kind, name, text)).ok().map(Arc::new)
        };
        files.filter_map(read).collect()
    })
}

/// The built-in templates, read once.
pub(crate) fn templates() -> &'static [Arc<Template>] {
    static TEMPLATES: OnceLock<Vec<Arc<Template>>> = OnceLock::new();
    TEMPLATES.get_or_init(|| {
        let files = FILES.iter().filter(|(kind, ..)| *kind == Kind::Template);
        let read = |(kind, name, text): &(Kind, &str, &str)| {
            Template::parse(name, Origin::BuiltIn, named(*kind, name, text)).ok().map(Arc::new)
        };
        files.filter_map(read).collect()
    })
}

fn named(kind: Kind, name: &str, text: &str) -> Text {
    Text::new(&format!("<built-in>/{}/{name}{}", kind.folder(), kind.ending()), text, "a prompt")
}

#[cfg(test)]
mod tests {
    use super::{FILES, named, parts, templates};
    use crate::part::{Kind, Origin, Part};
    use crate::template::Template;

    #[test]
    fn every_built_in_file_can_be_read() {
        for (kind, name, text) in FILES {
            let (origin, text) = (Origin::BuiltIn, named(*kind, name, text));
            let found = match kind {
                Kind::Template => Template::parse(name, origin, text).err(),
                kind => Part::parse(*kind, name, origin, text).err(),
            };
            let found: Vec<_> = found.iter().flatten().map(ToString::to_string).collect();
            assert!(found.is_empty(), "{}", found.join("\n"));
        }
        assert_eq!(parts().len() + templates().len(), FILES.len());
        for part in parts() {
            assert!(!part.body().is_empty(), "{}", part.name);
        }
    }
}
