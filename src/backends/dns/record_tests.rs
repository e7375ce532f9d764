use proptest::prelude::*;

use super::*;

fn name(text: &str) -> DnsName {
    text.parse().unwrap()
}

#[test]
fn contents_are_canonical() {
    let cases: [(RecordData, &str); 8] = [
        (RecordData::A([10, 20, 129, 10].into()), "10.20.129.10"),
        (RecordData::Aaaa("FD00::1".parse().unwrap()), "fd00::1"),
        (RecordData::Aaaa("::ffff:10.0.0.1".parse().unwrap()), "::ffff:a00:1"),
        (RecordData::Ptr(name("App.tdemo.example")), "app.tdemo.example."),
        (RecordData::Mx { preference: 10, exchange: name("mail.example") }, "10 mail.example."),
        (RecordData::Srv { priority: 0, weight: 5, port: 5060, target: name("sip.example") }, "0 5 5060 sip.example."),
        (RecordData::Txt(Text::new(b"say \"hi\" \\o/ \x07\xff;")), r#""say \"hi\" \\o/ \007\255;""#),
        (RecordData::Txt(Text::new(b"")), "\"\""),
    ];
    for (data, content) in cases {
        assert_eq!(data.content(), content);
    }
}

#[test]
fn a_set_is_one_type_once_each() {
    let at = || name("x.example");
    let a = |last| RecordData::A([10, 0, 0, last].into());
    assert!(RecordSet::new(at(), 300, vec![a(1), a(2)]).is_ok());
    assert_eq!(RecordSet::new(at(), 300, vec![]).unwrap_err(), RecordFault::Empty(at()));
    assert_eq!(RecordSet::new(at(), 300, vec![a(1), a(1)]).unwrap_err(), RecordFault::Twice(at()));
    let alias = |to: &str| RecordData::Cname(name(to));
    assert_eq!(RecordSet::new(at(), 300, vec![a(1), alias("y")]).unwrap_err(), RecordFault::Mixed(at()));
    assert_eq!(RecordSet::new(at(), 300, vec![alias("z"), alias("y")]).unwrap_err(), RecordFault::Aliases(at()));
    let long = RecordSet::new(at(), LONGEST_TTL + 1, vec![a(1)]).unwrap_err();
    assert!(matches!(long, RecordFault::Ttl { .. }) && !long.help().is_empty());
}

#[test]
fn a_host_has_a_name_and_a_pointer() {
    let host = HostRecord { name: name("app.tdemo.example"), address: "10.20.129.10".parse().unwrap(), ttl: 300 };
    let (forward, pointer) = (host.forward().unwrap(), host.pointer().unwrap());
    assert_eq!((forward.name().as_str(), forward.kind()), ("app.tdemo.example", RecordType::A));
    assert_eq!(pointer.name().as_str(), "10.129.20.10.in-addr.arpa");
    assert_eq!((pointer.data()[0].content().as_str(), pointer.ttl()), ("app.tdemo.example.", 300));
}

fn names() -> impl Strategy<Value = DnsName> {
    proptest::collection::vec("[a-z0-9_][a-z0-9_-]{0,20}", 1..5).prop_map(|labels| labels.join(".").parse().unwrap())
}

fn data() -> impl Strategy<Value = RecordData> {
    prop_oneof![
        any::<[u8; 4]>().prop_map(|octets| RecordData::A(octets.into())),
        any::<[u8; 16]>().prop_map(|octets| RecordData::Aaaa(octets.into())),
        names().prop_map(RecordData::Cname),
        names().prop_map(RecordData::Ptr),
        names().prop_map(RecordData::Ns),
        (any::<u16>(), names()).prop_map(|(preference, exchange)| RecordData::Mx { preference, exchange }),
        (any::<[u16; 3]>(), names()).prop_map(|([priority, weight, port], target)| RecordData::Srv {
            priority,
            weight,
            port,
            target
        }),
        proptest::collection::vec(any::<u8>(), 0..700).prop_map(|bytes| RecordData::Txt(Text::new(&bytes))),
    ]
}

#[test]
fn stored_content_is_read_as_powerdns_reads_it() {
    let wire = |kind, content: &str| RecordData::Stored { kind, content: content.to_owned() }.wire();
    let long = format!("\"{}\"", "x".repeat(300));
    let RData::TXT(cut) = wire(RecordType::TXT, &long).unwrap() else { panic!("no text") };
    assert_eq!(cut.txt_data.iter().map(|part| part.len()).collect::<Vec<_>>(), [255, 45]);
    for bad in ["", "no quotes", "\"open", r#""\25""#, r#""\999""#] {
        assert!(wire(RecordType::TXT, bad).is_err(), "{bad}");
    }
    assert!(wire(RecordType(257), "0 issue \"letsencrypt.org\"").is_ok());
    assert!(wire(RecordType::A, "10.20.129").is_err());
}

proptest! {
    #[test]
    fn what_is_written_reads_back_to_the_values(data in data()) {
        let content = data.content();
        prop_assert!(content.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{content}");
        match &data {
            RecordData::Txt(text) => prop_assert_eq!(unquoted(&content).unwrap(), text.strings()),
            RecordData::A(address) => prop_assert_eq!(content.parse::<Ipv4Addr>().unwrap(), *address),
            RecordData::Aaaa(address) => prop_assert_eq!(content.parse::<Ipv6Addr>().unwrap(), *address),
            RecordData::Cname(name) | RecordData::Ns(name) | RecordData::Ptr(name) => {
                prop_assert_eq!(&content.parse::<DnsName>().unwrap(), name);
            }
            _ => {}
        }
        let stored = RecordData::Stored { kind: data.kind(), content };
        prop_assert_eq!(stored.wire().unwrap(), data.wire().unwrap());
    }
}
