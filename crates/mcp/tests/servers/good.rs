//! A server as it should be, over pipes and over HTTP.

use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

use crate::Outcome;

#[derive(Clone)]
pub(crate) struct Good;

fn schema(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn tool(name: &'static str, description: &'static str) -> Tool {
    Tool::new(name, description, schema(json!({"type": "object"})))
}

impl ServerHandler for Good {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    /// Two pages.
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = ListToolsResult::default();
        if request.and_then(|request| request.cursor).is_none() {
            let hints = ToolAnnotations::new().read_only(true);
            list.tools = vec![
                tool("echo", "Says it again").with_annotations(hints),
                tool("large.one", "Has a large schema"),
            ];
            let large = "x".repeat(100_000);
            list.tools[1].input_schema = schema(json!({"description": large})).into();
            list.next_cursor = Some("2".to_owned());
        } else {
            list.tools = ["fail", "wait", "env", "long", "grow", "refuse", "die", "secret"]
                .map(|name| tool(name, ""))
                .to_vec();
        }
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text =
            |text: String| Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into());
        match &*request.name {
            "echo" => {
                let mut result =
                    CallToolResult::success(vec![ContentBlock::text(arguments.to_string())]);
                result.structured_content = Some(arguments);
                Ok(result.into())
            }
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("it failed")]).into()),
            "wait" => {
                // Until the client gives up; far beyond any test.
                tokio::select! {
                    () = context.ct.cancelled() => text("cancelled".to_owned()),
                    () = tokio::time::sleep(Duration::from_secs(600)) => text("late".to_owned()),
                }
            }
            "env" => {
                let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                text(format!("{names:?} in {:?}", std::env::current_dir().ok()))
            }
            "long" => text("x".repeat(1_000_000)),
            "grow" => {
                let sent = context.peer.notify_tool_list_changed().await;
                text(format!("{:?}", sent.is_ok()))
            }
            "die" => std::process::exit(3),
            _ => Err(ErrorData::invalid_params("no such tool\u{1b}[31m", None)),
        }
    }
}

pub(crate) async fn serve_pipes() -> Outcome {
    Good.serve(stdio()).await?.waiting().await?;
    Ok(())
}

/// Serves on a port of the loopback until the runtime ends. Gives the URL.
pub(crate) async fn serve_http() -> Result<String, Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let service: StreamableHttpService<Good, LocalSessionManager> = StreamableHttpService::new(
        || Ok(Good),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default(),
    );
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(async move {
                let http = Builder::new(TokioExecutor::new());
                // A client that leaves is no failure of the server.
                let _ = http.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    Ok(url)
}
