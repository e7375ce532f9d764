//! Questions to an authority without an API.

use super::*;
use crate::inventory::testing;
use crate::site::model::PowerDnsMode;

#[tokio::test]
async fn an_authority_without_an_api_is_asked_wave_by_wave_and_each_question_once_a_cycle() {
    // Nobody listens there: every question is refused at once.
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let at = socket.local_addr().expect("an address");
    drop(socket);
    let site = Arc::new(testing::site());
    let dns = site.powerdns.clone().expect("a section");
    let dns = PowerDnsSite { mode: PowerDnsMode::DnsOnly, url: None, dns: at, ..dns };
    let clock: Clock = Arc::new(testing::now);
    let (out, _updates) = mpsc::channel(1);
    let mut worker = Worker::new(&site, dns, DnsClient::Queries, &clock, &out);
    let demand = Demand { tenants: vec!["radio".into()], ..Demand::default() };
    worker.wanted = Wanted::of(&site, &testing::healthy(), &demand, false);
    worker.budget = AUTHORITY;
    let all = worker.wanted.authority().len();
    let next = worker.queue().last().map(|(name, _)| name.to_string());
    assert_eq!(next.as_deref(), Some("radio.mobile.deevnet.net"), "what is on screen is first");
    let mut waves = 0;
    while worker.ask_authority().await != Asked::Nothing && waves <= all {
        waves += 1;
        assert!(worker.authority.queries <= waves as u64 * WAVE as u64, "one wave at a time");
    }
    assert_eq!((waves, worker.authority.queries), (all.div_ceil(WAVE), all as u64));
    worker.waiting = None;
    assert_eq!(worker.ask_authority().await, Asked::Nothing, "asked in this cycle already");
}
