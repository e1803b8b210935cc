//! Calls of the tools that read and change files.

use serde::de::DeserializeOwned;
use serde_json::Value;
use steersman_wire::parse_arguments;
use steersman_workspace::{EditFile, ListFiles, ReadFile, SearchFiles, Workspace, WriteFile};

use crate::seam::ToolOutcome;

/// Runs a call of one of the file tools.
pub(super) fn call(workspace: &Workspace, name: &str, arguments: &str) -> ToolOutcome {
    let result = match name {
        "list" => run(arguments, |asked: ListFiles| workspace.list(&asked).map(|it| it.text)),
        "read" => run(arguments, |asked: ReadFile| workspace.read(&asked).map(|it| it.text)),
        "search" => run(arguments, |asked: SearchFiles| workspace.search(&asked).map(|it| it.text)),
        "edit" => run(arguments, |asked: EditFile| workspace.edit(&asked).map(|it| it.text)),
        "write" => run(arguments, |asked: WriteFile| workspace.write(&asked).map(|it| it.text)),
        other => Err(format!("there is no tool {other:?}")),
    };
    match result {
        Ok(text) => ToolOutcome::ok(text),
        Err(why) => ToolOutcome::error(why),
    }
}

fn run<T: DeserializeOwned, E: std::fmt::Display>(
    arguments: &str,
    work: impl FnOnce(T) -> Result<String, E>,
) -> Result<String, String> {
    work(parse(arguments)?).map_err(|error| error.to_string())
}

/// Arguments out of what a model wrote.
pub(super) fn parse<T: DeserializeOwned>(arguments: &str) -> Result<T, String> {
    let object = parse_arguments(arguments).map_err(|error| error.to_string())?;
    serde_json::from_value(Value::Object(object))
        .map_err(|error| format!("the arguments are not valid: {error}"))
}
