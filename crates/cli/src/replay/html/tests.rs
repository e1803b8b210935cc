use steersman_engine::Action;

use super::*;
use crate::reading::GroupBy;
use crate::replay::samples;
use crate::replay::series::Series;

const EVIL: &str = "</script><img src=x onerror=alert(1)>\"'`&--><!--\u{0}";

fn page(reports: Vec<RunReport>) -> String {
    let mut page = Page::new(PathBuf::new());
    let mut totals = Totals { policies: vec![EVIL.to_owned()], ..Totals::default() };
    let mut sources = Sources::new(GroupBy::File);
    for report in reports {
        page.add(&report);
        totals.add(&report);
        sources.add(&report);
    }
    let mut out = Vec::new();
    page.write_to(&totals, &sources, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn evil() -> RunReport {
    let mut report = samples::run(EVIL).graded(false);
    report.source = std::sync::Arc::new(crate::reading::Source {
        name: EVIL.to_owned(),
        format: EVIL.to_owned(),
    });
    for text in [&mut report.agent, &mut report.model, &mut report.instance] {
        *text = EVIL.to_owned();
    }
    report.problems.push(EVIL.to_owned());
    let mut decision = samples::decision(Action::Stop, 4);
    decision.evidence.excerpt = EVIL.to_owned();
    let mut report = report.with(Action::Nudge, 3).with(Action::Stop, 4);
    for made in &mut report.verdict.decisions {
        made.message = EVIL.to_owned();
        made.excerpt = EVIL.to_owned();
    }
    report.series = Some(Box::new(series()));
    report
}

fn series() -> Series {
    let mut series = Series::default();
    for turn in 0..10 {
        series.begin_turn();
        series.count(steersman_timeline::calls::Mark::Ok);
        series.score(turn as f32 / 10.0);
    }
    series
}

#[test]
fn text_of_a_trace_cannot_become_markup() {
    let html = page(vec![evil(), samples::run("tame").graded(true)]);
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&#96;&amp;--&gt;&lt;!-- "));
    assert!(!html.contains("<img") && !html.contains("<!--") && !html.contains('\0'));
    assert_eq!(html.matches("<script").count(), 1);
    assert_eq!(html.matches("</script").count(), 1);
    for tag in tags(&html) {
        let event = tag.split_ascii_whitespace().find(|part| part.starts_with("on"));
        assert_eq!(event, None, "an event handler in <{tag}>");
    }
}

/// What stands between `<` and `>`, quoted attribute values left out.
fn tags(html: &str) -> Vec<String> {
    let body = html.split("<script>").next().unwrap().split("</style>").nth(1).unwrap();
    let mut tags = Vec::new();
    let (mut tag, mut inside, mut quoted) = (String::new(), false, false);
    for c in body.chars() {
        match c {
            '<' if !quoted => {
                assert!(!inside, "a < inside of a tag: {tag}");
                inside = true;
            }
            '>' if inside && !quoted => {
                tags.push(std::mem::take(&mut tag));
                inside = false;
            }
            '"' if inside => quoted = !quoted,
            c if inside && !quoted => tag.push(c),
            _ => {}
        }
    }
    assert!(!inside && !quoted);
    tags
}

#[test]
fn the_page_needs_nothing_from_outside() {
    let html = page(vec![evil()]);
    for reference in ["src=\"", "http://", "https://", "@import", "url(", "<link", "<iframe"] {
        assert!(!html.contains(reference), "{reference}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn tags_are_closed() {
    let html = page(vec![evil(), samples::run("b").with(Action::Nudge, 2).graded(true)]);
    for element in ["article", "section", "svg", "table", "details", "main", "div", "ol", "g", "h3"]
    {
        let open =
            tags(&html).iter().filter(|tag| tag.split([' ', '/']).next() == Some(element)).count();
        let closed = tags(&html).iter().filter(|tag| **tag == format!("/{element}")).count();
        assert!(open > 0 && open == closed, "{element}: {open} opened, {closed} closed");
    }
}

#[test]
fn many_runs_make_a_bounded_page_that_says_so() {
    let run = |i: u32| samples::run(&format!("run-{i}")).with(Action::Stop, i % 9 + 1);
    let html = page((0..2_500).map(run).collect());
    assert_eq!(html.matches("<article").count(), Page::MAX_CHARTS);
    assert_eq!(html.matches("<tr data-i=").count(), Page::MAX_ROWS);
    assert!(html.contains("500 more runs"));
    assert!(html.contains("2,300 are not."));
}
