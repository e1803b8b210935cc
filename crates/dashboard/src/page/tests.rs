use std::io::Read;

use flate2::read::GzDecoder;
use http::Request;

use super::*;

fn ask(method: &str, path: &str, headers: &[(&str, &str)]) -> Option<Response<Bytes>> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (head, ()) = request.body(()).unwrap().into_parts();
    answer(&head.method, head.uri.path(), &head.headers)
}

fn header<'a>(response: &'a Response<Bytes>, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

fn check(method: &str, path: &str, accept: &str, expected: Option<u16>) {
    let found = ask(method, path, &[("accept", accept)]).map(|it| it.status().as_u16());
    assert_eq!(found, expected, "{method} {path} {accept}");
}

#[test]
fn the_page_is_where_it_says_and_nowhere_else() {
    let page = "text/html,application/xhtml+xml";
    check("GET", "/dashboard/", page, Some(200));
    check("HEAD", "/dashboard/", page, Some(200));
    check("GET", "/dashboard/index.html", "*/*", Some(200));
    check("GET", "/dashboard", page, Some(307));
    check("GET", "/", page, Some(307));
    check("GET", "/", "*/*", None);
    check("POST", "/", page, None);
    check("POST", "/dashboard/", page, Some(405));
    check("GET", "/dashboard/none.js", "*/*", Some(404));
    check("GET", "/dashboard/../Cargo.toml", "*/*", Some(404));
    check("GET", "/dashboards", page, None);
    check("GET", "/api/sessions", page, None);
    let to = ask("GET", "/", &[("accept", page)]).unwrap();
    assert_eq!(header(&to, "location"), "/dashboard/");
}

#[test]
fn every_file_is_given_whole_compressed_and_not_twice() {
    for (name, _, content) in FILES {
        let path = format!("{PATH}{name}");
        let whole = ask("GET", &path, &[]).unwrap();
        assert_eq!((header(&whole, "content-encoding"), &whole.body()[..]), ("", *content));
        let gzip = [("accept-encoding", "br, gzip;q=0.5")];
        let packed = ask("GET", &path, &gzip).unwrap();
        if header(&packed, "content-encoding") == "gzip" {
            let mut text = Vec::new();
            GzDecoder::new(&packed.body()[..]).read_to_end(&mut text).unwrap();
            assert_eq!(text, *content, "{name}");
            assert_ne!(header(&packed, "etag"), header(&whole, "etag"));
        }
        let known = [("if-none-match", header(&whole, "etag"))];
        let again = ask("GET", &path, &known).unwrap();
        assert_eq!((again.status().as_u16(), again.body().len()), (304, 0), "{name}");
        let keeps = header(&whole, "cache-control");
        assert_eq!(keeps.contains("immutable"), name.starts_with("assets/"), "{name}");
        let refused = ask("GET", &path, &[("accept-encoding", "gzip;q=0")]).unwrap();
        assert_eq!(header(&refused, "content-encoding"), "");
    }
}

#[test]
fn whatever_is_answered_is_locked_in() {
    for path in ["/dashboard/", "/dashboard", "/dashboard/none"] {
        let response = ask("GET", path, &[]).unwrap();
        let policy = header(&response, "content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header(&response, "x-content-type-options"), "nosniff");
        assert_eq!(header(&response, "referrer-policy"), "no-referrer");
    }
}

#[test]
fn the_page_needs_nothing_that_its_policy_forbids() {
    let index = FILES.iter().find(|(name, ..)| *name == "index.html").unwrap().2;
    let index = std::str::from_utf8(index).unwrap();
    for forbidden in ["<style", " style=", "javascript:", " onclick=", " onload="] {
        assert!(!index.contains(forbidden), "{forbidden}");
    }
    // A script is a file, never a text.
    for script in index.split("<script").skip(1) {
        let (tag, rest) = script.split_once('>').unwrap();
        assert!(tag.contains("src=") && rest.starts_with("</script>"), "{tag}");
    }
}
