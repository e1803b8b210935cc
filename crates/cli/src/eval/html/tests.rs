use super::*;
use crate::eval::samples::evaluation;

const EVIL: &str = "</script><img src=x onerror=alert(1)>\"'`&--><!--\u{0}";

fn page(name: &str) -> String {
    let (evaluation, subjects) = evaluation(name);
    let mut out = Vec::new();
    write_to(&evaluation, GroupBy::File, &subjects, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn names_cannot_become_markup() {
    let html = page(EVIL);
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"));
    assert!(!html.contains("<img") && !html.contains("<!--") && !html.contains('\0'));
    assert_eq!(html.matches("<script").count(), 1);
    assert_eq!(html.matches("</script").count(), 1);
}

#[test]
fn the_page_shows_everything_and_needs_nothing_from_outside() {
    let html = page("careful");
    for part in ["careful", "hasty", "cap_5", "coding", "web", "repeated_outcome", "mistake"] {
        assert!(html.contains(part), "{part} is missing");
    }
    for reference in ["src=\"", "http://", "https://", "@import", "url(", "<link", "<iframe"] {
        assert!(!html.contains(reference), "{reference}");
    }
    for element in ["section", "svg", "table", "details", "main", "div", "figure", "h2", "g"] {
        let open = html.matches(&format!("<{element}>")).count()
            + html.matches(&format!("<{element} ")).count();
        let closed = html.matches(&format!("</{element}>")).count();
        assert!(open > 0 && open == closed, "{element}: {open} opened, {closed} closed");
    }
    assert_eq!(html.matches("<circle").count(), 3);
}

#[test]
fn without_outcomes_there_is_no_frontier() {
    let none = steersman_evaluation::evaluate(&[], &[], steersman_evaluation::Options::default());
    let mut out = Vec::new();
    write_to(&none, GroupBy::File, &[], &mut out).unwrap();
    let html = String::from_utf8(out).unwrap();
    assert!(!html.contains("<svg") && html.contains("</html>"));
}
