//! What is known about the terminal: width and colours.

use std::io::{IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set or the terminal is dumb.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What a piece of text means; each meaning has its look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing special.
    Plain,
    /// A heading.
    Heading,
    /// Less important.
    Dim,
    /// Good news.
    Good,
    /// A hint or warning.
    Warn,
    /// Bad news, or something that ends a run.
    Bad,
}

/// One output stream as far as layout is concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Columns; `None` if the stream is no terminal, and nothing needs to be cut.
    pub(crate) width: Option<usize>,
    colour: bool,
}

impl Screen {
    /// Fewer columns than this are treated as this many.
    const MIN_WIDTH: usize = 40;

    /// The screen behind standard output.
    pub(crate) fn stdout(colour: Colour) -> Self {
        let stream = std::io::stdout();
        let width = stream.is_terminal().then(|| terminal_size::terminal_size_of(&stream));
        Self::new(width.map(Self::columns), colour, AutoStream::choice(&stream))
    }

    /// The screen behind standard error.
    pub(crate) fn stderr(colour: Colour) -> Self {
        let stream = std::io::stderr();
        let width = stream.is_terminal().then(|| terminal_size::terminal_size_of(&stream));
        Self::new(width.map(Self::columns), colour, AutoStream::choice(&stream))
    }

    /// A screen of a given width without colours.
    #[cfg(test)]
    pub(crate) const fn plain(width: Option<usize>) -> Self {
        Self { width, colour: false }
    }

    /// Columns of the terminal behind standard output at this moment; `None` if there is none.
    pub(crate) fn columns_now() -> Option<usize> {
        let size = terminal_size::terminal_size_of(std::io::stdout());
        size.map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
    }

    fn columns(size: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
        size.map_or(80, |(width, _)| usize::from(width.0)).max(Self::MIN_WIDTH)
    }

    fn new(width: Option<usize>, colour: Colour, detected: ColorChoice) -> Self {
        let colour = match colour {
            Colour::Auto => detected != ColorChoice::Never,
            Colour::Always => true,
            Colour::Never => false,
        };
        Self { width, colour }
    }

    /// Writes text in a tone.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let style = match tone {
            Tone::Plain => Style::new(),
            Tone::Heading => Style::new().bold(),
            Tone::Dim => Style::new().dimmed(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Warn => AnsiColor::Yellow.on_default(),
            Tone::Bad => AnsiColor::Red.on_default(),
        };
        if self.colour && tone != Tone::Plain {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// Writes a message that brings its own layout to standard error.
pub(crate) fn say(message: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{message}");
}

/// Writes one message line to standard error. Failing to write it is nobody's business: there is
/// no place left to say so.
pub(crate) fn complain(screen: Screen, tone: Tone, label: &str, message: &str) {
    let mut stream = std::io::stderr().lock();
    let _ = writeln!(stream, "{}: {message}", screen.paint(tone, label));
}
