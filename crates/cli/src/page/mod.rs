//! What all pages have in common: the head, the look, and text made harmless.
//!
//! A page is one self-contained file. Every piece of text that comes from a trace goes through
//! [`Escaped`].

use std::fmt;
use std::io::{self, Write};

/// The look of all pages.
const STYLE: &str = include_str!("page.css");

/// Writes a page's head, up to where its body begins. `style` is added to the look of all pages.
pub(crate) fn write_head(title: &str, style: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{HEAD}<title>{}</title>\n<style>\n{STYLE}{style}</style>\n", Escaped(title))?;
    write!(out, "</head>\n<body>\n")
}

/// Writes what follows a page's last element.
pub(crate) fn write_foot(script: &str, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<script>\n{script}</script>\n</body>\n</html>\n")
}

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
<meta name=\"color-scheme\" content=\"light dark\">\n\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n";

/// Text that means itself in HTML, inside elements and inside quoted attributes. Characters that
/// no document may hold become blanks.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '`' => f.write_str("&#96;")?,
                c if c.is_control() => f.write_str(" ")?,
                c => fmt::Write::write_char(f, c)?,
            }
        }
        Ok(())
    }
}
