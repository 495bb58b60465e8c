//! The open-loop generator. Arrivals are drawn beforehand (a Poisson process with a fixed seed); each request is sent when it is due,
//! on a connection that is free or on a new one, and its time counts from when it was due. Where the generator itself is late, that
//! counts as well, and is shown.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

use crate::errand::Errands;
use crate::measures::{Answer, Kind, Measured, Step};

/// Connections that the generator opens at most.
const CONNECTIONS_MAX: usize = 3_500;
/// Who is not answered within this time is not answered.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// A connection that was unused for so long is not used again, as proxies have it: less than `server.idle_timeout_ms`, so that no request
/// goes to a connection that the gateway is closing.
const UNUSED_MAX: Duration = Duration::from_secs(30);
/// How often each probe is sent.
const PROBE_INTERVAL: Duration = Duration::from_millis(50);
/// What is read at once, bytes.
const CHUNK_BYTES: usize = 64 * 1024;
const SEED: u64 = 0x5EED;

/// A request, as it goes over the wire.
#[derive(Clone)]
pub(crate) struct Call(Bytes);

impl Call {
    /// With headers besides, each of which ends with a line's end.
    pub(crate) fn post(path: &str, host: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\n{headers}content-type: application/json\r\n\
             content-length: {length}\r\n\r\n"
        );
        Self(Bytes::from(head + body))
    }

    pub(crate) fn get(path: &str, host: &str, token: Option<&str>) -> Self {
        let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
        Self(Bytes::from(format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n{token}\r\n")))
    }
}

/// So much load for so long.
pub(crate) struct Phase {
    /// Of each caller.
    pub(crate) per_second: Vec<f64>,
    pub(crate) time: Duration,
}

pub(crate) struct Generator {
    address: String,
    errands: Rc<Errands>,
    probes: Vec<Call>,
    free: Rc<RefCell<Vec<Free>>>,
    open: Rc<Cell<usize>>,
    random: u64,
    /// Users so far.
    users: usize,
    /// How many requests were answered as they should so far, by step.
    pub(crate) acknowledged: [usize; Step::ALL.len()],
}

impl Generator {
    pub(crate) fn new(address: &str, errands: Errands, probes: Vec<Call>) -> Self {
        let (free, open, errands) = (Rc::default(), Rc::default(), Rc::new(errands));
        Self {
            address: address.to_owned(),
            errands,
            probes,
            free,
            open,
            random: SEED,
            users: 0,
            acknowledged: Default::default(),
        }
    }

    /// Loads the gateway, and waits for all answers.
    pub(crate) async fn run(&mut self, phase: Phase) -> Measured {
        let due = self.draw(&phase);
        let (start, answers, probed) = (Instant::now(), Rc::default(), Rc::default());
        let tasks = LocalSet::new();
        let late = tasks
            .run_until(async {
                for probe in 0..self.probes.len() {
                    tokio::task::spawn_local(self.probe(probe, start, phase.time, Rc::clone(&probed)));
                }
                let mut late = Vec::with_capacity(due.len());
                for (at, caller) in due {
                    let at = start + at;
                    // A runtime's timers are a millisecond coarse; what is due within it goes out together.
                    if at > Instant::now() {
                        tokio::time::sleep_until(at.into()).await;
                    }
                    late.push(at.elapsed());
                    self.users += 1;
                    let user = User { number: self.users, caller, due: at };
                    tokio::task::spawn_local(self.send(user, start, Rc::clone(&answers)));
                }
                late
            })
            .await;
        tasks.await;
        let answers: Vec<Answer> = Rc::try_unwrap(answers).map(RefCell::into_inner).unwrap_or_default();
        let mut probes = vec![Vec::new(); self.probes.len()];
        for (probe, took) in Rc::try_unwrap(probed).map(RefCell::into_inner).unwrap_or_default() {
            probes[probe].push(took);
        }
        let measured = Measured::new(phase, answers, probes, late);
        for (acknowledged, step) in self.acknowledged.iter_mut().zip(Step::ALL) {
            *acknowledged += measured.good(step);
        }
        measured
    }

    /// When each request is due, and whose it is.
    fn draw(&mut self, phase: &Phase) -> Vec<(Duration, usize)> {
        let mut due = Vec::new();
        for (caller, per_second) in phase.per_second.iter().enumerate() {
            let mut at = 0.0;
            loop {
                // xorshift64*
                self.random ^= self.random >> 12;
                self.random ^= self.random << 25;
                self.random ^= self.random >> 27;
                let share = (self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64;
                at -= (1.0 - share).ln() / per_second;
                if at >= phase.time.as_secs_f64() {
                    break;
                }
                due.push((Duration::from_secs_f64(at), caller));
            }
        }
        due.sort_unstable();
        due
    }

    /// Sends what a user asks for, one after the other, and notes the answers.
    fn send(
        &self,
        user: User,
        start: Instant,
        answers: Rc<RefCell<Vec<Answer>>>,
    ) -> impl Future<Output = ()> + 'static {
        let (errands, connections) = (Rc::clone(&self.errands), self.connections());
        async move {
            let User { number, caller, mut due } = user;
            let mut next = Some((Step::Search, errands.search(caller, number)));
            while let Some((step, call)) = next.take() {
                let (kind, answer) = connections.ask(step, &call).await;
                answers.borrow_mut().push(Answer { step, caller, due: due - start, took: due.elapsed(), kind });
                if kind == Kind::Good {
                    due = Instant::now();
                    next = errands.after(step, caller, number, &answer);
                }
            }
        }
    }

    /// Asks the same thing every so often.
    fn probe(
        &self,
        probe: usize,
        start: Instant,
        time: Duration,
        probed: Rc<RefCell<Vec<(usize, Duration)>>>,
    ) -> impl Future<Output = ()> + 'static {
        let (call, connections) = (self.probes[probe].clone(), self.connections());
        async move {
            let mut due = start;
            while due < start + time {
                tokio::time::sleep_until(due.into()).await;
                let (kind, _) = connections.ask(Step::Report, &call).await;
                assert!(kind == Kind::Good, "a probe was answered with {kind:?}");
                probed.borrow_mut().push((probe, due.elapsed()));
                due += PROBE_INTERVAL;
            }
        }
    }

    fn connections(&self) -> Connections {
        Connections { address: self.address.clone(), free: self.free.clone(), open: self.open.clone() }
    }
}

/// Who asks, on whose behalf, and when first.
struct User {
    number: usize,
    caller: usize,
    due: Instant,
}

/// A connection, and since when nothing is asked on it.
struct Free {
    stream: TcpStream,
    since: Instant,
}

/// Connections that are free, the last one used first.
struct Connections {
    address: String,
    free: Rc<RefCell<Vec<Free>>>,
    open: Rc<Cell<usize>>,
}

impl Connections {
    /// The one that was used last, if it can be used.
    fn take_free(&self) -> Option<TcpStream> {
        loop {
            let Free { stream, since } = self.free.borrow_mut().pop()?;
            match stream.try_read(&mut [0]) {
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && since.elapsed() < UNUSED_MAX => {
                    return Some(stream);
                }
                _ => self.open.set(self.open.get() - 1),
            }
        }
    }

    /// How a request was answered, and the answer where there is one.
    async fn ask(&self, step: Step, call: &Call) -> (Kind, Vec<u8>) {
        let mut stream = match self.take_free() {
            Some(stream) => stream,
            None if self.open.get() >= CONNECTIONS_MAX => return (Kind::NotSent, Vec::new()),
            None => match TcpStream::connect(&self.address).await {
                Ok(stream) => {
                    self.open.set(self.open.get() + 1);
                    // Without it, answers are only later.
                    let _ = stream.set_nodelay(true);
                    stream
                }
                Err(_) => return (Kind::Broken, Vec::new()),
            },
        };
        match tokio::time::timeout(ANSWER_TIMEOUT, exchange(&mut stream, call)).await {
            Ok(Ok((answer, is_kept))) => {
                if is_kept {
                    self.free.borrow_mut().push(Free { stream, since: Instant::now() });
                } else {
                    self.open.set(self.open.get() - 1);
                }
                let kind = if step == Step::Search { Kind::of_search(&answer) } else { Kind::of_other(&answer) };
                (kind, answer)
            }
            Ok(Err(_)) | Err(_) => {
                self.open.set(self.open.get() - 1);
                (Kind::Broken, Vec::new())
            }
        }
    }
}

/// Sends a request and reads its answer; whether the connection can be used again.
async fn exchange(stream: &mut TcpStream, Call(request): &Call) -> std::io::Result<(Vec<u8>, bool)> {
    stream.write_all(request).await?;
    let (mut answer, mut whole) = (Vec::with_capacity(CHUNK_BYTES), None);
    loop {
        if stream.read_buf(&mut answer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let length = *whole.get_or_insert_with(|| length_of(&answer));
        if length.is_none() {
            whole = None;
        } else if length.is_some_and(|length| answer.len() >= length) {
            let head = &answer[..answer.len().min(2_048)];
            let is_kept = !contains(head, b"connection: close");
            return Ok((answer, is_kept));
        }
    }
}

/// Bytes of the whole answer, once its head is there.
fn length_of(answer: &[u8]) -> Option<usize> {
    let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&answer[..head]).ok()?;
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    Some(head + length.trim().parse::<usize>().ok()?)
}

pub(crate) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|bytes| bytes == part)
}
