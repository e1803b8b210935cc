//! What a model reads before it begins: prompts, templates for kinds of tasks, and the registry of
//! agents.
//!
//! [`PromptSystem`] reads prompt files of a project, of the user and those built in, and composes
//! an agent's prompt from them. [`choose`] picks a [`Template`] for a task. [`Registry`] reads
//! `agents.yaml`. [`Mailbox`] is the state of the mail between agents. Besides reading small files
//! there is no IO, and nothing here knows of models' servers or of time.

mod built_in;
mod cache;
mod choose;
mod compose;
mod error;
mod folder;
mod front;
mod library;
mod mailbox;
mod part;
mod profile;
mod profile_table;
mod registry;
mod slots;
mod system;
mod template;
mod tools;

pub use choose::{Choice, choose};
pub use compose::{ComposeRequest, MAX_PROMPT_BYTES, Parameter, parameters};
pub use error::PromptError;
pub use library::{Library, PromptFile};
pub use mailbox::{
    Draft, MAX_MAILS, MAX_SUBJECT, MAX_TEXT as MAX_MAIL_TEXT, Mail, MailEntry, MailError, Mailbox,
};
pub use part::{Kind, Origin};
pub use profile::{Profile, ProfileSettings, Signal, ToolCalls};
pub use registry::{
    Agent, AgentPrompt, AllowRule, Approval, ApprovalMode, CheckChoice, McpServer, McpTransport,
    Model, Price, Provider, Registry, TemplateChoice, ToolFilter, agents_schema,
    agents_schema_text,
};
pub use system::PromptSystem;
pub use template::{CheckUse, Template};
pub use tools::{ToolInstruction, built_in_tools};
