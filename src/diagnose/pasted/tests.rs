//! What is read out of pasted text, and what is refused.

use ipnet::Ipv4Net;
use proptest::prelude::*;

use super::*;

fn ip(text: &str) -> Ipv4Addr {
    text.parse().unwrap()
}

fn results(text: &str) -> Vec<(String, Said)> {
    let all = read(text).unwrap_or_else(|why| panic!("{why}: {text}"));
    all.into_iter().map(|reading| (reading.tried.words(), reading.said)).collect()
}

#[track_caller]
fn one(text: &str, tried: &str, said: Said) {
    assert_eq!(results(text), [(tried.to_owned(), said)], "{text}");
}

fn refused(text: &str) -> Refusal {
    read(text).expect_err(text)
}

const LOST: &str = "PING 192.0.2.10 (192.0.2.10) 56(84) bytes of data.\n\n--- 192.0.2.10 ping statistics ---\n\
                    3 packets transmitted, 0 received, 100% packet loss, time 2043ms\n";

#[test]
fn ping_of_iputils_and_busybox() {
    one(LOST, "ping 192.0.2.10", Said::Timeout);
    let answered = "PING 192.0.2.10 (192.0.2.10): 56 data bytes\n64 bytes from 192.0.2.10: seq=0 ttl=62 time=0.9 ms\n\n\
                    --- 192.0.2.10 ping statistics ---\n3 packets transmitted, 1 packets received, 66% packet loss\n\
                    round-trip min/avg/max = 0.9/0.9/0.9 ms\n";
    one(answered, "ping 192.0.2.10", Said::Answered { sent: 3, received: 1 });
    let host = LOST
        .replace("\n\n", "\nFrom 192.0.2.1 icmp_seq=1 Destination Host Unreachable\n\n")
        .replace("0 received,", "0 received, +1 errors,");
    one(&host, "ping 192.0.2.10", Said::Unreachable { by: Some(ip("192.0.2.1")) });
    let filtered = LOST.replace("\n\n", "\nFrom 198.51.100.1 icmp_seq=1 Packet filtered\n\n");
    one(&filtered, "ping 192.0.2.10", Said::Prohibited { by: Some(ip("198.51.100.1")) });
    let circle = LOST.replace("\n\n", "\nFrom 198.51.100.1 icmp_seq=1 Time to live exceeded\n\n");
    one(&circle, "ping 192.0.2.10", Said::Loop);
    one("$ ping -c 3 -W 1 192.0.2.10\nping: connect: Network is unreachable\n", "ping 192.0.2.10", Said::NoRoute);
    let named = LOST.replace("PING 192.0.2.10 ", "PING app.example ").replace("--- 192.0.2.10", "--- app.example");
    one(&named, "ping 192.0.2.10", Said::Timeout);
}

#[test]
fn nc_in_its_kinds() {
    let tcp = "tcp 192.0.2.10:22";
    for (text, said) in [
        ("Connection to 192.0.2.10 22 port [tcp/ssh] succeeded!", Said::Connected),
        ("Connection to app.example (192.0.2.10) 22 port [tcp/*] succeeded!", Said::Connected),
        ("nc: connect to 192.0.2.10 port 22 (tcp) failed: Connection refused", Said::Refused),
        ("nc: connect to 192.0.2.10 port 22 (tcp) timed out: Operation now in progress", Said::Timeout),
        (
            "nc: connect to app.example (192.0.2.10) port 22 (tcp) failed: No route to host",
            Said::Unreachable { by: None },
        ),
        ("nc: connect to 192.0.2.10 port 22 (tcp) failed: Network is unreachable", Said::NoRoute),
        ("(UNKNOWN) [192.0.2.10] 22 (ssh) open", Said::Connected),
        ("(UNKNOWN) [192.0.2.10] 22 (ssh) : Connection timed out", Said::Timeout),
        ("192.0.2.10 (192.0.2.10:22) open", Said::Connected),
        ("nc: 192.0.2.10 (192.0.2.10:22): Connection refused", Said::Refused),
        (
            "Ncat: Version 7.93 ( https://nmap.org/ncat )\nNcat: Connected to 192.0.2.10:22.\nNcat: 0 bytes sent, 0 bytes received in 0.02 seconds.",
            Said::Connected,
        ),
        ("$ nc -zvw3 192.0.2.10 22\nNcat: Version 7.93 ( https://nmap.org/ncat )\nNcat: TIMEOUT.", Said::Timeout),
        ("Ncat: Connection refused.\ntcp 192.0.2.10:22 exit 1", Said::Refused),
        (
            "[u@host ~]$ nc -zv -w 3 192.0.2.10 22; echo \"tcp 192.0.2.10:22 exit $?\"\nnc: timed out\ntcp 192.0.2.10:22 exit 1",
            Said::Timeout,
        ),
        ("tcp 192.0.2.10:22 exit 0", Said::Connected),
        ("tcp 192.0.2.10:22 exit 1", Said::NotConnected),
    ] {
        one(text, tcp, said);
    }
    assert!(matches!(refused("Ncat: Connection refused."), Refusal::NoAddress(_)));
    assert!(matches!(refused("tcp 192.0.2.10:22 exit 127"), Refusal::NotRun(_)));
    assert!(matches!(refused("$ nc -zv 192.0.2.10 22\nbash: nc: command not found"), Refusal::NotRun(_)));
}

#[test]
fn curl_as_it_tells_and_as_it_fails() {
    let api = "tcp 192.0.2.22:8006";
    let tried = "*   Trying 192.0.2.22:8006...\n";
    let connected = "* Connected to 192.0.2.22 (192.0.2.22) port 8006 (#0)\n";
    for (text, said) in [
        (format!("{tried}{connected}* SSL connection using TLSv1.3 / X\n< HTTP/1.1 401 No ticket\n"), Said::Http(401)),
        (format!("{tried}{connected}* SSL connection using TLSv1.3 / X\n"), Said::Tls),
        (format!("{tried}{connected}curl: (60) SSL certificate problem: self-signed"), Said::Connected),
        (format!("{tried}* connect to 192.0.2.22 port 8006 from 198.51.100.7 port 40000 failed: Connection refused\n* Failed to connect to 192.0.2.22 port 8006 after 1 ms: Couldn't connect to server\ncurl: (7) Failed to connect to 192.0.2.22 port 8006 after 1 ms: Couldn't connect to server"), Said::Refused),
        (format!("{tried}* Connection timed out after 3001 milliseconds\ncurl: (28) Connection timed out after 3001 milliseconds"), Said::Timeout),
        ("curl: (7) Failed to connect to 192.0.2.22 port 8006 after 3 ms: Could not connect to server".to_owned(), Said::NotConnected),
        ("curl: (28) Failed to connect to 192.0.2.22 port 8006 after 3001 ms: Timeout was reached".to_owned(), Said::Timeout),
        ("# curl -sk -o /dev/null -w '%{http_code}' https://192.0.2.22:8006/\n401".to_owned(), Said::Http(401)),
        (r#"{"exitcode":28,"errormsg":"Connection timed out after 3001 ms","http_code":0,"remote_ip":"","remote_port":0,"time_connect":0.000,"url_effective":"https://192.0.2.22:8006/"}"#.to_owned(), Said::Timeout),
    ] {
        one(&text, api, said);
    }
    let source = read(&format!(
        "{tried}* connect to 192.0.2.22 port 8006 from 198.51.100.7 port 40000 failed: Connection refused\n"
    ));
    assert_eq!(source.unwrap()[0].source, Some(ip("198.51.100.7")));
    assert_eq!(
        refused(&format!("* Uses proxy env variable https_proxy == 'http://p'\n{tried}{connected}")),
        Refusal::Proxy
    );
    assert!(matches!(refused("$ curl -v https://192.0.2.22:8006/\n"), Refusal::Nothing));
}

#[test]
fn questions_and_captures() {
    let dig = "; <<>> DiG 9.18.1 <<>> @192.0.2.53 app.example A\n;; ->>HEADER<<- opcode: QUERY, status: NXDOMAIN, id: 1\n\
               ;; flags: qr rd ra; QUERY: 1, ANSWER: 0, AUTHORITY: 1\n;; QUESTION SECTION:\n;app.example.\t\tIN\tA\n\
               ;; SERVER: 192.0.2.53#53(192.0.2.53) (UDP)\n";
    let asked = "dns app.example at 192.0.2.53";
    one(dig, asked, Said::Resolved { code: "NXDOMAIN".into(), answers: 0 });
    let silent = "$ dig @192.0.2.53 app.example A\n;; communications error to 192.0.2.53#53: timed out\n;; no servers could be reached\n";
    one(silent, asked, Said::Timeout);
    let host = "Using domain server:\nName: 192.0.2.53\nAddress: 192.0.2.53#53\nAliases: \n\napp.example has address 192.0.2.10\n";
    one(host, asked, Said::Resolved { code: "NOERROR".into(), answers: 1 });
    let nslookup = "$ nslookup app.example 192.0.2.53\nServer:\t\t192.0.2.53\nAddress:\t192.0.2.53#53\n\nName:\tapp.example\nAddress: 192.0.2.10\n";
    one(nslookup, asked, Said::Resolved { code: "NOERROR".into(), answers: 1 });
    let listens = "listening on vmbr0, link-type EN10MB (Ethernet), snapshot length 262144 bytes\n";
    one(&format!("{listens}0 packets captured\n"), "capture on vmbr0", Said::Captured { packets: 0 });
    assert!(matches!(refused(listens), Refusal::CutOff(_)));
    let shown = "11:02:40.1 IP 192.0.2.10 > 192.0.2.1: ICMP echo request\n";
    assert!(matches!(refused(&format!("{listens}{shown}0 packets captured\n")), Refusal::Disagrees(_)));
}

#[test]
fn what_a_terminal_adds_is_taken_away() {
    let windows = LOST.replace('\n', "\r\n");
    one(&windows, "ping 192.0.2.10", Said::Timeout);
    let coloured =
        format!("\u{1b}]0;title\u{7}\u{1b}[01;32mu@app\u{1b}[0m:~$ ping -c 3 192.0.2.10\u{1b}[K\n{LOST}\u{1b}[?2004h");
    one(&coloured, "ping 192.0.2.10", Said::Timeout);
    let wrapped = LOST.replace("packet loss", "pac\nket loss").replace("transmitted, 0", "transmit\nted, 0");
    one(&wrapped, "ping 192.0.2.10", Said::Timeout);
    let several = format!(
        "$ ping -c 3 -W 1 192.0.2.10\n$ nc -zv -w 3 192.0.2.10 22\n{LOST}nc: connect to 192.0.2.10 port 22 (tcp) timed out: Operation now in progress\ntcp 192.0.2.10:22 exit 1\n{}",
        LOST.replace("192.0.2.10", "192.0.2.1")
    );
    assert_eq!(results(&several).len(), 3, "{:?}", results(&several));
}

#[test]
fn what_cannot_be_counted_is_refused_with_a_reason() {
    assert_eq!(refused(" \n\t\u{1b}[0m"), Refusal::Empty);
    assert_eq!(refused("hello there"), Refusal::Nothing);
    assert_eq!(refused(&"x".repeat(MOST + 1)), Refusal::TooLong);
    let cut = LOST.lines().take(1).collect::<String>();
    assert!(matches!(refused(&cut), Refusal::CutOff(what) if what == "ping 192.0.2.10"));
    let mixed = LOST.replace("--- 192.0.2.10", "--- 192.0.2.11");
    assert!(matches!(refused(&mixed), Refusal::Disagrees(_)));
    let both = format!("{LOST}64 bytes from 192.0.2.10: icmp_seq=1 ttl=62 time=0.9 ms\n");
    assert!(matches!(refused(&both), Refusal::Disagrees(_)));
    let two = "nc: connect to 192.0.2.1 port 22 (tcp) failed: Connection refused\nConnection to 192.0.2.1 22 port [tcp/ssh] succeeded!";
    assert!(matches!(refused(two), Refusal::Disagrees(_)));
    for text in ["", "x", &cut, &mixed] {
        assert!(!refused(text).help().is_empty());
    }
}

fn leg(ask: Ask) -> Leg {
    let nets = vec!["198.51.100.0/24".parse().unwrap()];
    let from = Whence { name: "a".into(), workload: None, words: String::new(), nets };
    Leg { from, ask, wants: Wants::Nothing, behind: vec!["192.0.2.0/24".parse::<Ipv4Net>().unwrap()] }
}

#[test]
fn a_result_of_something_else_or_from_elsewhere_does_not_fit() {
    let legs = [leg(Ask::Ping(ip("192.0.2.10"))), leg(Ask::Tcp(ip("192.0.2.10"), 22))];
    assert_eq!(fit(read(LOST).unwrap(), &legs).unwrap()[0].0, 0);
    let other = read(&LOST.replace("192.0.2.10", "192.0.2.11")).unwrap();
    let why = fit(other, &legs).unwrap_err();
    assert_eq!(
        why.to_string(),
        "this is ping 192.0.2.11, and what is to be tried is ping 192.0.2.10, tcp 192.0.2.10:22"
    );
    let stranger = read(&LOST.replace(") 56(", ") from 203.0.113.9 eth0: 56(")).unwrap();
    assert!(matches!(fit(stranger, &legs), Err(Refusal::Source { .. })));
    let own = read(&LOST.replace(") 56(", ") from 198.51.100.9 eth0: 56(")).unwrap();
    assert!(fit(own, &legs).is_ok());
}

#[test]
fn only_silence_counts_as_blocked() {
    let leg = leg(Ask::Tcp(ip("192.0.2.10"), 22));
    let came = |said: Said| leg.judge(&Reading::new(leg.ask.tried(), said, ""));
    use ask::Came::{Right, Unclear, Wrong};
    assert_eq!(came(Said::Timeout), Right);
    for said in
        [Said::Connected, Said::Refused, Said::Http(401), Said::Loop, Said::Unreachable { by: Some(ip("192.0.2.1")) }]
    {
        assert_eq!(came(said.clone()), Wrong, "{said:?}");
    }
    for said in
        [Said::Unreachable { by: Some(ip("203.0.113.1")) }, Said::NoRoute, Said::NotConnected, Said::NotResolved]
    {
        assert_eq!(came(said.clone()), Unclear, "{said:?}");
    }
}

#[test]
fn a_file_of_results() {
    let now = "2026-11-29T11:03:00Z".parse().unwrap();
    let text =
        format!("# notes\nfrom: tdemo/app\nby: amy\nat: 2026-11-29T10:47:00Z\n\n{LOST}---\r\nfrom: iot\r\n\r\nx\r\n");
    let blocks = document(&text, "f.txt", "me", now).unwrap();
    assert_eq!(blocks.len(), 2);
    assert_eq!((blocks[0].given.by.as_str(), blocks[1].given.by.as_str()), ("amy", "me"));
    assert_eq!((blocks[0].given.from.as_str(), blocks[1].text.as_str()), ("tdemo/app", "x"));
    assert_eq!(read(&blocks[0].text).unwrap()[0].said, Said::Timeout);
    for (bad, why) in [
        ("", "no pasted result"),
        ("by: me\n\nx", "does not say where"),
        ("from: a\nPING x", "no key \"PING x\""),
        ("from: a\nwho: me\n\nx", "no key \"who\""),
        ("from: a\nat: noon\n\nx", "is no time"),
        ("from: a\nat: 2026-11-29T12:00:00Z\n\nx", "still to come"),
    ] {
        let said = document(bad, "f.txt", "me", now).map(|_| ()).unwrap_err().to_string();
        assert!(said.contains(why) || why.starts_with("no key \"PING"), "{bad:?}: {said}");
    }
}

#[test]
fn a_secret_that_curl_shows_is_not_kept() {
    let at = "2026-11-29T11:03:00Z".parse().unwrap();
    let given = Given { from: "tdemo".into(), by: "amy".into(), at, via: "screen".into() };
    let text =
        "*   Trying 192.0.2.22:8006...\n> Authorization: Basic CANARY\n> cookie: PVEAuthCookie=CANARY\ncurl: (28) x\n";
    let kept = item(&given, 1, text);
    assert!(!kept.body.contains("CANARY") && kept.body.contains("> Authorization: redacted"), "{}", kept.body);
    assert_eq!(read(&kept.body).unwrap()[0].said, Said::Timeout);
}

proptest! {
    /// Whatever is pasted: an answer or a refusal, never a panic, and clean words.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,400}|(.|[\\x00-\\x1f]){0,400}") {
        match read(&text) {
            Ok(all) => prop_assert!(all.iter().all(|r| crate::text::is_clean(&r.line))),
            Err(why) => prop_assert!(!why.to_string().is_empty()),
        }
    }

    /// Pieces of real output in any order: no reading claims an address that stands nowhere in the text.
    #[test]
    fn pieces_in_any_order_invent_nothing(pieces in proptest::collection::vec(0usize..14, 0..12)) {
        let all = [
            "PING 192.0.2.10 (192.0.2.10) 56(84) bytes of data.",
            "3 packets transmitted, 0 received, 100% packet loss, time 2043ms",
            "3 packets transmitted, 3 received, 0% packet loss, time 2043ms",
            "64 bytes from 192.0.2.10: icmp_seq=1 ttl=62 time=0.9 ms",
            "--- 192.0.2.11 ping statistics ---",
            "nc: connect to 192.0.2.10 port 22 (tcp) failed: Connection refused",
            "Connection to 192.0.2.10 22 port [tcp/ssh] succeeded!",
            "Ncat: TIMEOUT.",
            "tcp 192.0.2.10:22 exit 1",
            "*   Trying 192.0.2.22:8006...",
            "curl: (28) Connection timed out after 3001 milliseconds",
            "[u@h ~]$ ping -c 3 192.0.2.10",
            ";; no servers could be reached",
            "",
        ];
        let text = pieces.iter().filter_map(|n| all.get(*n)).copied().collect::<Vec<_>>().join("\n");
        for reading in read(&text).into_iter().flatten() {
            let place = match &reading.tried {
                Tried::Ping(ip) | Tried::Tcp(ip, _) | Tried::Dns(ip, _) => ip.to_string(),
                Tried::Capture(device) => device.clone(),
            };
            prop_assert!(text.contains(&place), "{} in {text}", reading.words());
        }
    }

    /// A lost run stays lost and an answered one answered, however the terminal wrapped, coloured or ended its lines.
    #[test]
    fn junk_changes_no_result(at in 0usize..180, received in 0u32..4, crlf: bool) {
        let text = LOST.replace("0 received", &format!("{received} received"));
        let mut junk: String = text.chars().take(at).collect();
        junk.push_str("\u{1b}[1m\u{1b}[0m");
        junk.extend(text.chars().skip(at));
        let junk = if crlf { junk.replace('\n', "\r\n") } else { junk };
        let want = if received == 0 { Said::Timeout } else { Said::Answered { sent: 3, received } };
        let got = read(&junk).map(|all| all.into_iter().map(|r| r.said).collect::<Vec<_>>());
        prop_assert_eq!(got, Ok(vec![want]));
    }
}
