//! The list of a server's models.

use steersman_scripted_server::{Reply, ScriptedServer};
use steersman_upstream::{Client, Deadlines, Endpoint, Format, Options};

async fn listed(format: Format, reply: Reply) -> (String, ScriptedServer) {
    let server = ScriptedServer::start(vec![reply]).await.unwrap();
    let endpoint = Endpoint::new(format, &server.base_url()).unwrap();
    let endpoint = endpoint.with_key("own-secret-key").unwrap();
    let client = Client::new(&Options::default()).unwrap();
    let told = match client.models(&endpoint, Deadlines::default()).await {
        Ok(models) => models.into_iter().map(|model| model.name).collect::<Vec<_>>().join(" "),
        Err(failure) => failure.to_string(),
    };
    (told, server)
}

#[tokio::test]
async fn models_are_listed_with_the_key() {
    for format in Format::ALL {
        let reply = Reply::raw("application/json", r#"{"data": [{"id": "a"}, {"id": "b"}]}"#);
        let (told, server) = listed(format, reply).await;
        assert_eq!(told, "a b", "{format}");
        let asked = &server.requests()[0];
        let version = if format == Format::Gemini { "/v1beta" } else { "/v1" };
        assert_eq!(asked.path, format!("{version}/models"));
        assert!(asked.raw.is_empty());
        let (name, value) = format.key_header("own-secret-key");
        assert_eq!(asked.header(name), Some(value.as_str()));
    }
}

#[tokio::test]
async fn what_is_no_list_is_told_without_the_key() {
    let page = Reply::raw("text/html", "<html><title>Hi own-secret-key</title></html>");
    let refused = Reply::raw("application/json", r#"{"error": "no own-secret-key"}"#);
    let refused = Reply { status: 401, ..refused };
    let cut = Reply { cut: true, ..Reply::raw("application/json", r#"{"data": [{"id": "a"}]}"#) };
    let cases = [
        (page, "an HTML page, \"Hi [key]\""),
        (refused, "the model server refused the key (HTTP 401): no [key]"),
        (cut, "the connection broke in the middle of the answer"),
    ];
    for (reply, expected) in cases {
        let (told, _) = listed(Format::OpenAiChat, reply).await;
        assert!(told.contains(expected), "{told}");
        assert!(!told.contains("secret"), "{told}");
    }
}
