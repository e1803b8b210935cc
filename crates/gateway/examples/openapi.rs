//! Prints the OpenAPI document of the gateway's API, as it is committed at `schema/openapi.json`.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    io::stdout().write_all(steersman_gateway::api::document_text().as_bytes())
}
