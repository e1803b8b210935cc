//! How verbs that read and show files end.

use std::io::{self, Write};
use std::process::ExitCode;

use steersman_prompt::PromptError;

/// What was read is bad.
pub(crate) const BAD: u8 = 1;

/// Wrong usage, or a file that cannot be read or written.
pub(crate) const USAGE: u8 = 2;

/// What kept a verb from its end.
pub(crate) enum Stop {
    /// A message for stderr and an exit code.
    Told(String, u8),
    /// Output could not be written.
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<PromptError> for Stop {
    fn from(error: PromptError) -> Self {
        match &error {
            PromptError::Bad(_) | PromptError::Document(_) => Self::Told(error.to_string(), BAD),
            // It begins with the file, as findings do.
            PromptError::Unreadable { .. } => Self::Told(error.to_string(), USAGE),
            _ => Self::Told(format!("error: {error}"), USAGE),
        }
    }
}

/// The exit code of a verb; what went wrong is told on stderr.
pub(crate) fn finish(outcome: Result<ExitCode, Stop>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(Stop::Told(message, code)) => {
            // Nothing is left to tell it to if stderr is closed.
            let _ = tell(&message);
            ExitCode::from(code)
        }
        // The reader has seen enough.
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Stop::Output(error)) => {
            let _ = tell(&format!("error: cannot write the output: {error}"));
            ExitCode::from(USAGE)
        }
    }
}

/// Writes a line to stderr.
pub(crate) fn tell(message: &str) -> Result<(), Stop> {
    Ok(writeln!(io::stderr().lock(), "{message}")?)
}

/// Writes a text to stdout.
pub(crate) fn print(text: &str) -> Result<(), Stop> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
