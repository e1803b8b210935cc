//! What the rules need of Markdown: links, headings, and shown commands.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::tree::File;

/// A link or image: its target as written, and its line.
pub(super) struct Link {
    pub(super) target: String,
    pub(super) line: usize,
}

/// A command in a shell block: its words, and its line.
pub(super) struct Command {
    pub(super) words: Vec<String>,
    pub(super) line: usize,
}

fn parse(file: &File) -> impl Iterator<Item = (Event<'_>, usize)> {
    let parser = Parser::new_ext(&file.text, Options::ENABLE_TABLES).into_offset_iter();
    parser.map(|(event, range)| (event, 1 + file.text[..range.start].matches('\n').count()))
}

/// Links and images, in order.
pub(super) fn links(file: &File) -> Vec<Link> {
    parse(file)
        .filter_map(|(event, line)| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(Link { target: dest_url.into_string(), line })
            }
            _ => None,
        })
        .collect()
}

/// The anchors of the headings, as code hosts make them from the text.
pub(super) fn anchors(file: &File) -> Vec<String> {
    let mut anchors = Vec::new();
    let mut heading: Option<String> = None;
    for (event, _) in parse(file) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                anchors.extend(heading.take().map(|text| slug(&text)))
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            _ => {}
        }
    }
    anchors
}

fn slug(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// The commands in shell blocks. In `console` blocks those are the lines after a `$`.
pub(super) fn commands(file: &File) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut block: Option<bool> = None;
    for (event, line) in parse(file) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                block = match &*language {
                    "sh" | "bash" | "shell" => Some(false),
                    "console" => Some(true),
                    _ => None,
                };
            }
            Event::End(TagEnd::CodeBlock) => block = None,
            Event::Text(text) => {
                if let Some(prompted) = block {
                    collect(&text, line, prompted, &mut commands);
                }
            }
            _ => {}
        }
    }
    commands
}

fn collect(text: &str, first_line: usize, prompted: bool, out: &mut Vec<Command>) {
    let mut continued = false;
    for (at, line) in text.lines().enumerate() {
        let prompt = line.strip_prefix("$ ");
        let shown = if continued || !prompted { Some(line) } else { prompt };
        let Some(shown) = shown else { continue };
        let words = shown.split_whitespace().take_while(|word| !word.starts_with('#'));
        let words: Vec<String> = words.filter(|word| *word != "\\").map(str::to_owned).collect();
        match out.last_mut() {
            Some(last) if continued => last.words.extend(words),
            _ if words.is_empty() => {}
            _ => out.push(Command { words, line: first_line + at }),
        }
        continued = shown.ends_with('\\');
    }
}
