use hickory_proto::op::ResponseCode;
use hickory_proto::rr::{TSigResponseContext, TSigner};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

const SECRET: &[u8] = b"c4n4ry-of-a-key-32-bytes-long!!!";
const ZONE: &str = "eds.mobile.example";

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn key() -> UpdateKey {
    UpdateKey::new(&"tdemo".parse().unwrap(), "hmac-sha256", &base64(SECRET)).unwrap()
}

fn signer(secret: &[u8]) -> TSigner {
    TSigner::new(secret.to_vec(), TsigAlgorithm::HmacSha256, Name::from_ascii("tdemo.").unwrap(), 300).unwrap()
}

fn now() -> Timestamp {
    "2026-11-29T11:03:00Z".parse().unwrap()
}

/// A server that answers one message; what it heard is told.
async fn server(reply: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> (SocketAddr, JoinHandle<Message>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let length = stream.read_u16().await.unwrap();
        let mut bytes = vec![0; usize::from(length)];
        stream.read_exact(&mut bytes).await.unwrap();
        let answer = reply(&bytes);
        let _ =
            stream.write_all(&[u16::try_from(answer.len()).unwrap().to_be_bytes().as_slice(), &answer].concat()).await;
        Message::from_vec(&bytes).unwrap()
    });
    (at, heard)
}

fn refusal(request: &[u8], code: ResponseCode) -> Message {
    let asked = Message::from_vec(request).unwrap();
    let mut message = Message::new(asked.metadata.id, MessageType::Response, asked.metadata.op_code);
    message.metadata.response_code = code;
    message.add_queries(asked.queries.clone());
    message
}

/// A refusal, signed by a key with `secret`, or saying `error`.
fn signed(request: &[u8], secret: &[u8], error: Option<TsigError>) -> Vec<u8> {
    let asked = Message::from_vec(request).unwrap();
    let mut message = refusal(request, if error.is_some() { ResponseCode::NotAuth } else { ResponseCode::Refused });
    let mac = asked.signature().unwrap().data.mac.clone();
    let (id, time) = (asked.metadata.id, u64::try_from(now().as_second()).unwrap() + 7);
    let context = match error {
        Some(TsigError::BadKey) => TSigResponseContext::unknown_key(id, time, Name::from_ascii("tdemo.").unwrap()),
        Some(TsigError::BadSig) => TSigResponseContext::bad_signature(id, time, signer(secret)),
        other => TSigResponseContext::new(id, time, signer(secret), mac, other),
    };
    let plain = message.to_vec().unwrap();
    message.set_signature(context.sign(&plain).unwrap());
    message.to_vec().unwrap()
}

async fn asked(
    ask: Ask,
    key: Option<&UpdateKey>,
    reply: impl Fn(&[u8]) -> Vec<u8> + Send + 'static,
) -> (SignedAnswer, Message) {
    let (at, heard) = server(reply).await;
    let zone = ZONE.parse().unwrap();
    let query = SignedQuery { server: at, zone: &zone, ask, key, fudge: FUDGE, wait: Duration::from_secs(20) };
    let answer = ask_signed(&query, &now).await.unwrap();
    (answer, heard.await.unwrap())
}

#[tokio::test]
async fn the_update_asks_for_what_cannot_be_and_changes_nothing() {
    let (answer, heard) = asked(Ask::Nothing, Some(&key()), |r| signed(r, SECRET, None)).await;
    assert_eq!(answer.rcode, Rcode::REFUSED);
    assert_eq!(answer.signature, Signature::Good("2026-11-29T11:03:07Z".parse().unwrap()));
    assert_eq!((heard.metadata.op_code, heard.authorities.len()), (OpCode::Update, 0), "no update section");
    let [there, absent] = heard.answers.as_slice() else { panic!("{heard:?}") };
    assert_eq!((&there.name, there.dns_class, absent.dns_class), (&absent.name, DNSClass::ANY, DNSClass::NONE));
    assert!(there.name.to_ascii().ends_with("eds.mobile.example."));
    assert_eq!(heard.signature().unwrap().data.fudge, FUDGE);
}

#[tokio::test]
async fn signatures_are_told_apart() {
    for (error, code) in [(TsigError::BadSig, 16), (TsigError::BadKey, 17), (TsigError::BadTime, 18)] {
        let (answer, _) = asked(Ask::Soa, Some(&key()), move |r| signed(r, SECRET, Some(TsigError::from(code)))).await;
        assert_eq!((answer.rcode, answer.signature), (Rcode(9), Signature::Error(code)), "{error:?}");
    }
    let (forged, _) = asked(Ask::Nothing, Some(&key()), |r| signed(r, b"another secret of 32 bytes, long", None)).await;
    assert_eq!(forged.signature, Signature::Bad);
    let unsigned = |r: &[u8]| refusal(r, ResponseCode::Refused).to_vec().unwrap();
    let (plain, _) = asked(Ask::Nothing, Some(&key()), unsigned).await;
    assert_eq!((plain.rcode, plain.signature), (Rcode::REFUSED, Signature::None));
    let (nobody, heard) = asked(Ask::Nothing, None, unsigned).await;
    assert_eq!(nobody.signature, Signature::None);
    assert!(heard.signature().is_none());
}

#[tokio::test]
async fn a_server_that_goes_is_a_failure_and_no_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move { drop(listener.accept().await) });
    let (zone, key) = (ZONE.parse().unwrap(), key());
    let ask = Ask::Nothing;
    let query =
        SignedQuery { server: at, zone: &zone, ask, key: Some(&key), fudge: FUDGE, wait: Duration::from_secs(20) };
    assert!(matches!(ask_signed(&query, &now).await, Err(Failure::Closed { .. })));
}

#[test]
fn a_key_that_cannot_sign_says_why_and_never_shows_itself() {
    let name: DnsName = "TDemo".parse().unwrap();
    let weak = UpdateKey::new(&name, "hmac-md5", &base64(SECRET)).unwrap_err();
    assert_eq!(weak, KeyError::Algorithm("hmac-md5".into()));
    for bad in ["", "c4n4ry!", " \n"] {
        assert_eq!(UpdateKey::new(&name, "hmac-sha256.", bad).unwrap_err(), KeyError::NotBase64, "{bad:?}");
    }
    let good = UpdateKey::new(&name, "HMAC-SHA512.", &format!("{}\n", base64(SECRET))).unwrap();
    assert_eq!(good.name.to_ascii(), "tdemo.", "in lower case");
    assert_eq!(&**good.secret, SECRET);
    assert!(!format!("{good:?}").contains("ecret"), "{good:?}");
}
