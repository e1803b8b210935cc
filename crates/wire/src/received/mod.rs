//! Requests as clients sent them: scanned once, decoded only where it is asked for, and edited
//! without touching what is not edited.

mod edit;
mod hash;
mod hear;
mod prefixes;
mod scan;
mod tools;
mod walk;

use std::borrow::Cow;

pub use edit::Edit;
pub use hear::{Heard, Speaker};
pub use prefixes::{Hashes, Prefixes};

use crate::json::{EXCERPT, cut};
use crate::{Format, WireError};
use prefixes::Known;
use scan::{Key, Scanned, Span};

/// A request as a client sent it, scanned and not decoded.
///
/// It borrows from the body. What it tells is looked up in the client's own bytes when it is
/// asked for; a field of an unexpected kind is a field that is not there. Of a key that stands
/// there twice the last one counts.
///
/// ```
/// use steersman_wire::{Edit, Format};
///
/// let body = br#"{"model": "m", "new": 1, "messages": [{"role": "user", "content": "Go."}]}"#;
/// let request = Format::Anthropic.receive(body)?;
/// assert_eq!(request.model().as_deref(), Some("m"));
/// assert_eq!(request.edited(&[])?, body);
/// let edited = request.edited(&[Edit::Say { at: 1, text: "Look at the tests." }])?;
/// assert!(edited.starts_with(br#"{"model": "m", "new": 1, "messages": [{"role": "user", "#));
/// # Ok::<(), steersman_wire::WireError>(())
/// ```
#[derive(Debug)]
pub struct Received<'a> {
    format: Format,
    body: &'a [u8],
    scanned: Scanned,
    known: Known,
}

/// What Codex tells about a request of Responses. Every text is `None` where it was not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientMetadata<'a> {
    /// The session of the person; sub-agents share it.
    pub session_id: Option<Cow<'a, str>>,
    /// The conversation; a sub-agent has its own.
    pub thread_id: Option<Cow<'a, str>>,
    /// The turn of the person this request belongs to.
    pub turn_id: Option<Cow<'a, str>>,
    /// What the request is for, such as `turn` or `compaction`.
    pub request_kind: Option<Cow<'a, str>>,
}

impl Format {
    /// Scans the body of a request. Any JSON object is taken; depth and size are the caller's to
    /// bound.
    ///
    /// # Errors
    /// If it is no JSON object, or has more than 100,000 items.
    pub fn receive(self, body: &[u8]) -> Result<Received<'_>, WireError> {
        Received::of(self, body, scan::scan(self, body))
    }
}

/// The beginning of a body, as text.
fn excerpt(body: &[u8]) -> String {
    // A character has at most four bytes.
    let beginning = &body[..body.len().min(4 * EXCERPT + 4)];
    cut(&String::from_utf8_lossy(beginning), EXCERPT)
}

impl<'a> Received<'a> {
    fn of(
        format: Format,
        body: &'a [u8],
        scanned: Result<Scanned, serde_json::Error>,
    ) -> Result<Self, WireError> {
        let scanned = scanned.map_err(|problem| WireError::NotJson {
            what: "the request",
            problem: problem.to_string(),
            excerpt: excerpt(body),
        })?;
        if scanned.too_many {
            return Err(WireError::NotARequest { format, problem: "it has too many items" });
        }
        Ok(Self { format, body, scanned, known: Known::default() })
    }

    /// The format it was received in.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// The body as it came.
    #[must_use]
    pub const fn body(&self) -> &'a [u8] {
        self.body
    }

    /// The model asked for. `None` if it is not told; Gemini tells it in the path.
    #[must_use]
    pub fn model(&self) -> Option<Cow<'a, str>> {
        self.text(Key::Model)
    }

    /// Whether the answer is to come as a stream. Always false for Gemini, whose path says it.
    #[must_use]
    pub fn stream(&self) -> bool {
        self.field(Key::Stream) == Some("true")
    }

    /// Number of items of the conversation: messages, items of the input, or contents. An input of
    /// Responses that is one text is one item, the text.
    #[must_use]
    pub const fn item_count(&self) -> usize {
        self.scanned.items.len()
    }

    /// How many of the first items were not scanned, because a body that began in the same way was
    /// read before; see [`Prefixes`].
    #[must_use]
    pub fn known_items(&self) -> usize {
        self.known.items()
    }

    /// The JSON text of the item at `at`. `None` if there are fewer.
    #[must_use]
    pub fn item_text(&self, at: usize) -> Option<&'a str> {
        self.scanned.items.get(at).map(|item| item.of(self.body))
    }

    /// The JSON text of the system prompt: `system`, `instructions` or `systemInstruction`. `None`
    /// if there is none, and for Chat Completions, where it is a message.
    #[must_use]
    pub fn system(&self) -> Option<&'a str> {
        self.field(Key::System)
    }

    /// Whether the model is offered any tools.
    #[must_use]
    pub fn has_tools(&self) -> bool {
        self.known.has_tools().unwrap_or_else(|| self.tools().next().is_some())
    }

    /// How many tools the model is offered; see [`tool_names`](Self::tool_names).
    #[must_use]
    pub fn tool_count(&self) -> usize {
        self.tools().count()
    }

    /// Names of the tools, in order. Those in a namespace come without its name, as calls of them
    /// do; one of the provider's own without a name comes with its type.
    #[must_use]
    pub fn tool_names(&self) -> Vec<Cow<'a, str>> {
        self.tools().map(|tool| tool.name()).collect()
    }

    /// Whether the answer has to be JSON. Such a request is not to be edited: whoever asked parses
    /// the answer.
    #[must_use]
    pub fn has_schema(&self) -> bool {
        let field = |key| self.field(key);
        let named = |shape: Option<&str>, plain: &str| {
            let kind = shape.and_then(|shape| walk::text_at(shape, "type"));
            shape.is_some_and(|shape| shape.starts_with('{')) && kind.is_none_or(|at| at != plain)
        };
        let shape = field(Key::Shape);
        let within = |key| shape.and_then(|shape| walk::member(shape, key));
        match self.format {
            Format::OpenAiChat => named(shape, "text"),
            Format::OpenAiResponses => named(within("format"), "text"),
            Format::Anthropic => {
                named(within("format"), "text") || named(field(Key::OldShape), "text")
            }
            Format::Gemini => {
                let is_json = |kind: Cow<'_, str>| kind != "text/plain";
                let first = |keys| shape.and_then(|shape| walk::member_of(shape, keys));
                first(["responseSchema", "response_schema"]).is_some()
                    || first(["responseJsonSchema", "response_json_schema"]).is_some()
                    || first(["responseMimeType", "response_mime_type"])
                        .and_then(walk::text)
                        .is_some_and(is_json)
            }
        }
    }

    /// Whether the model must call a tool, any or a certain one.
    #[must_use]
    pub fn tool_choice_is_required(&self) -> bool {
        let Some(choice) = self.field(Key::ToolChoice) else {
            let old = self.field(Key::FunctionCall);
            return old.is_some_and(|old| old.starts_with('{'));
        };
        match self.format {
            Format::Gemini => {
                let keys = ["functionCallingConfig", "function_calling_config"];
                let config = walk::member_of(choice, keys);
                config.is_some_and(|config| walk::says(config, "mode", "ANY"))
            }
            Format::Anthropic => {
                walk::says(choice, "type", "any") || walk::says(choice, "type", "tool")
            }
            _ if walk::says(choice, "type", "allowed_tools") => {
                let inner = walk::member(choice, "allowed_tools").unwrap_or(choice);
                walk::says(inner, "mode", "required")
            }
            _ => choice.starts_with('{') || choice == r#""required""#,
        }
    }

    /// The key under which an OpenAI server is to keep its prompt cache; some clients send their
    /// session's id. `None` if not sent, and in other formats.
    #[must_use]
    pub fn prompt_cache_key(&self) -> Option<Cow<'a, str>> {
        self.text(Key::PromptCache)
    }

    /// `metadata.user_id`, as the client wrote it; Claude Code writes JSON with its session's id
    /// into it. `None` if not sent.
    #[must_use]
    pub fn user_id(&self) -> Option<Cow<'a, str>> {
        walk::text_at(self.field(Key::Metadata)?, "user_id")
    }

    /// What Codex tells of itself; every field is `None` where it does not.
    #[must_use]
    pub fn client_metadata(&self) -> ClientMetadata<'a> {
        let Some(told) = self.field(Key::ClientMetadata) else {
            return ClientMetadata::default();
        };
        let own = |key| walk::text_at(told, key);
        // Some versions put the header's JSON in here as well, as a text.
        let kind = own("request_kind").or_else(|| {
            let turn = own("x-codex-turn-metadata")?;
            let kind = walk::text_at(&turn, "request_kind")?;
            Some(Cow::Owned(kind.into_owned()))
        });
        ClientMetadata {
            session_id: own("session_id"),
            thread_id: own("thread_id"),
            turn_id: own("turn_id"),
            request_kind: kind,
        }
    }

    /// The response that this request goes on from, whose items are not among
    /// [items](Self::item_count). `None` if not sent, and in other formats than Responses.
    #[must_use]
    pub fn previous_response_id(&self) -> Option<Cow<'a, str>> {
        self.text(Key::Previous)
    }

    /// The conversation that the server keeps and this request belongs to, whose earlier items are
    /// not among [items](Self::item_count). `None` if not sent, and in other formats than
    /// Responses.
    #[must_use]
    pub fn conversation_id(&self) -> Option<Cow<'a, str>> {
        let told = self.field(Key::Conversation)?;
        walk::text(told).or_else(|| walk::text_at(told, "id"))
    }

    /// Most tokens to generate; `None` if the client leaves it to the server.
    #[must_use]
    pub fn max_output_tokens(&self) -> Option<u64> {
        let number = |value: &str| value.parse().ok();
        if self.format == Format::Gemini {
            let keys = ["maxOutputTokens", "max_output_tokens"];
            return walk::member_of(self.field(Key::Shape)?, keys).and_then(number);
        }
        let limit = [Key::Limit, Key::OldLimit].map(|key| self.field(key));
        limit.into_iter().flatten().find_map(number)
    }

    /// A hash of the item at `at` that no change of spelling changes: order of keys, white space,
    /// escapes, a text against the one block that says it, `cache_control`, fields that are null,
    /// signatures of Gemini's thoughts, and the ids and states of items of Responses. It stays the
    /// same from version to version. Zero if there is no such item.
    #[must_use]
    pub fn item_hash(&self, at: usize) -> u64 {
        let known = self.known.item_hash(at);
        let hashed = || Some(hash::item(self.format, self.item_text(at)?));
        known.or_else(hashed).unwrap_or(0)
    }

    /// A hash of system prompt and names of tools, in the same spirit. The model does not count.
    #[must_use]
    pub fn prelude_hash(&self) -> u64 {
        if let Some(known) = self.known.prelude_hash() {
            return known;
        }
        let system = self.system().map_or(0, |system| hash::system(self.format, system));
        let names = self.tools().map(|tool| hash::bytes(tool.name().as_bytes()));
        hash::chain([system].into_iter().chain(names))
    }

    /// Both, for all of it.
    #[must_use]
    pub fn hashes(&self) -> Hashes {
        let items = (0..self.item_count()).map(|at| self.item_hash(at)).collect();
        Hashes { prelude: self.prelude_hash(), items }
    }

    fn text(&self, key: Key) -> Option<Cow<'a, str>> {
        self.field(key).and_then(walk::text)
    }

    /// The JSON text of a field, unless it is null.
    fn field(&self, key: Key) -> Option<&'a str> {
        self.written(key).filter(|value| *value != "null")
    }

    /// The JSON text of a field, if it is there at all.
    fn written(&self, key: Key) -> Option<&'a str> {
        self.scanned.fields[key as usize].map(|span: Span| span.of(self.body))
    }

    /// The JSON text of the items as a whole, where they were not taken apart: they are empty or
    /// no list.
    fn whole(&self) -> Option<&'a str> {
        self.scanned.whole.map(|whole| whole.of(self.body))
    }
}
