use hickory_proto::rr::TSigner;
use hickory_proto::rr::rdata::tsig::{TsigAlgorithm, TsigError};
use hickory_proto::rr::{Name, TSigResponseContext};
use tokio::net::TcpListener;

use super::super::record::{HostRecord, RecordData};
use super::*;

const SECRET: &[u8] = b"c4n4ry-of-a-key-32-bytes-long!!!";

fn key() -> UpdateKey {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(SECRET);
    UpdateKey::new(&"tdemo".parse().unwrap(), "hmac-sha256", &text).unwrap()
}

fn now() -> Timestamp {
    "2026-11-29T11:03:00Z".parse().unwrap()
}

fn permit() -> Permit {
    Permit::grant("a-plan")
}

fn host(last: u8) -> RecordSet {
    let name = "app.tdemo.example".parse().unwrap();
    HostRecord { name, address: [10, 20, 129, last].into(), ttl: 300 }.forward().unwrap()
}

/// What became of `changes` at a server that answers with what `reply` makes of the request; nothing closes the connection.
async fn sent(
    changes: &Changes,
    reply: impl Fn(&Message) -> Option<Vec<u8>> + Send + 'static,
) -> (Result<Applied, UpdateError>, Option<Message>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = listener.local_addr().unwrap();
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let length = stream.read_u16().await.unwrap();
        let mut bytes = vec![0; usize::from(length)];
        stream.read_exact(&mut bytes).await.unwrap();
        let request = Message::from_vec(&bytes).unwrap();
        if let Some(answer) = reply(&request) {
            let length = u16::try_from(answer.len()).unwrap().to_be_bytes();
            stream.write_all(&[length.as_slice(), &answer].concat()).await.unwrap();
        }
        request
    });
    let (zone, key) = ("tdemo.example".parse().unwrap(), key());
    let request = Update { server, zone: &zone, changes, key: &key, fudge: 300, wait: Duration::from_secs(20) };
    let result = update(&permit(), &request, &now).await;
    match result {
        Err(UpdateError::Unwritable { .. }) => (result, None),
        _ => (result, Some(heard.await.unwrap())),
    }
}

fn plain(request: &Message, code: u16) -> Message {
    let mut message = Message::new(request.metadata.id, MessageType::Response, OpCode::Update);
    message.metadata.response_code = code.into();
    message.add_queries(request.queries.clone());
    message
}

fn signed(request: &Message, code: u16, secret: &[u8]) -> Vec<u8> {
    let mut message = plain(request, code);
    let owner = Name::from_ascii("tdemo.").unwrap();
    let signer = TSigner::new(secret.to_vec(), TsigAlgorithm::HmacSha256, owner, 300).unwrap();
    let mac = request.signature().unwrap().data.mac.clone();
    let time = u64::try_from(now().as_second()).unwrap();
    let context = TSigResponseContext::new(request.metadata.id, time, signer, mac, None);
    message.set_signature(context.sign(&message.to_vec().unwrap()).unwrap());
    message.to_vec().unwrap()
}

#[tokio::test]
async fn a_signed_answer_says_what_became_of_it() {
    let changes = Changes::replace(host(10), host(11));
    let unmet = |unmet| Some(UpdateError::Unmet { zone: "tdemo.example".parse().unwrap(), unmet });
    for (code, meant) in [
        (0, None),
        (3, unmet(Unmet::NameMissing)),
        (6, unmet(Unmet::NameThere)),
        (7, unmet(Unmet::SetThere)),
        (8, unmet(Unmet::SetOther)),
    ] {
        let (result, _) = sent(&changes, move |r| Some(signed(r, code, SECRET))).await;
        assert_eq!(result.err(), meant, "{code}");
    }
    let (denied, _) = sent(&changes, |r| Some(signed(r, 5, SECRET))).await;
    assert!(matches!(denied, Err(UpdateError::Denied { .. })), "{denied:?}");
    for code in [1, 2, 9, 10] {
        let (rejected, _) = sent(&changes, move |r| Some(signed(r, code, SECRET))).await;
        let error = rejected.unwrap_err();
        assert!(matches!(&error, UpdateError::Rejected { rcode, .. } if rcode.0 == code), "{error:?}");
        assert_eq!(error.outcome(), Outcome::Answered);
        assert!(!error.help().is_empty());
    }
}

#[tokio::test]
async fn without_a_signature_nothing_is_known() {
    let changes = Changes::create(host(10));
    let (noerror, _) = sent(&changes, |r| Some(plain(r, 0).to_vec().unwrap())).await;
    assert!(matches!(noerror, Err(UpdateError::NotProven { .. })), "{noerror:?}");
    let (forged, _) = sent(&changes, |r| Some(signed(r, 0, b"another secret of 32 bytes, long"))).await;
    assert!(matches!(forged, Err(UpdateError::NotProven { .. })), "{forged:?}");
    let (refused, _) = sent(&changes, |r| Some(plain(r, 5).to_vec().unwrap())).await;
    assert!(matches!(refused, Err(UpdateError::Credential { tsig: None, .. })), "{refused:?}");
    let (gone, _) = sent(&changes, |_| None).await;
    assert!(matches!(gone, Err(UpdateError::NoAnswer(Failure::Closed { .. }))), "{gone:?}");
    for result in [noerror, forged, refused, gone] {
        assert_eq!(result.unwrap_err().outcome(), Outcome::Unknown);
    }
}

#[tokio::test]
async fn errors_of_signatures_are_told_apart() {
    let changes = Changes::create(host(10));
    for (error, code, word) in
        [(TsigError::BadSig, 16, "BADSIG"), (TsigError::BadKey, 17, "BADKEY"), (TsigError::BadTime, 18, "BADTIME")]
    {
        let (result, _) = sent(&changes, move |request| {
            let mut message = plain(request, 9);
            let owner = Name::from_ascii("tdemo.").unwrap();
            let signer = TSigner::new(SECRET.to_vec(), TsigAlgorithm::HmacSha256, owner, 300).unwrap();
            let data = hickory_proto::rr::rdata::TSIG::new(
                TsigAlgorithm::HmacSha256,
                0,
                300,
                Vec::new(),
                request.metadata.id,
                Some(error),
                Vec::new(),
            );
            message.set_signature(Box::new(hickory_proto::rr::rdata::tsig::make_tsig_record(
                signer.signer_name().clone(),
                data,
            )));
            Some(message.to_vec().unwrap())
        })
        .await;
        let told = result.unwrap_err();
        assert!(matches!(&told, UpdateError::Credential { tsig: Some(c), .. } if *c == code), "{told:?}");
        assert!(told.to_string().contains(word), "{told}");
    }
}

#[tokio::test]
async fn the_message_says_what_was_asked_for() {
    let name: DnsName = "old.tdemo.example".parse().unwrap();
    let txt = RecordData::Txt(super::super::record::Text::new(b"v=1"));
    let text = RecordSet::new(name.clone(), 60, vec![txt]).unwrap();
    let mut changes = Changes::replace(host(10), host(11)).and(Changes::delete(text.clone()));
    changes.prerequisites.push(Prerequisite::NameInUse(name.clone()));
    changes.prerequisites.push(Prerequisite::NameNotInUse("new.tdemo.example".parse().unwrap()));
    changes.prerequisites.push(Prerequisite::SetExists(name.clone(), RecordType::TXT));
    changes.edits.push(Edit::DeleteRecords(text));
    changes.edits.push(Edit::DeleteName(name));
    let (result, heard) = sent(&changes, |r| Some(signed(r, 0, SECRET))).await;
    assert!(result.is_ok(), "{result:?}");
    let heard = heard.unwrap();
    let said = |records: &[WireRecord]| -> Vec<String> {
        records
            .iter()
            .map(|r| {
                format!("{} {} {} {} {}", r.name, r.ttl, r.dns_class, r.record_type(), r.data).replace(" UPDATE", "")
            })
            .collect()
    };
    assert_eq!(
        said(&heard.answers),
        [
            "app.tdemo.example. 0 IN A 10.20.129.10",
            "old.tdemo.example. 0 IN TXT v=1",
            "old.tdemo.example. 0 ANY ANY",
            "new.tdemo.example. 0 NONE ANY",
            "old.tdemo.example. 0 ANY TXT"
        ]
        .map(str::to_owned)
    );
    assert_eq!(
        said(&heard.authorities),
        [
            "app.tdemo.example. 0 ANY A",
            "app.tdemo.example. 300 IN A 10.20.129.11",
            "old.tdemo.example. 0 ANY TXT",
            "old.tdemo.example. 0 NONE TXT v=1",
            "old.tdemo.example. 0 ANY ANY"
        ]
        .map(str::to_owned)
    );
}

#[tokio::test]
async fn what_cannot_be_written_is_not_sent() {
    let outside = HostRecord { name: "app.eds.example".parse().unwrap(), address: [10, 0, 0, 1].into(), ttl: 1 };
    let many = (0..=MOST_RECORDS).map(|n| RecordData::Txt(super::super::record::Text::new(n.to_string().as_bytes())));
    let many = RecordSet::new("x.tdemo.example".parse().unwrap(), 60, many.collect()).unwrap();
    let odd = RecordData::Stored { kind: RecordType::A, content: "\u{1b}[2Jnonsense".to_owned() };
    let odd = RecordSet::new("x.tdemo.example".parse().unwrap(), 60, vec![odd]).unwrap();
    for changes in [Changes::create(outside.forward().unwrap()), Changes::create(many), Changes::create(odd)] {
        let (result, _) = sent(&changes, |_| None).await;
        let error = result.unwrap_err();
        assert!(matches!(error, UpdateError::Unwritable { .. }), "{error:?}");
        assert!(!error.to_string().contains('\u{1b}'), "{error}");
    }
    let nowhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = nowhere.local_addr().unwrap();
    drop(nowhere);
    let (zone, key) = ("tdemo.example".parse().unwrap(), key());
    let changes = Changes::create(host(10));
    let request =
        Update { server, zone: &zone, changes: &changes, key: &key, fudge: 300, wait: Duration::from_secs(5) };
    let error = update(&permit(), &request, &now).await.unwrap_err();
    assert!(matches!(error, UpdateError::NotSent(Failure::Refused { .. })), "{error:?}");
    assert!(!format!("{request:?} {error:?}").contains("c4n4ry"));
}
