//! One exchange of MCP's Streamable HTTP: a message posted, and its answer read from a JSON body or an event stream.
//!
//! [`Wire::call`] is the one way of every request to an MCP server: of what rmcp sends to open a session
//! ([`crate::messenger`]), and of the calls of a session ([`crate::session`]), which do not pass through rmcp. They could:
//! rmcp takes a transport of one's own. But no release up to 3.11 has a place for raw JSON: arguments and structured content
//! become trees and are written anew, with numbers beyond 64 bits as floats, and what rmcp does not know of a result is
//! dropped. And the same call through rmcp took 2.2 to 2.8 times as long for an answer of 1 KiB, and 2.6 to 3.7 times the
//! CPU; for one of 64 KiB, 1.4 to 1.9 and 1.4 to 1.6 (`docs/benchmarks.md`, A call with and without rmcp).
//!
//! What most calls do not need (streams, errors, a connection that is opened) has a future in a box of its own: those of a call
//! would be ten times as large otherwise, and each is written and moved for every call.
//!
//! Every body is bounded before it is read, and everything that a partner may send in place of an answer has its own
//! failure. An exchange runs in the future of the caller: dropping that drops the request and its connection.

use std::time::{Duration, SystemTime};

use bytes::{Buf, Bytes, BytesMut};
use futures_util::FutureExt;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use http_body::Body;
use http_body_util::BodyExt;
use intent_gateway_domain::error::CallFailure;
use intent_gateway_domain::error_text::ErrorText;
use intent_gateway_domain::limits::PARTNER_BODY_MAX_BYTES;
use intent_gateway_domain::not_json;
use intent_gateway_domain::partner_error::{clean, protocol};
use intent_gateway_domain::progress::Progress;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answer::{Answer, Message, RpcError};
use crate::challenge::auth_failure;
use crate::connections::ReceivedBody;
use crate::sse::EventReader;
use crate::wire::{SESSION_ID, Target, Wire, retry_after_ms};

/// Bytes of an error's body.
const ERROR_BODY_MAX_BYTES: usize = 64 * 1024;
/// Bytes of one event stream, comments and notifications included.
const STREAM_MAX_BYTES: usize = 4 * PARTNER_BODY_MAX_BYTES;
/// Messages of one event stream that are not an answer.
const STREAM_NOTICES_MAX: usize = 1_000;
/// The same of a call whose progress is wanted: about 16 a second for as long as such a call may last.
const PROGRESS_NOTICES_MAX: usize = 10_000;
/// Bytes of what is told of a call's progress at a time; more is not handed on.
const PROGRESS_MAX_BYTES: usize = 16 * 1024;
/// How often one event stream is resumed.
const STREAM_RESUMES_MAX: usize = 3;
/// Wait before a stream is resumed whose server named none.
const STREAM_RESUME_WAIT: Duration = Duration::from_secs(1);
/// How long, in the background, the end of an answer is waited for, so that its connection can serve again.
const RELEASE_TIMEOUT: Duration = Duration::from_millis(50);
/// Bytes read in that time.
const RELEASE_MAX_BYTES: usize = 16 * 1024;
/// Bytes of buffer reserved on the word of a partner alone.
const RESERVE_MAX_BYTES: usize = 64 * 1024;
/// Bytes of a session identifier.
const SESSION_ID_MAX_BYTES: usize = 1_024;
/// The code with which servers on the official TypeScript SDK report an unknown session.
const BAD_SESSION_CODE: i64 = -32_000;
/// The code of a call whose headers do not repeat what the tool wants repeated (MCP 2026-07-28, Server Validation).
const HEADER_MISMATCH_CODE: i64 = -32_020;

/// Why an exchange gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExchangeFailure {
    /// The partner does not know the session any more; nothing was done.
    #[error("the partner ended the session")]
    SessionLost,
    /// The partner has changed the tool since its list was read; nothing was done.
    #[error("the partner wants other headers with the call")]
    ToolChanged,
    #[error(transparent)]
    Failed(#[from] CallFailure),
}

/// Why a message was not taken.
enum Refusal {
    Exchange(ExchangeFailure),
    /// With an error that MCP itself defines. It is an answer like one of status 200: whoever opens a session goes on from
    /// it to a revision that the partner speaks.
    Answer(RpcError),
}

impl<F: Into<ExchangeFailure>> From<F> for Refusal {
    fn from(failure: F) -> Self {
        Self::Exchange(failure.into())
    }
}

/// Reads a message of which `R` is what is wanted of a result.
pub(crate) type Parse<R> = fn(&[u8]) -> Result<Message<R>, CallFailure>;

/// What is wanted of an exchange.
pub(crate) struct Wanted<'a, R> {
    /// The request's identifier as text; also the token of its progress.
    pub(crate) id: &'a str,
    /// Reads a message.
    pub(crate) parse: Parse<R>,
    /// Where the partner's words before the answer go.
    pub(crate) progress: Option<&'a Progress<'a>>,
    /// Where its words go that it sends in place of an answer.
    pub(crate) error_text: Option<&'a ErrorText>,
}

impl<'a, R> Wanted<'a, R> {
    /// The answer alone.
    pub(crate) fn answer(id: &'a str, parse: Parse<R>) -> Self {
        Self { id, parse, progress: None, error_text: None }
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply<R> {
    pub(crate) answer: Answer<R>,
    /// A session that the partner issued with this answer.
    pub(crate) session: Option<String>,
    pub(crate) retry_after_ms: Option<u64>,
}

/// A message as it is posted.
pub(crate) fn encode(message: &impl Serialize) -> Result<Bytes, CallFailure> {
    serde_json::to_vec(message).map(Bytes::from).map_err(|error| protocol(&error.to_string()))
}

impl Wire {
    /// Makes a call: posts a request and waits for its answer.
    pub(crate) async fn call<R>(
        &self,
        target: &Target,
        body: Bytes,
        wanted: Wanted<'_, R>,
    ) -> Result<Reply<R>, ExchangeFailure> {
        let response = match self.success(target, body, wanted.error_text).await {
            Ok(response) => response,
            Err(Refusal::Exchange(failure)) => return Err(failure),
            Err(Refusal::Answer(error)) => {
                let answer = Answer { id: None, outcome: Err(error) };
                return Ok(Reply { answer, session: None, retry_after_ms: None });
            }
        };
        let session = session_id(response.headers());
        let retry_after_ms = retry_after_ms(response.headers(), SystemTime::now());
        let answer = match media_type(response.headers()) {
            MediaType::Json => {
                let body = read_body(response.into_body(), PARTNER_BODY_MAX_BYTES).await?;
                match (wanted.parse)(&body)? {
                    Message::Answer(answer) if answer.answers(wanted.id) => answer,
                    Message::Answer(_) => return Err(protocol("an answer to another request").into()),
                    _ => return Err(protocol("a message that is no answer").into()),
                }
            }
            MediaType::Events => Box::pin(self.read_stream(target, response.into_body(), wanted)).await?,
            MediaType::Other(found) => {
                let said = match not_json::kind_of_type(&found.to_ascii_lowercase()) {
                    Some(kind) => format!("the answer is {kind}, expected JSON or an event stream"),
                    None => format!("an answer of content type `{found}`"),
                };
                Box::pin(hear(response, wanted.error_text)).await;
                return Err(protocol(&said).into());
            }
        };
        Ok(Reply { answer, session, retry_after_ms })
    }

    /// Posts a message that gets no answer.
    pub(crate) async fn notify(&self, target: &Target, body: Bytes) -> Result<(), ExchangeFailure> {
        match self.success(target, body, None).await {
            Ok(response) => {
                release(response.into_body());
                Ok(())
            }
            Err(Refusal::Exchange(failure)) => Err(failure),
            Err(Refusal::Answer(error)) => Err(error.failure(None).into()),
        }
    }

    /// Posts a message and makes sure that the answer starts with success.
    async fn success(
        &self,
        target: &Target,
        body: Bytes,
        error_text: Option<&ErrorText>,
    ) -> Result<Response<ReceivedBody>, Refusal> {
        let response = self.post(target, body).await?;
        let status = response.status();
        if status.is_success() {
            return match response.headers().get(CONTENT_ENCODING).map(HeaderValue::as_bytes) {
                None | Some(b"identity") => Ok(response),
                Some(_) => Err(protocol("a compressed answer, which was not asked for").into()),
            };
        }
        let failure: ExchangeFailure = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => auth_failure(status, response.headers()).into(),
            StatusCode::TOO_MANY_REQUESTS => {
                CallFailure::RateLimited { retry_after_ms: retry_after_ms(response.headers(), SystemTime::now()) }
                    .into()
            }
            status if status.is_redirection() => CallFailure::Redirect(status.as_u16()).into(),
            status => return Err(Box::pin(error_answer(response, status, target, error_text)).await),
        };
        Box::pin(hear(response, error_text)).await;
        Err(failure.into())
    }

    /// Reads an event stream up to the answer, resuming it where the server allows that.
    async fn read_stream<R>(
        &self,
        target: &Target,
        body: ReceivedBody,
        wanted: Wanted<'_, R>,
    ) -> Result<Answer<R>, CallFailure> {
        let Wanted { id, parse, progress, .. } = wanted;
        let notices_max = if progress.is_some() { PROGRESS_NOTICES_MAX } else { STREAM_NOTICES_MAX };
        let mut stream = EventStream::new(body);
        let mut notices = 0;
        let mut resumes = 0;
        loop {
            let ended = match stream.next().await? {
                Next::Event(data) => match parse(&data)? {
                    Message::Answer(answer) if answer.answers(id) => {
                        release(stream.body);
                        return Ok(answer);
                    }
                    Message::Answer(_) => return Err(protocol("an answer to another request")),
                    notice => {
                        notices += 1;
                        if notices > notices_max {
                            return Err(protocol("too many messages before the answer"));
                        }
                        match (notice, progress) {
                            (Message::Progress(params), Some(progress)) if tells_of(&params, id) => {
                                // A stream that goes on telling may be broken off more often.
                                resumes = 0;
                                progress.tell(params.get(), tokio::time::Instant::now().into_std());
                            }
                            (Message::Request { id, method }, _) if !target.sessionless => {
                                Box::pin(self.refuse_or_pong(target, &id, &method)).await;
                            }
                            _ => {}
                        }
                        continue;
                    }
                },
                Next::End(ended) => ended,
            };
            let after = stream.reader.last_id().and_then(|id| HeaderValue::from_str(id).ok());
            let may_resume = !target.sessionless && resumes < STREAM_RESUMES_MAX;
            let Some(after) = after.filter(|_| may_resume) else { return Err(ended) };
            resumes += 1;
            tokio::time::sleep(stream.reader.retry().unwrap_or(STREAM_RESUME_WAIT)).await;
            let response = self.resume(target, after).await?;
            if !response.status().is_success() || !matches!(media_type(response.headers()), MediaType::Events) {
                release(response.into_body());
                return Err(ended);
            }
            stream.body = response.into_body();
            stream.reader.restart();
        }
    }

    /// Answers a partner's own request: a ping is returned, anything else is not offered by this client. Whether the
    /// reply arrives matters to the partner alone.
    async fn refuse_or_pong(&self, target: &Target, id: &RawValue, method: &str) {
        let outcome = match method {
            "ping" => r#""result":{}"#,
            _ => r#""error":{"code":-32601,"message":"not offered by this client"}"#,
        };
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#);
        // Neither what the partner asked nor what it said to this goes into the log: both are its own words.
        if self.notify(target, body.into()).await.is_err() {
            tracing::debug!("a partner's own request could not be answered");
        }
    }
}

/// Whether these are the parameters of a note on the progress of this request, and of a size that is handed on.
fn tells_of(params: &RawValue, id: &str) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        #[serde(borrow)]
        progress_token: &'a RawValue,
    }
    let token = serde_json::from_str(params.get()).map(|params: Params<'_>| params.progress_token.get());
    params.get().len() <= PROGRESS_MAX_BYTES && token.is_ok_and(|token| token.trim_matches('"') == id)
}

/// What an answer says that is not a success: an error object that says more than the status, or the status. 404 says that the
/// session is over (MCP, Session Management), unless the error object answers the call.
async fn error_answer(
    response: Response<ReceivedBody>,
    status: StatusCode,
    target: &Target,
    error_text: Option<&ErrorText>,
) -> Refusal {
    let may_be_over = status == StatusCode::NOT_FOUND && target.session.is_some();
    let plain = || match may_be_over {
        true => ExchangeFailure::SessionLost.into(),
        false => Refusal::from(CallFailure::HttpStatus(status.as_u16())),
    };
    if !matches!(media_type(response.headers()), MediaType::Json) {
        hear(response, error_text).await;
        return plain();
    }
    let retry_after_ms = retry_after_ms(response.headers(), SystemTime::now());
    let Ok(body) = read_body(response.into_body(), ERROR_BODY_MAX_BYTES).await else { return plain() };
    note_error(error_text, status.as_u16(), &body);
    let Ok(Message::Answer(Answer { outcome: Err(error), .. })) = Message::<IgnoredAny>::parse(&body) else {
        return plain();
    };
    if may_be_over && !error.answers_call() {
        return plain();
    }
    let bad_request = status == StatusCode::BAD_REQUEST;
    if bad_request && !target.sessionless && target.session.is_none() && error.asks_for_session() {
        ExchangeFailure::SessionLost.into()
    } else if error.is_specific(status.as_u16()) {
        error.failure(retry_after_ms).into()
    } else if bad_request && target.session.is_some() && error.code == BAD_SESSION_CODE {
        ExchangeFailure::SessionLost.into()
    } else if bad_request && target.sessionless && error.code == HEADER_MISMATCH_CODE {
        ExchangeFailure::ToolChanged.into()
    } else if error.is_of_mcp() {
        Refusal::Answer(error)
    } else {
        plain()
    }
}

/// Reads what came in place of an answer, for whoever wants to know what the partner wrote; for nobody else it is let go.
pub(crate) async fn hear(response: Response<ReceivedBody>, error_text: Option<&ErrorText>) {
    if error_text.is_none() {
        return release(response.into_body());
    }
    let status = response.status();
    let body = read_body(response.into_body(), ERROR_BODY_MAX_BYTES).await.unwrap_or_default();
    note_error(error_text, status.as_u16(), &body);
}

/// Records what came in place of an answer.
pub(crate) fn note_error(error_text: Option<&ErrorText>, status: u16, body: &[u8]) {
    if let Some(error_text) = error_text {
        error_text.note(&format!("HTTP {status}\n{}", String::from_utf8_lossy(body)));
    }
}

/// The kinds of body that MCP knows.
enum MediaType {
    Json,
    Events,
    Other(String),
}

fn media_type(headers: &HeaderMap) -> MediaType {
    let text = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = text.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        MediaType::Json
    } else if essence.eq_ignore_ascii_case("text/event-stream") {
        MediaType::Events
    } else {
        MediaType::Other(clean(essence))
    }
}

/// A session identifier consists of visible ASCII characters (MCP, Session Management).
fn session_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(SESSION_ID)?.to_str().ok()?;
    let fits = !id.is_empty() && id.len() <= SESSION_ID_MAX_BYTES && id.bytes().all(|b| b.is_ascii_graphic());
    fits.then(|| id.to_owned())
}

pub(crate) fn broken(error: &hyper::Error) -> CallFailure {
    CallFailure::Unreachable(clean(&format!("the answer broke off: {error}")))
}

/// Reads a whole body of bounded size.
pub(crate) async fn read_body(mut body: ReceivedBody, max_bytes: usize) -> Result<Bytes, CallFailure> {
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if declared > max_bytes {
        return Err(CallFailure::BodyTooLarge(max_bytes));
    }
    let mut first: Option<Bytes> = None;
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| broken(&error))?.into_data() else { continue };
        let size = whole.len() + first.as_ref().map_or(0, Bytes::len) + data.len();
        if size > max_bytes {
            return Err(CallFailure::BodyTooLarge(max_bytes));
        }
        if whole.is_empty() && first.is_none() {
            first = Some(data);
            continue;
        }
        if let Some(first) = first.take() {
            whole.reserve(size.max(declared.min(RESERVE_MAX_BYTES)));
            whole.extend_from_slice(&first);
        }
        whole.extend_from_slice(&data);
    }
    Ok(first.unwrap_or_else(|| whole.freeze()))
}

/// Lets go of a body. Its connection can serve again only when the body has been read to its end, which usually is
/// there already; otherwise a short while in the background is spent on it.
pub(crate) fn release<B: Body<Data = Bytes> + Send + Unpin + 'static>(mut body: B) {
    let mut left = RELEASE_MAX_BYTES;
    let mut drain = Box::pin(async move {
        while let Some(Ok(frame)) = body.frame().await {
            left = match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
                Some(left) => left,
                None => break,
            };
        }
    });
    if drain.as_mut().now_or_never().is_none() {
        tokio::spawn(async move {
            // Either outcome is fine: the end has come, or the connection is closed with the body.
            let _ = tokio::time::timeout(RELEASE_TIMEOUT, drain).await;
        });
    }
}

/// An event stream and what has been read of it.
struct EventStream {
    body: ReceivedBody,
    reader: EventReader,
    /// Bytes that have arrived and are not looked at yet.
    piece: Bytes,
    /// Bytes that may still come, over all resumed bodies.
    left: usize,
}

enum Next {
    Event(Vec<u8>),
    /// The body came to its end, or broke off; as it would be reported.
    End(CallFailure),
}

impl EventStream {
    fn new(body: ReceivedBody) -> Self {
        Self { body, reader: EventReader::new(PARTNER_BODY_MAX_BYTES), piece: Bytes::new(), left: STREAM_MAX_BYTES }
    }

    async fn next(&mut self) -> Result<Next, CallFailure> {
        loop {
            let mut rest = &self.piece[..];
            let event = self.reader.next_event(&mut rest).map_err(|error| CallFailure::BodyTooLarge(error.0))?;
            let used = self.piece.len() - rest.len();
            self.piece.advance(used);
            match event {
                // Servers open a stream with an empty event, to name where it can be resumed.
                Some(data) if data.trim_ascii().is_empty() => continue,
                Some(data) => return Ok(Next::Event(data)),
                None => {}
            }
            match self.body.frame().await {
                None => {
                    let reason = "the event stream ended before the answer";
                    return Ok(Next::End(CallFailure::Unreachable(reason.to_owned())));
                }
                Some(Err(error)) => return Ok(Next::End(broken(&error))),
                Some(Ok(frame)) => {
                    let Ok(data) = frame.into_data() else { continue };
                    self.left = self.left.checked_sub(data.len()).ok_or(CallFailure::BodyTooLarge(STREAM_MAX_BYTES))?;
                    self.piece = data;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use futures_util::stream;
    use http_body::Frame;
    use http_body_util::StreamBody;
    use tokio::sync::mpsc;

    use super::*;

    /// A body that is fed by hand, and a flag that says whether it was read to its end.
    fn fed() -> (mpsc::Sender<Bytes>, impl Body<Data = Bytes> + Send + Unpin + 'static, Arc<AtomicBool>) {
        let (feed, pieces) = mpsc::channel::<Bytes>(1);
        let ended = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ended);
        let frames = stream::unfold(pieces, move |mut pieces| {
            let flag = Arc::clone(&flag);
            async move {
                let piece = pieces.recv().await;
                flag.store(piece.is_none(), Ordering::SeqCst);
                piece.map(|piece| (Ok::<_, Infallible>(Frame::data(piece)), pieces))
            }
        });
        (feed, StreamBody::new(Box::pin(frames)), ended)
    }

    #[tokio::test(start_paused = true)]
    async fn the_late_end_of_a_body_is_waited_for() {
        let (feed, body, ended) = fed();
        release(body);
        // The clock is paused: it moves on only when everything else has nothing left to do.
        tokio::time::sleep(RELEASE_TIMEOUT / 2).await;
        feed.send(Bytes::from_static(b"0")).await.expect("still read");
        drop(feed);
        tokio::time::sleep(RELEASE_TIMEOUT / 4).await;
        assert!(ended.load(Ordering::SeqCst));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_without_end_is_dropped_in_time() {
        let (feed, body, ended) = fed();
        let start = tokio::time::Instant::now();
        release(body);
        feed.closed().await;
        assert!(start.elapsed() <= 2 * RELEASE_TIMEOUT, "{:?}", start.elapsed());
        assert!(!ended.load(Ordering::SeqCst));
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_than_the_end_of_a_body_is_read() {
        let (feed, body, _) = fed();
        release(body);
        let piece = Bytes::from(vec![0; RELEASE_MAX_BYTES / 2]);
        let start = tokio::time::Instant::now();
        while feed.send(piece.clone()).await.is_ok() {}
        assert_eq!(start.elapsed(), Duration::ZERO, "it was not the clock that ended it");
    }
}
