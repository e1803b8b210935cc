//! One client: what it is sent, and why it is sent away.

use std::sync::Arc;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, interval_at, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Error as WsError;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::feed::{Feed, Reading, Sent};
use crate::message::Message;

/// How long one message may take to be taken.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a good-bye may take, with all that was sent before and is not read yet.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a client is asked whether it is still there.
const PING_EVERY: Duration = Duration::from_secs(30);

/// Why a client is sent away.
enum Gone {
    /// It left, or its connection broke.
    Left,
    /// It is sent away with a code and a reason.
    Away(CloseCode, String),
}

/// Tells a client what happens until it leaves or nothing more comes.
pub(crate) async fn attend<S>(mut socket: WebSocketStream<S>, feed: Arc<Feed>, after: Option<u64>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if let Gone::Away(code, reason) = tell(&mut socket, &feed, after).await {
        let frame = CloseFrame { code, reason: reason.into() };
        let close = async {
            let _ = socket.close(Some(frame)).await;
            // The answer to a good-bye is waited for, so that nothing sent before is lost.
            while let Some(Ok(_)) = socket.next().await {}
        };
        let _ = timeout(CLOSE_TIMEOUT, close).await;
    }
}

async fn tell<S>(socket: &mut WebSocketStream<S>, feed: &Feed, after: Option<u64>) -> Gone
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (hello, receiver) = feed.join();
    let mut last = hello.seq;
    if let Err(gone) = send(socket, Frame::text(Message::Hello(hello).text()), 0).await {
        return gone;
    }
    if let Some(after) = after
        && let Err(gone) = catch_up(socket, feed, after, last).await
    {
        return gone;
    }
    let Some(mut receiver) = receiver else { return over(feed) };
    let mut pings = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    loop {
        let sent = tokio::select! {
            sent = receiver.recv() => match next(sent, last, feed) {
                Ok(Some(sent)) => {
                    let text = send(socket, Frame::text(&*sent.text), last).await;
                    last = sent.seq;
                    text
                }
                Ok(None) => Ok(()),
                Err(gone) => Err(gone),
            },
            heard = socket.next() => hear(heard),
            _ = pings.tick() => send(socket, Frame::Ping(bytes::Bytes::new()), last).await,
        };
        if let Err(gone) = sent {
            return gone;
        }
    }
}

/// The next message if it is new to the client.
fn next(
    sent: Result<Sent, broadcast::error::RecvError>,
    last: u64,
    feed: &Feed,
) -> Result<Option<Sent>, Gone> {
    match sent {
        Ok(sent) => Ok(Some(sent).filter(|sent| sent.seq > last)),
        Err(RecvError::Lagged(_)) => Err(too_slow(last)),
        Err(RecvError::Closed) => Err(over(feed)),
    }
}

fn too_slow(last: u64) -> Gone {
    Gone::Away(CloseCode::Again, format!("too slow: go on with ?after={last}"))
}

fn over(feed: &Feed) -> Gone {
    match feed.broken() {
        None => Gone::Away(CloseCode::Normal, "nothing more comes".to_owned()),
        Some(_) => Gone::Away(CloseCode::Error, "the journal cannot be read".to_owned()),
    }
}

/// Tells what the journal has after `after`, up to and with `until`.
async fn catch_up<S>(
    socket: &mut WebSocketStream<S>,
    feed: &Feed,
    after: u64,
    until: u64,
) -> Result<(), Gone>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let broken = |_| Gone::Away(CloseCode::Error, "the journal cannot be read".to_owned());
    let mut reading = Reading::new(feed.id.clone());
    while let Some(messages) = reading.next(&*feed.store, until).await.map_err(broken)? {
        for sent in messages.iter().filter(|sent| sent.seq > after) {
            send(socket, Frame::text(&*sent.text), sent.seq - 1).await?;
        }
    }
    Ok(())
}

async fn send<S>(socket: &mut WebSocketStream<S>, frame: Frame, last: u64) -> Result<(), Gone>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    match timeout(SEND_TIMEOUT, socket.send(frame)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(Gone::Left),
        Err(_) => Err(too_slow(last)),
    }
}

/// What a client says is read, so that pings and good-byes are answered, and not looked at.
fn hear(heard: Option<Result<Frame, WsError>>) -> Result<(), Gone> {
    match heard {
        None => Err(Gone::Left),
        Some(Err(WsError::Capacity(_))) => {
            Err(Gone::Away(CloseCode::Size, "nothing is asked of clients".to_owned()))
        }
        Some(Err(_)) => Err(Gone::Left),
        Some(Ok(_)) => Ok(()),
    }
}
