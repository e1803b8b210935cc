//! A server that is spoken to.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    Implementation, PaginatedRequestParams, ProtocolVersion, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, PeerRequestOptions, RequestHandle, RoleClient,
    RunningService, ServiceError, serve_client,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

use crate::error::words;
use crate::http_client::{HttpClient, Trouble};
use crate::meter::{Gauge, MAX_BYTES, Metered};
use crate::process::Process;
use crate::{Answer, Listing, McpConfig, McpError, Reach};

/// The most pages of a list of tools.
const MAX_PAGES: usize = 64;
/// How long telling a server of a cancelled call may take.
const CANCEL_TIMEOUT: Duration = Duration::from_millis(500);

/// A server that has been greeted. Dropping it ends the server's processes at once;
/// [`close`](Self::close) is gentler.
pub struct Connection {
    config: McpConfig,
    service: RunningService<RoleClient, Listener>,
    /// `None` for a server over HTTP.
    process: Option<Mutex<Process>>,
    gauge: Arc<Gauge>,
    trouble: Trouble,
    changes: watch::Receiver<u64>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("server", &self.config.name).finish_non_exhaustive()
    }
}

/// Hears what servers say unasked. It offers them nothing: no sampling, no questions, no roots.
struct Listener {
    changes: watch::Sender<u64>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("steersman", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changes.send_modify(|changes| *changes += 1);
    }
}

/// Starts or reaches a server and greets it. `cwd` is the folder its program starts in.
///
/// Needs a tokio runtime with time and IO.
///
/// # Errors
/// It cannot be started or reached, does not answer within [`McpConfig::start_timeout_ms`], ends,
/// or speaks another protocol. Its processes are gone then.
pub async fn connect(config: &McpConfig, cwd: &Path) -> Result<Connection, McpError> {
    let server = config.name.clone();
    if !config.enabled {
        return Err(McpError::Disabled { server });
    }
    let gauge = Arc::new(Gauge::default());
    let (changed, changes) = watch::channel(0);
    let listener = Listener { changes: changed };
    let limit = Duration::from_millis(config.start_timeout_ms);
    let mut trouble = Trouble::default();
    let (process, greeted) = match &config.reach {
        Reach::Command { program, args, env, cwd: own } => {
            let cwd = own.as_ref().map_or(cwd.to_owned(), |own| cwd.join(own));
            let (process, output, input) = Process::start(program, args, env, &cwd)
                .map_err(|error| not_started(&server, program, &cwd, &error))?;
            let output = Metered::new(output, Arc::clone(&gauge));
            (Some(process), timeout(limit, serve_client(listener, (output, input))).await)
        }
        Reach::Http { url, headers } => {
            let unreachable = |why| McpError::Unreachable { server: server.clone(), why };
            let headers = headers.iter().map(|(name, value)| read_header(name, value));
            let headers = headers.collect::<Result<_, String>>().map_err(unreachable)?;
            let client = HttpClient::new(headers).map_err(unreachable)?;
            trouble = client.trouble();
            let settings = StreamableHttpClientTransportConfig::with_uri(url.as_str());
            let transport = StreamableHttpClientTransport::with_client(client, settings);
            (None, timeout(limit, serve_client(listener, transport)).await)
        }
    };
    let mut site = Site { server: &server, process, gauge: &gauge, trouble: &trouble };
    let service = match greeted {
        Ok(Ok(service)) => service,
        Ok(Err(error)) => return Err(site.explain_greeting(error).await),
        Err(_) => return Err(site.silent("initialize", config.start_timeout_ms).await),
    };
    check_version(&server, &service)?;
    let (process, config) = (site.process.map(Mutex::new), config.clone());
    Ok(Connection { config, service, process, gauge, trouble, changes })
}

fn not_started(server: &str, program: &str, cwd: &Path, error: &std::io::Error) -> McpError {
    let folder =
        if cwd.is_dir() { String::new() } else { format!(", {} is no folder", cwd.display()) };
    McpError::NotStarted { server: server.to_owned(), why: format!("`{program}`: {error}{folder}") }
}

fn read_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let named: HeaderName =
        name.parse().map_err(|_| format!("{name:?} cannot be the name of a header"))?;
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| format!("the value of header `{name}` has characters no header can have"))?;
    value.set_sensitive(true);
    Ok((named, value))
}

fn check_version(
    server: &str,
    service: &RunningService<RoleClient, Listener>,
) -> Result<(), McpError> {
    let Some(peer) = service.peer().peer_info() else { return Ok(()) };
    let known = ProtocolVersion::KNOWN_VERSIONS;
    if known.contains(&peer.protocol_version) {
        return Ok(());
    }
    let known: Vec<&str> = known.iter().map(ProtocolVersion::as_str).collect();
    Err(McpError::Version {
        server: server.to_owned(),
        version: words(peer.protocol_version.as_str()),
        known: known.join(", "),
    })
}

/// A server that is being greeted, or has failed.
struct Site<'a> {
    server: &'a str,
    process: Option<Process>,
    gauge: &'a Gauge,
    trouble: &'a Trouble,
}

impl Site<'_> {
    fn remark(&self) -> String {
        remark(self.gauge, self.process.as_ref())
    }

    async fn silent(&mut self, asked: &str, waited_ms: u64) -> McpError {
        if let Some(process) = &mut self.process {
            process.kill().await;
        }
        let (server, asked) = (self.server.to_owned(), asked.to_owned());
        McpError::Silent { server, asked, waited_ms, remark: self.remark() }
    }

    async fn explain_greeting(&mut self, error: ClientInitializeError) -> McpError {
        let server = self.server.to_owned();
        let closed = matches!(
            error,
            ClientInitializeError::ConnectionClosed(_)
                | ClientInitializeError::TransportError { .. }
        );
        if self.gauge.is_flooded() {
            return McpError::Flooded { server, max_bytes: MAX_BYTES };
        }
        match (error, &mut self.process) {
            (_, Some(process)) if closed => {
                let how = process.explain_end().await;
                McpError::Ended { server, how, remark: self.remark() }
            }
            (ClientInitializeError::JsonRpcError(error), _) => refused(server, &error),
            (error, None) if closed => {
                let why = self.trouble.take().unwrap_or_else(|| error.to_string());
                McpError::Unreachable { server, why: words(&why) }
            }
            (error, _) => McpError::Protocol { server, what: words(&error.to_string()) },
        }
    }
}

fn refused(server: String, error: &rmcp::ErrorData) -> McpError {
    McpError::Refused { server, code: error.code.0, message: words(&error.message) }
}

/// What a server said where nobody asked, to go after a message.
fn remark(gauge: &Gauge, process: Option<&Process>) -> String {
    let mut remark = String::new();
    if let Some(line) = gauge.odd_line() {
        remark.push_str(&format!("; it wrote `{}` where only messages belong", words(&line)));
    }
    let errors = process.map(|process| words(&process.stderr.text())).unwrap_or_default();
    if !errors.is_empty() {
        remark.push_str(&format!("; its standard error ends with: {errors}"));
    }
    remark
}

impl Connection {
    /// The server's name.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.config.name
    }

    /// How often the server has said that its tools changed. Wait on it, then list again.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }

    /// Lists the tools that the configuration offers.
    ///
    /// # Errors
    /// The server does not answer within [`McpConfig::timeout_ms`], ends or refuses.
    pub async fn tools(&self) -> Result<Listing, McpError> {
        self.begin();
        let limit = Duration::from_millis(self.config.timeout_ms);
        match timeout(limit, self.list()).await {
            Ok(Ok(listing)) => Ok(listing),
            Ok(Err(error)) => Err(self.explain(error).await),
            Err(_) => Err(self.silent("tools/list").await),
        }
    }

    /// What was sent or went wrong before belongs to other requests.
    fn begin(&self) {
        self.gauge.reset();
        self.trouble.take();
    }

    async fn list(&self) -> Result<Listing, ServiceError> {
        let (mut listing, mut cursor) = (Listing::default(), None);
        for _ in 0..MAX_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.service.peer().list_tools(Some(page)).await?;
            for tool in page.tools {
                listing.add(tool, &self.config.name, &self.config.tools);
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(listing);
            }
        }
        listing.leave_out(format!("what comes after {MAX_PAGES} pages"));
        Ok(listing)
    }

    /// Calls a tool by its name at the server. `arguments` is the text of a JSON object; an empty
    /// text stands for none. When `cancel` is done first, the server is told and the call ends.
    ///
    /// # Errors
    /// The tool is not offered, the arguments are no object, the server does not answer within
    /// [`McpConfig::timeout_ms`], ends or refuses, or the call was cancelled. A tool that fails
    /// and says so is no error: see [`Answer::is_error`].
    pub async fn call(
        &self,
        tool: &str,
        arguments: &str,
        cancel: impl Future<Output = ()>,
    ) -> Result<Answer, McpError> {
        let server = || self.config.name.clone();
        if !self.config.tools.lets_through(tool) {
            return Err(McpError::NotOffered { server: server(), tool: tool.to_owned() });
        }
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        let arguments = serde_json::from_str(arguments).map_err(|error| McpError::Arguments {
            server: server(),
            tool: tool.to_owned(),
            why: error.to_string(),
        })?;
        self.begin();
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let limit = tokio::time::sleep(Duration::from_millis(self.config.timeout_ms));
        tokio::pin!(limit, cancel);
        let options = PeerRequestOptions::no_options();
        let sending = self.service.peer().send_request_with_option(request, options);
        let mut sent = tokio::select! {
            sent = sending => match sent {
                Ok(sent) => sent,
                Err(error) => return Err(self.explain(error).await),
            },
            () = &mut limit => return Err(self.silent(tool).await),
            () = &mut cancel => return Err(self.cancelled(tool)),
        };
        let answer = tokio::select! {
            answer = &mut sent.rx => answer,
            () = &mut limit => {
                give_up(sent, "timeout").await;
                return Err(self.silent(tool).await);
            }
            () = &mut cancel => {
                give_up(sent, "cancelled").await;
                return Err(self.cancelled(tool));
            }
        };
        match answer.unwrap_or(Err(ServiceError::TransportClosed)) {
            Ok(ServerResult::CallToolResult(result)) => Ok(Answer::read(result)),
            Ok(_) => {
                let what = format!("it does not answer the call of `{tool}` with a result");
                Err(McpError::Protocol { server: server(), what })
            }
            Err(error) => Err(self.explain(error).await),
        }
    }

    fn cancelled(&self, tool: &str) -> McpError {
        McpError::Cancelled { server: self.config.name.clone(), tool: tool.to_owned() }
    }

    async fn silent(&self, asked: &str) -> McpError {
        let (server, asked) = (self.config.name.clone(), asked.to_owned());
        let remark = match &self.process {
            Some(process) => remark(&self.gauge, Some(&*process.lock().await)),
            None => String::new(),
        };
        McpError::Silent { server, asked, waited_ms: self.config.timeout_ms, remark }
    }

    async fn explain(&self, error: ServiceError) -> McpError {
        let server = self.config.name.clone();
        if self.gauge.is_flooded() {
            return McpError::Flooded { server, max_bytes: MAX_BYTES };
        }
        let closed = matches!(
            error,
            ServiceError::TransportClosed
                | ServiceError::TransportSend(_)
                | ServiceError::Cancelled { .. }
        );
        match (error, &self.process) {
            (ServiceError::McpError(error), _) => refused(server, &error),
            (_, Some(process)) if closed => {
                let mut process = process.lock().await;
                let how = process.explain_end().await;
                McpError::Ended { server, how, remark: remark(&self.gauge, Some(&*process)) }
            }
            (error, None) if closed => {
                let why = self.trouble.take().unwrap_or_else(|| error.to_string());
                McpError::Unreachable { server, why: words(&why) }
            }
            (error, _) => McpError::Protocol { server, what: words(&error.to_string()) },
        }
    }

    /// Says good-bye: closes the server's input, asks it to end and, after 3 seconds, ends it with
    /// all it has started. Says how it ended, or nothing for a server over HTTP.
    pub async fn close(self) -> Option<String> {
        let Self { service, process, .. } = self;
        // Cancelling the service drops the pipes; that it was running already ended is no matter.
        let _ = timeout(CANCEL_TIMEOUT, service.cancel()).await;
        Some(process?.into_inner().end().await)
    }
}

/// Tells the server that nobody waits any more, unless it does not even read.
async fn give_up(request: RequestHandle<RoleClient>, why: &str) {
    let _ = timeout(CANCEL_TIMEOUT, request.cancel(Some(why.to_owned()))).await;
}
