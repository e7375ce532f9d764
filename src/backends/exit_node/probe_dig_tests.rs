use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::*;

fn question(name: &str, kind: RecordType) -> VrfQuestion {
    VrfQuestion::new("vrf_tdemo", Ipv4Addr::new(10, 20, 50, 1), name.parse().unwrap(), kind).unwrap()
}

fn www() -> VrfQuestion {
    question("www.example.net", RecordType::A)
}

fn server() -> SocketAddr {
    www().server()
}

#[test]
fn captured_answers() {
    let old = include_str!("../../../tests/data/dig/debian12-answer.txt");
    let new = include_str!("../../../tests/data/dig/debian13-answer.txt");
    for (capture, took) in [(old, None), (new, Some(55))] {
        let answer = parse(capture, &www()).unwrap();
        assert_eq!((answer.rcode, answer.via, answer.bytes), (Rcode::NOERROR, Via::Udp, Some(60)));
        assert_eq!(answer.flags.unwrap().words(), "aa rd ra");
        assert_eq!(answer.values(RecordType::A), ["198.51.100.10"]);
        assert_eq!((answer.answers[0].name.as_str(), answer.answers[0].ttl), ("www.example.net", 0));
        assert!(took.is_none_or(|ms| answer.took == Duration::from_millis(ms)));
    }
}

#[test]
fn captured_failures() {
    let timeout = include_str!("../../../tests/data/dig/debian12-timeout.txt");
    let unreachable = include_str!("../../../tests/data/dig/debian12-unreachable.txt");
    let refused = include_str!("../../../tests/data/dig/debian12-refused.txt");
    let failed = |capture| match parse(capture, &www()) {
        Err(NoAnswer::Failed(failure)) => failure,
        other => panic!("{other:?}"),
    };
    assert!(matches!(failed(timeout), Failure::TimedOut { tries: 1, .. }));
    assert_eq!(failed(unreachable), Failure::Unreachable { server: server(), why: "host unreachable".to_owned() });
    assert_eq!(failed(refused), Failure::Refused { server: server(), via: "udp" });
}

/// Every capture of the modelled node is an answer or a named failure.
#[test]
fn every_capture_is_understood() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures/exit-node");
    if !root.exists() {
        eprintln!("SKIPPED every_capture_is_understood: ../shared is absent");
        return;
    }
    let (mut answers, mut failures) = (0, 0);
    for release in ["debian12", "debian13"] {
        for state in std::fs::read_dir(root.join(release)).unwrap().filter_map(|e| e.ok().filter(|e| e.path().is_dir()))
        {
            for file in ["probe-dig-vrf.txt", "probe-dig-main.txt", "probe-dig-vrf-src-gw.txt", "truth-guest-dig.txt"] {
                let Ok(text) = std::fs::read_to_string(state.path().join(file)) else { continue };
                match parse(&text, &www()) {
                    Ok(answer) => {
                        assert_eq!(answer.values(RecordType::A), ["198.51.100.10"]);
                        answers += 1;
                    }
                    Err(NoAnswer::Failed(_)) => failures += 1,
                    Err(other) => panic!("{}/{file}: {other:?}", state.path().display()),
                }
            }
        }
    }
    assert!(answers > 30 && failures > 30, "{answers} {failures}");
}

const NEGATIVE: &str = "\
;; ->>HEADER<<- opcode: QUERY, status: NXDOMAIN, id: 1
;; flags: qr rd ra; QUERY: 1, ANSWER: 0, AUTHORITY: 1, ADDITIONAL: 1

;; OPT PSEUDOSECTION:
; EDNS: version: 0, flags:; udp: 1232
; EDE: 18 (Prohibited)
; EDE: 49152: (said \u{1b}[31mthe server)
;; QUESTION SECTION:
;gone.example.\t\t\tIN\tTXT

;; AUTHORITY SECTION:
example.\t\t42\tIN\tSOA\tns1.example. Host.example. 7 10800 3600 604800 60

;; Query time: 1500 usec
;; SERVER: 10.20.50.1#53(10.20.50.1) (UDP)
;; MSG SIZE  rcvd: 100
";

#[test]
fn negative_answers_keep_soa_and_extended_errors() {
    let text = format!(";; Got answer:\n{NEGATIVE}");
    let answer = parse(&text, &question("gone.example", RecordType::TXT)).unwrap();
    let (record, soa) = answer.soa().unwrap();
    assert_eq!((answer.rcode, record.ttl, soa.serial, soa.rname.as_str()), (Rcode::NXDOMAIN, 42, 7, "host.example"));
    assert_eq!(answer.took, Duration::from_micros(1500));
    assert_eq!(answer.extended.iter().map(|e| e.code).collect::<Vec<_>>(), [18, 49152]);
    assert!(answer.extended[1].text.starts_with("said ") && !answer.extended[1].text.contains('\u{1b}'));
}

#[test]
fn another_question_is_not_the_answer() {
    let text = format!(";; Got answer:\n{NEGATIVE}");
    assert!(matches!(parse(&text, &www()), Err(NoAnswer::NotUnderstood(_))));
}

#[test]
fn what_dig_says_about_failures() {
    let failed = |text: &str| match parse(text, &www()) {
        Err(NoAnswer::Failed(failure)) => failure,
        other => panic!("{other:?}"),
    };
    let forged = failed(
        ";; reply from unexpected source: 10.20.50.9#53, expected 10.20.50.1#53\n\
         ;; communications error to 10.20.50.1#53: timed out\n",
    );
    assert_eq!(forged, Failure::WrongSource { server: server(), from: "10.20.50.9:53".parse().unwrap() });
    let mismatch = failed(
        ";; Warning: ID mismatch: expected ID 1, got 2\n;; communications error to 10.20.50.1#53: timed out\n\
         ;; communications error to 10.20.50.1#53: timed out\n",
    );
    assert!(matches!(mismatch, Failure::TimedOut { tries: 2, strays: Strays { wrong_id: 1, .. }, .. }), "{mismatch:?}");
    let tcp =
        failed(";; Truncated, retrying in TCP mode.\n;; communications error to 10.20.50.1#53: connection refused\n");
    let refused = Failure::Refused { server: server(), via: "tcp" };
    assert_eq!(tcp, Failure::TcpAfterTruncation(Box::new(refused)));
    let bad = failed(";; Got bad packet: unexpected end of input\n44 bytes\n0a 81\n");
    assert!(matches!(bad, Failure::Malformed { .. }));
    assert_eq!(parse("", &www()), Err(NoAnswer::Silent));
}

#[test]
fn records_are_typed() {
    let one = |line: &str| record(line).map(|r| r.data);
    assert_eq!(one("a.\t1 IN\tAAAA\t2001:db8::1"), Some(Data::Aaaa("2001:db8::1".parse().unwrap())));
    assert_eq!(one("a. 1 IN PTR App.Tdemo."), Some(Data::Ptr("app.tdemo".to_owned())));
    assert_eq!(one(r#"a. 1 IN TXT "a \"b\" \\" "c;d""#), Some(Data::Txt(vec![r#"a \"b\" \\"#.into(), "c;d".into()])));
    assert_eq!(one("a. 1 IN MX 10 mail.a."), Some(Data::Other("10 mail.a.".to_owned())));
    assert_eq!(one(r"a. 1 IN TYPE65300 \# 4 0A000001"), Some(Data::Other(r"\# 4 0A000001".to_owned())));
    for bad in ["", "a.", "a. x IN A 10.0.0.1", "a. 1 IN A", "a. 1 IN A 10.0.0", "a. 1 IN SOA x", "a. 1 IN TXT \"open"]
    {
        assert_eq!(record(bad), None, "{bad}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(text in "(;; |; EDE: |Got answer:|flags: |ANSWER SECTION:|[a-z]{1,3}\\. 1 IN (A|TXT|SOA) |\"|\\\\|\n|\\PC){0,60}") {
        let _ = parse(&text, &www());
    }

    /// An answer with one line replaced is an answer, a named failure or not understood; what is shown is clean.
    #[test]
    fn a_damaged_line_is_survived(at in 0_usize..14, with in any::<String>()) {
        let text = format!(";; Got answer:\n{NEGATIVE}");
        let lines: Vec<&str> = text.lines().enumerate().map(|(n, line)| if n == at { with.as_str() } else { line }).collect();
        let shown = match parse(&lines.join("\n"), &question("gone.example", RecordType::TXT)) {
            Ok(answer) => answer.authority.iter().map(|r| format!("{}{}", r.name, r.data)).collect::<String>(),
            Err(error) => match error {
                NoAnswer::NotUnderstood(why) => why,
                NoAnswer::Failed(failure) => failure.to_string(),
                NoAnswer::Silent => String::new(),
            },
        };
        prop_assert!(!shown.chars().any(char::is_control), "{shown:?}");
    }
}
