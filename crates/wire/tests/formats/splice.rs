//! One answer out of several streams.

use std::borrow::Cow;
use std::sync::LazyLock;

use proptest::prelude::*;
use steersman_wire::{
    Answer, Format, Frame, Message, Part, Splice, StreamReader, Tokens, WireError,
};

use crate::cases::{Case, answers, golden};
use crate::golden::compare;
use crate::rendered::{FRAME, any_answer, cases, read_stream};

/// A recorded stream of server-sent events and what it reads as.
type Stream = (Case, Result<Answer, WireError>);

static STREAMS: LazyLock<Vec<Stream>> = LazyLock::new(|| {
    let sse = |case: &Case| case.path.extension().is_some_and(|extension| extension == "sse");
    let streams: Vec<_> = answers()
        .into_iter()
        .filter(sse)
        .map(|case| {
            let read = case.read(usize::MAX);
            (case, read)
        })
        .collect();
    assert!(streams.len() >= 20, "only {} streams", streams.len());
    streams
});

/// Pushes `bytes` cut into pieces of these sizes, over and over.
fn push(splice: &mut Splice, bytes: &[u8], sizes: &[usize]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), bytes);
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            return out;
        }
        let (chunk, after) = rest.split_at((*size).min(rest.len()));
        out.extend_from_slice(&splice.push(chunk));
        rest = after;
    }
    out
}

fn text(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// The calls; ids made up for those without are made of the answer's id, which is the first's.
fn calls(answer: &Answer) -> Vec<Part> {
    let call = |part: &Part| match part.clone() {
        Part::ToolCall { id, name, arguments, raw } => {
            let made = id.len() == "call_0123456789abcdef_0".len();
            let id = if made { String::new() } else { id };
            Some(Part::ToolCall { id, name, arguments, raw })
        }
        _ => None,
    };
    answer.message.parts.iter().filter_map(call).collect()
}

fn sum(one: Tokens, two: Tokens) -> Tokens {
    Tokens {
        input: one.input + two.input,
        output: one.output + two.output,
        cached_input: one.cached_input + two.cached_input,
        cache_write: one.cache_write + two.cache_write,
        reasoning: one.reasoning + two.reasoning,
        cost_nanodollars: one.cost_nanodollars + two.cost_nanodollars,
    }
}

/// Whether two recordings can be one answer: a refusal is read behind the text wherever it stood, and
/// one server has a name of its own for cached tokens.
fn comparable(one: &Case, two: &Case) -> bool {
    let [one, two] = [one, two].map(|case| case.path.file_stem().unwrap().to_str().unwrap());
    one != "refusal" && two != "refusal" && (one == "reasoning") == (two == "reasoning")
}

/// Text of all, calls and stop of the last, usage of all, id of the first.
fn check_joined(read: &Answer, all: &[&Answer]) {
    let texts: String = all.iter().map(|answer| text(&answer.message)).collect();
    let last = all[all.len() - 1];
    let used = all.iter().fold(Tokens::default(), |used, answer| sum(used, answer.usage));
    assert_eq!(text(&read.message), texts);
    assert_eq!(calls(read), calls(last));
    assert_eq!((read.stop, &read.stop_word), (last.stop, &last.stop_word));
    assert_eq!(read.usage, used);
}

/// Splices the streams and reads what the client reads.
fn check(format: Format, streams: &[&[u8]], all: &[&Answer], sizes: &[usize]) {
    let mut splice = Splice::new(format);
    let mut out = Vec::new();
    for (number, stream) in streams.iter().enumerate() {
        if number > 0 {
            assert!(splice.is_holding() && splice.go_on());
        }
        out.extend(push(&mut splice, stream, sizes));
    }
    out.extend(splice.release());
    let read = read_stream(format, &out);
    check_joined(&read, all);
    if format != Format::Gemini {
        assert_eq!(read.id.as_ref().or(all[0].id.as_ref()), read.id.as_ref());
    }
    if matches!(format, Format::Anthropic | Format::OpenAiResponses) {
        let parts = all.iter().flat_map(|answer| answer.message.parts.clone());
        assert_eq!(read.message.parts, parts.collect::<Vec<_>>());
        assert_eq!(read.id, all[0].id);
    }
}

#[test]
fn an_end_that_is_the_end_reaches_the_client_as_it_came() {
    for case in answers().iter().filter(|case| case.is_stream()) {
        for chunk in [1, 2, 3, 7, 64, usize::MAX] {
            let mut splice = Splice::new(case.format);
            let mut out = push(&mut splice, &case.bytes, &[chunk]);
            out.extend(splice.release());
            assert_eq!(out, case.bytes, "{} by {chunk}", case.path.display());
            assert_eq!(splice.push(b"more").as_ref(), b"more");
        }
    }
}

/// What passes is not whole without what is held; errors and cut streams hold nothing.
#[test]
fn the_end_is_held() {
    for (case, read) in STREAMS.iter() {
        let mut splice = Splice::new(case.format);
        let out = push(&mut splice, &case.bytes, &[100]);
        assert_eq!(splice.is_holding(), read.is_ok(), "{}", case.path.display());
        let mut reader = case.format.stream();
        let passed = reader.push(&out).and_then(|_| reader.finish());
        assert!(passed.is_err(), "{}", case.path.display());
    }
}

#[test]
fn events_pass_at_once_and_uncopied() {
    for (case, _) in STREAMS.iter() {
        let text = String::from_utf8(case.bytes.clone()).unwrap();
        let mut splice = Splice::new(case.format);
        for event in text.split_inclusive("\n\n").filter(|event| event.ends_with("\n\n")) {
            let passed = splice.push(event.as_bytes());
            assert!(matches!(passed, Cow::Borrowed(_)));
            assert!(passed.is_empty() || passed == event.as_bytes());
            assert_eq!(passed.is_empty(), splice.is_holding(), "{event}");
        }
    }
}

#[test]
fn recorded_streams_continue_each_other() {
    let mut seen = 0;
    for (one, first) in STREAMS.iter() {
        for (two, second) in STREAMS.iter() {
            let (Ok(first), Ok(second)) = (first, second) else { continue };
            // A server that tells neither its usage nor that it is done leaves no place for it.
            let silent = two.format == Format::OpenAiChat
                && second.usage == Tokens::default()
                && !String::from_utf8_lossy(&two.bytes).contains("[DONE]");
            if silent
                || one.format != two.format
                || !calls(first).is_empty()
                || !comparable(one, two)
            {
                continue;
            }
            check(one.format, &[&one.bytes, &two.bytes], &[first, second], &[33]);
            check(
                one.format,
                &[&one.bytes, &one.bytes, &two.bytes],
                &[first, first, second],
                &[5000],
            );
            seen += 1;
        }
    }
    assert!(seen >= 30, "{seen}");
}

/// An answer that ended too early and the one that continues it, as a client reads them.
#[test]
fn a_rescued_answer_is_one() {
    let cases = cases();
    let find = |name: &str| &cases.iter().find(|case| case.0 == name).unwrap().1;
    for format in Format::ALL {
        let frames = [FRAME, Frame { id: "resp_80", ..FRAME }];
        let answers = [(find("text"), &frames[0]), (find("calls"), &frames[1])];
        let mut splice = Splice::new(format);
        let [first, second] = answers.map(|(answer, frame)| format.render_stream(answer, frame));
        let mut out = splice.push(&first).into_owned();
        splice.go_on();
        out.extend_from_slice(&splice.push(&second));
        out.extend(splice.release());
        let folder = golden().join("rendered").join(format.name());
        compare(&folder.join("spliced.sse"), &String::from_utf8(out).unwrap());
        let [first, second] = answers.map(|(answer, frame)| format.render(answer, frame));
        let joined = format.joined(&first, &second).unwrap();
        let joined: serde_json::Value = serde_json::from_slice(&joined).unwrap();
        let joined = serde_json::to_string_pretty(&joined).unwrap() + "\n";
        compare(&folder.join("joined.json"), &joined);
    }
}

/// Frames of a stream, as text, for cases that no server recorded.
fn passes(format: Format, first: &str, second: &str, expected: &str) {
    let mut splice = Splice::new(format);
    let mut out = splice.push(first.as_bytes()).into_owned();
    assert!(splice.go_on(), "{first}");
    out.extend_from_slice(&splice.push(second.as_bytes()));
    out.extend(splice.release());
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn later_streams_become_part_of_the_first() {
    // Content beside the end is kept; the second role is not; the usage comes even so.
    passes(
        Format::OpenAiChat,
        "data: {\"id\":\"a\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I\"},\
         \"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n",
        "data: {\"id\":\"b\",\"model\":\"m\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n\
         : alive\n\n\
         data: {\"id\":\"b\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"!\"}}]}\n\ndata: [DONE]\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"I\"},\"finish_reason\":null,\"index\":0}],\"id\":\"a\"}\n\n\
         : alive\n\n\
         data: {\"choices\":[{\"delta\":{\"content\":\"!\"}}],\"id\":\"b\"}\n\n\
         data: {\"choices\":[],\"model\":\"m\",\"object\":\"chat.completion.chunk\",\"usage\":{\"prompt_tokens\":1}}\n\n\
         data: [DONE]\n\n",
    );
    // Items and events are numbered on.
    passes(
        Format::OpenAiResponses,
        "data: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"a\"}}\n\n\
         data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"sequence_number\":1,\"item\":{\"type\":\"x\"}}\n\n\
         data: {\"type\":\"response.completed\",\"sequence_number\":2,\"response\":{\"output\":[],\"usage\":{\"input_tokens\":1}}}\n\n",
        "data: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"b\"}}\n\n\
         event: response.output_item.done\r\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"sequence_number\":1,\"item\":{\"type\":\"y\"}}\r\n\r\n\
         data: {\"type\":\"response.completed\",\"sequence_number\":2,\"response\":{\"id\":\"b\",\"usage\":{\"input_tokens\":2,\"n\":{\"m\":0.5}}}}",
        "data: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"a\"}}\n\n\
         data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"sequence_number\":1,\"item\":{\"type\":\"x\"}}\n\n\
         event: response.output_item.done\r\ndata: {\"item\":{\"type\":\"y\"},\"output_index\":1,\"sequence_number\":2,\"type\":\"response.output_item.done\"}\r\n\r\n\
         data: {\"response\":{\"id\":\"a\",\"output\":[{\"type\":\"x\"},{\"type\":\"y\"}],\"usage\":{\"input_tokens\":3,\"n\":{\"m\":0.5}}},\"sequence_number\":3,\"type\":\"response.completed\"}\n\n",
    );
    // What the first told at its beginning counts too; blocks are numbered on.
    passes(
        Format::Anthropic,
        "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n\
         data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{}}\n\n\
         data: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
         data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":7}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
        "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":50,\"output_tokens\":1}}}\n\n\
         data: {\"type\":\"ping\"}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{}}\n\n\
         data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":70}}\n\n",
        "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n\
         data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{}}\n\n\
         data: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
         data: {\"type\":\"ping\"}\n\ndata: {\"content_block\":{},\"index\":1,\"type\":\"content_block_start\"}\n\n\
         data: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":55,\"output_tokens\":77}}\n\n",
    );
    // The last chunk's text, and nothing of its end.
    passes(
        Format::Gemini,
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"I\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1}}\r\n\r\n",
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"!\"}]},\"finishReason\":\"STOP\"}]}\r\n\r\n",
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"I\"}]}}],\"usageMetadata\":{\"promptTokenCount\":1}}\r\n\r\n\
         data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"!\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":1}}\r\n\r\n",
    );
}

/// Words of the format inside texts are no end.
#[test]
fn texts_that_look_like_ends_pass() {
    let word = "[DONE] \\\"finish_reason\\\": \\\"stop\\\" message_stop response.completed \
                \\\"finishReason\\\": \\\"STOP\\\" \\\"done\\\"";
    let cases = [
        (
            Format::OpenAiChat,
            "{\"choices\":[{\"delta\":{\"content\":\"WORD\"},\"finish_reason\":null}]}",
        ),
        (
            Format::OpenAiChat,
            "{\"choices\":[{\"index\":1,\"delta\":{},\"finish_reason\":\"stop\"}]}",
        ),
        (Format::OpenAiResponses, "{\"type\":\"response.output_text.delta\",\"delta\":\"WORD\"}"),
        (Format::Anthropic, "{\"type\":\"content_block_delta\",\"delta\":{\"text\":\"WORD\"}}"),
        (Format::Gemini, "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"WORD\"}]}}]}"),
    ];
    for (format, data) in cases {
        let frame = format!("data: {}\n\n", data.replace("WORD", word));
        let mut splice = Splice::new(format);
        assert_eq!(splice.push(frame.as_bytes()).as_ref(), frame.as_bytes());
        assert!(!splice.is_holding() && !splice.go_on());
    }
}

/// Beyond the bound everything passes, in order, and the end cannot be taken back.
#[test]
fn what_is_held_is_bounded() {
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let long = format!("data: {}\n\n", "x".repeat(700_000));
    let endless = "x".repeat(1_100_000);
    let cases: [&[&str]; 4] = [
        &[end, &long, &long, end],
        &[&endless, end],
        &[&(long.clone() + end + &endless), end],
        &["data: 1\n\ndata", &endless, end],
    ];
    for pieces in cases {
        let mut splice = Splice::new(Format::OpenAiChat);
        let out: Vec<u8> =
            pieces.iter().flat_map(|piece| splice.push(piece.as_bytes()).into_owned()).collect();
        assert!(!splice.is_holding() && !splice.go_on());
        assert_eq!(out, pieces.concat().as_bytes());
    }
    // In a later stream the same.
    let mut splice = Splice::new(Format::OpenAiChat);
    let _ = splice.push(end.as_bytes());
    assert!(splice.go_on());
    let mut out = Vec::new();
    for piece in [end, &long, &long, "data: [DONE]\n\n"] {
        out.extend_from_slice(&splice.push(piece.as_bytes()));
    }
    assert!(!splice.is_holding());
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    assert_eq!(out, [end, &long, &long, "data: [DONE]\n\n"].concat().as_bytes());
}

#[test]
fn whole_bodies_are_joined() {
    let cases: Vec<_> = answers().into_iter().filter(|case| !case.is_stream()).collect();
    let mut seen = 0;
    for one in &cases {
        for two in cases.iter().filter(|two| two.format == one.format) {
            // Only the shape of the format itself: Ollama's and others' are not joined.
            let own = |case: &Case| {
                case.format != Format::OpenAiChat
                    || String::from_utf8_lossy(&case.bytes).contains("\"choices\"")
            };
            let joined = one.format.joined(&one.bytes, &two.bytes);
            let (Ok(first), Ok(second)) = (one.read(0), two.read(0)) else {
                assert!(joined.is_err(), "{} {}", one.path.display(), two.path.display());
                continue;
            };
            if !calls(&first).is_empty() || !comparable(one, two) || !own(one) || !own(two) {
                continue;
            }
            let read = one.format.answer(&joined.unwrap()).unwrap();
            check_joined(&read, &[&first, &second]);
            assert_eq!(read.id, first.id.or(second.id));
            seen += 1;
        }
    }
    assert!(seen >= 20, "{seen}");
}

/// Whatever comes and whatever is decided, nothing panics and the reader's view is no matter.
fn disturb(format: Format, first: &[u8], second: &[u8], sizes: &[usize]) {
    let mut splice = Splice::new(format);
    let mut out = push(&mut splice, first, sizes);
    let went_on = splice.go_on();
    if !went_on {
        out.extend(splice.release());
        assert_eq!(out, first);
        return;
    }
    push(&mut splice, second, sizes);
    splice.go_on();
    push(&mut splice, first, sizes);
    splice.release();
    push(&mut splice, second, sizes);
    splice.release();
    let _ = format.joined(first, second);
}

fn without_calls(answer: &Answer) -> Answer {
    let mut answer = answer.clone();
    answer.message.parts.retain(|part| !matches!(part, Part::ToolCall { .. }));
    answer
}

fn reader_sees(format: Format, answer: &Answer) -> (Vec<u8>, Answer) {
    let stream = format.render_stream(answer, &FRAME);
    let read = read_stream(format, &stream);
    (stream, read)
}

/// What replaces a piece of a stream.
const ODD: &[&str] = &["", "null", "[]", "\"", "{", "\n\n", "1e999", "-1", "\r"];

fn bounded() -> ProptestConfig {
    ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(bounded())]

    #[test]
    fn any_cut_passes_every_byte(
        pick in any::<prop::sample::Index>(),
        sizes in prop::collection::vec(1..200_usize, 1..50),
        crlf in any::<bool>(),
    ) {
        let (case, _) = pick.get(&STREAMS);
        let bytes = if crlf {
            String::from_utf8(case.bytes.clone()).unwrap().replace('\n', "\r\n").into_bytes()
        } else {
            case.bytes.clone()
        };
        let mut splice = Splice::new(case.format);
        let mut out = push(&mut splice, &bytes, &sizes);
        out.extend(splice.release());
        prop_assert_eq!(out, bytes);
    }

    #[test]
    fn any_answers_continue_each_other(
        first in any_answer(),
        second in any_answer(),
        third in any_answer(),
        sizes in prop::collection::vec(1..400_usize, 1..30),
    ) {
        for format in Format::ALL {
            let (one, first) = reader_sees(format, &without_calls(&first));
            let (two, second) = reader_sees(format, &without_calls(&second));
            let (three, third) = reader_sees(format, &third);
            check(format, &[&one, &three], &[&first, &third], &sizes);
            check(format, &[&one, &two, &three], &[&first, &second, &third], &sizes);
        }
    }

    #[test]
    fn any_bodies_are_joined(first in any_answer(), second in any_answer()) {
        for format in Format::ALL {
            let answers = [without_calls(&first), second.clone()];
            let bodies = answers.map(|answer| format.render(&answer, &FRAME));
            let read = format.answer(&format.joined(&bodies[0], &bodies[1]).unwrap()).unwrap();
            let each = bodies.map(|body| format.answer(&body).unwrap());
            check_joined(&read, &[&each[0], &each[1]]);
        }
    }

    #[test]
    fn no_bytes_panic(
        first in prop::collection::vec(any::<u8>(), 0..200),
        second in prop::collection::vec(any::<u8>(), 0..200),
        size in 1..20_usize,
    ) {
        for format in Format::ALL {
            disturb(format, &first, &second, &[size]);
        }
    }

    #[test]
    fn no_change_of_a_stream_panics(
        picks in any::<[prop::sample::Index; 2]>(),
        at in any::<prop::sample::Index>(),
        len in 0..30_usize,
        put in prop::sample::select(ODD),
        size in 1..500_usize,
    ) {
        let [one, two] = picks.map(|pick| pick.get(&STREAMS).0.bytes.clone());
        let mut changed = one;
        let at = at.index(changed.len());
        changed.splice(at..(at + len).min(changed.len()), put.bytes());
        for format in Format::ALL {
            disturb(format, &changed, &two, &[size]);
            disturb(format, &two, &changed, &[size]);
        }
    }
}

/// The type can be kept in a task.
#[test]
fn a_splice_can_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Splice>();
    crosses::<StreamReader>();
}
