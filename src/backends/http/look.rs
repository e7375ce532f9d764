//! A look at a service before anything secret is sent to it: its address, its port, its certificate, its clock.
//!
//! The certificate is shown whatever the configured trust says to it, so that an operator can compare; the one request
//! made is `GET /` without any credential.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::Url;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

use super::certificate::Certificate;
use super::classify::{of_io, tls_fault};
use super::error::{Kind, Phase};
use super::text::clean;
use super::trust::{Recorder, config_with, verifier};
use crate::site::model::Trust;

/// Bytes of an answer's head that are read.
const HEAD: usize = 16 * 1024;

/// Tells the time.
type Clock<'a> = &'a (dyn Fn() -> Timestamp + Send + Sync);

/// How long each step may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait(pub Duration);

/// What was seen of a service. A step that was not reached is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Addresses of the host's name; `None` where the origin names an address.
    pub lookup: Option<Result<Vec<IpAddr>, Kind>>,
    /// How long the TCP connection took.
    pub connect: Option<Result<Duration, Kind>>,
    /// The certificate; `None` for plain HTTP as well.
    pub tls: Option<Result<TlsSeen, Kind>>,
    /// The answer to `GET /`.
    pub http: Option<Result<HttpSeen, Kind>>,
}

/// A TLS handshake.
#[derive(Debug, Clone, PartialEq)]
pub struct TlsSeen {
    /// What the server showed.
    pub certificate: Certificate,
    /// What the configured trust says to it; [`Kind::Setup`] where it cannot be used.
    pub verdict: Result<(), Kind>,
}

/// Head of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSeen {
    /// Status code.
    pub status: u16,
    /// The server's clock; `None` where it sends no `Date`.
    pub clock: Option<ClockSeen>,
}

/// A server's clock beside this host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockSeen {
    /// What the server says, to the second.
    pub theirs: Timestamp,
    /// This host's clock before the request and after the answer.
    pub ours: (Timestamp, Timestamp),
}

impl ClockSeen {
    /// Seconds by which the server is ahead (negative: behind), as little as both clocks allow.
    #[must_use]
    pub fn ahead_s(self) -> i64 {
        let (theirs, from, to) = (self.theirs.as_second(), self.ours.0.as_second(), self.ours.1.as_second());
        if theirs > to {
            theirs.saturating_sub(to)
        } else if theirs < from {
            theirs.saturating_sub(from)
        } else {
            0
        }
    }
}

/// Looks at `origin`. Each step takes at most `wait`; there are four.
pub async fn look(origin: &str, trust: &Trust, wait: Wait, clock: Clock<'_>) -> Look {
    let mut seen = Look { lookup: None, connect: None, tls: None, http: None };
    let target = Url::parse(origin).ok().and_then(|url| {
        let port = url.port_or_known_default()?;
        let host = url.host_str()?.trim_start_matches('[').trim_end_matches(']').to_owned();
        Some((host, port, url.scheme() == "https"))
    });
    let Some((host, port, secure)) = target else {
        seen.connect = Some(Err(Kind::Setup("the URL names no host".to_owned())));
        return seen;
    };
    let addresses = match host.parse::<IpAddr>() {
        Ok(address) => vec![address],
        Err(_) => {
            let found = lookup(&host, wait).await;
            let addresses = found.clone().unwrap_or_default();
            seen.lookup = Some(found);
            addresses
        }
    };
    if addresses.is_empty() {
        return seen;
    }
    let began = Instant::now();
    let stream = match connect(&addresses, port, wait).await {
        Ok(stream) => stream,
        // Accepted and reset at once: somebody listens, and does not want this host.
        Err(Kind::ClosedBeforeAnswer) => {
            seen.connect = Some(Ok(began.elapsed()));
            seen.http = Some(Err(Kind::ClosedBeforeAnswer));
            return seen;
        }
        Err(kind) => {
            seen.connect = Some(Err(kind));
            return seen;
        }
    };
    seen.connect = Some(Ok(began.elapsed()));
    if !secure {
        seen.http = Some(head(stream, &host, wait, clock).await);
        return seen;
    }
    match handshake(stream, &host, trust, wait).await {
        Ok((stream, tls)) => {
            seen.tls = Some(Ok(tls));
            seen.http = Some(head(stream, &host, wait, clock).await);
        }
        Err(kind) => seen.tls = Some(Err(kind)),
    }
    seen
}

const fn late(phase: Phase, wait: Wait) -> Kind {
    Kind::TimedOut { phase, limit: wait.0 }
}

async fn lookup(host: &str, wait: Wait) -> Result<Vec<IpAddr>, Kind> {
    let failed = |reason: String| Kind::NameNotResolved { host: clean(host), reason: clean(&reason) };
    match timeout(wait.0, tokio::net::lookup_host((host, 0))).await {
        Err(_) => Err(failed(format!("no answer within {:?}", wait.0))),
        Ok(Err(e)) => Err(failed(e.to_string())),
        Ok(Ok(found)) => {
            let found: Vec<IpAddr> = found.map(|address| address.ip()).collect();
            if found.is_empty() { Err(failed("it has no address".to_owned())) } else { Ok(found) }
        }
    }
}

/// The first address that answers; the last failure where none does.
async fn connect(addresses: &[IpAddr], port: u16, wait: Wait) -> Result<TcpStream, Kind> {
    let all = async {
        let mut last = Kind::Other("no address".to_owned());
        for address in addresses {
            match TcpStream::connect(SocketAddr::new(*address, port)).await {
                Ok(stream) => return Ok(stream),
                Err(e) => last = of_io(&e),
            }
        }
        Err(last)
    };
    timeout(wait.0, all).await.unwrap_or(Err(late(Phase::Connect, wait)))
}

async fn handshake(
    stream: TcpStream,
    host: &str,
    trust: &Trust,
    wait: Wait,
) -> Result<(impl AsyncRead + AsyncWrite + Unpin, TlsSeen), Kind> {
    let judge = verifier(trust);
    let recorder = Arc::new(Recorder::new(judge.as_ref().ok().cloned()));
    let config = config_with(Arc::clone(&recorder) as _).map_err(Kind::Setup)?;
    let name =
        ServerName::try_from(host.to_owned()).map_err(|_| Kind::Setup("the URL's host is no name".to_owned()))?;
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, stream);
    let stream = match timeout(wait.0, connecting).await {
        Ok(connected) => connected.map_err(|e| of_io(&e))?,
        Err(_) => return Err(late(Phase::Connect, wait)),
    };
    let shown = recorder.take().ok_or_else(|| Kind::Other("the server showed no certificate".to_owned()))?;
    let verdict = match (shown.verdict, judge) {
        (Some(verdict), _) => verdict.map_err(|e| Kind::Tls(tls_fault(&e))),
        (None, Err(why)) => Err(Kind::Setup(why)),
        (None, Ok(_)) => Err(Kind::Other("the certificate was not judged".to_owned())),
    };
    Ok((stream, TlsSeen { certificate: Certificate::read(&shown.certificate), verdict }))
}

/// Sends `GET /` and reads the head of the answer.
async fn head(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    host: &str,
    wait: Wait,
    clock: Clock<'_>,
) -> Result<HttpSeen, Kind> {
    let agent = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let request =
        format!("GET / HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\nAccept: */*\r\nConnection: close\r\n\r\n");
    let before = clock();
    let exchange = async {
        stream.write_all(request.as_bytes()).await?;
        let mut bytes = Vec::new();
        let mut chunk = [0; 2048];
        while bytes.len() < HEAD && !bytes.windows(4).any(|four| four == b"\r\n\r\n") {
            match stream.read(&mut chunk).await? {
                0 => break,
                n => bytes.extend_from_slice(chunk.get(..n).unwrap_or_default()),
            }
        }
        Ok::<_, std::io::Error>(bytes)
    };
    let bytes = match timeout(wait.0, exchange).await {
        Ok(read) => read.map_err(|e| of_io(&e))?,
        Err(_) => return Err(late(Phase::Answer, wait)),
    };
    parse(&bytes, (before, clock()))
}

fn parse(bytes: &[u8], ours: (Timestamp, Timestamp)) -> Result<HttpSeen, Kind> {
    if bytes.is_empty() {
        return Err(Kind::ClosedBeforeAnswer);
    }
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)).and_then(|s| s.parse().ok());
    let Some(status) = status else {
        return Err(Kind::NotHttp(clean(&first.chars().take(60).collect::<String>())));
    };
    let date = lines.take_while(|line| !line.is_empty()).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("date").then(|| value.trim().to_owned())
    });
    let theirs = date.and_then(|date| jiff::fmt::rfc2822::parse(&date).ok()).map(|moment| moment.timestamp());
    Ok(HttpSeen { status, clock: theirs.map(|theirs| ClockSeen { theirs, ours }) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_head_is_read_and_anything_else_is_not_http() {
        // 784111777 is the moment of the example in RFC 9110 §5.6.7.
        let head = b"HTTP/1.1 401 No ticket\r\nServer: x\r\nDATE: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\nbody";
        let seen = parse(head, (at(784_111_700), at(784_111_701))).unwrap();
        assert_eq!((seen.status, seen.clock.unwrap().theirs), (401, at(784_111_777)));
        assert_eq!(seen.clock.unwrap().ahead_s(), 76);
        let none = parse(b"HTTP/1.0 200 OK\r\nDate: soon\r\n\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT", (at(0), at(0)));
        assert_eq!(none.unwrap(), HttpSeen { status: 200, clock: None });
        assert!(matches!(parse(b"SSH-2.0-x\r\n", (at(0), at(0))), Err(Kind::NotHttp(_))));
        assert_eq!(parse(b"", (at(0), at(0))), Err(Kind::ClosedBeforeAnswer));
    }

    #[test]
    fn skew_is_what_no_delay_explains() {
        let skew = |theirs| ClockSeen { theirs: at(theirs), ours: (at(100), at(103)) }.ahead_s();
        assert_eq!([99, 100, 102, 103, 110].map(skew), [-1, 0, 0, 0, 7]);
    }
}
