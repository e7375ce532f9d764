//! Whatever a source says, exactly one state is shown.

use jiff::Timestamp;
use proptest::prelude::*;

use super::super::judge::{Case, Machine, ORDER};
use super::super::words;
use super::OTHER;
use crate::backends::bootstrap::{Declared, Record, Refusal, Report, Token, TokenState};
use crate::inventory::CheckInState;
use crate::inventory::testing::checkins::{ago, report};
use crate::inventory::testing::{healthy, now};

fn moment() -> impl Strategy<Value = Timestamp> {
    (0_i64..200_000).prop_map(ago)
}

fn uuid() -> impl Strategy<Value = Option<String>> {
    prop_oneof![Just(None), Just(Some(OTHER.to_owned())), Just(Some("7655fca8-a5bd-4048-a6ff-000000002081".to_owned()))]
}

fn token() -> impl Strategy<Value = Token> {
    let state = prop_oneof![
        Just(TokenState::Issued),
        Just(TokenState::Redeemed),
        Just(TokenState::Expired),
        Just(TokenState::Revoked)
    ];
    (state, moment(), prop::option::of(moment()), prop::option::of(moment()), uuid()).prop_map(
        |(state, issued_at, expires_at, redeemed_at, smbios_uuid)| Token {
            kid: "K".into(),
            state,
            issued_at,
            expires_at,
            redeemed_at,
            redeemed_from: None,
            smbios_uuid: smbios_uuid.map(Into::into),
            generation: None,
        },
    )
}

fn any_report() -> impl Strategy<Value = Report> {
    let phase = prop_oneof![Just("redeem"), Just("pull"), Just("start"), Just("health"), Just("invented")];
    (phase, moment(), any::<bool>(), 0_u64..4, uuid()).prop_map(|(phase, at, ok, generation, smbios_uuid)| Report {
        ok,
        smbios_uuid: smbios_uuid.map(Into::into),
        ..report(phase, at, generation, "")
    })
}

fn any_record() -> impl Strategy<Value = Record> {
    let reason =
        prop_oneof![Just("claim-mismatch"), Just("expired"), Just("identity-mismatch"), Just("something else")];
    let refusal =
        (moment(), reason).prop_map(|(at, reason)| Refusal { at, reason: reason.into(), from: None, claim: None });
    (
        prop::option::of(0_u64..4),
        prop::option::of(token()),
        prop::collection::vec(refusal, 0..3),
        prop::option::of(moment()),
        prop::collection::vec(any_report(), 0..4),
    )
        .prop_map(|(declared, token, refusals, acknowledged_at, reports)| Record {
            tenant: "eds".into(),
            workload: "jobs".into(),
            vmid: Some(2081),
            declared: declared.map(|generation| Declared { generation, digest: String::new() }),
            token,
            refusals,
            acknowledged_at,
            reports,
            interval: None,
        })
}

proptest! {
    /// Whatever a source says, one state is shown, it holds, none before it does, and it has words.
    #[test]
    fn precedence_is_total(record in any_record(), there in any::<bool>(), fresh in any::<bool>(), whole in any::<bool>()) {
        let inv = healthy();
        let vm = inv.workloads.iter().find(|w| w.vmid == 2081).filter(|_| there);
        let machine = Machine { vm: vm.map(Into::into), fresh, whole: whole && fresh, read_at: Some(now()) };
        let case = Case { record: &record, machine, at: now() };
        let state = case.state();
        prop_assert!(case.holds(state));
        for before in ORDER.into_iter().take_while(|s| *s != state) {
            prop_assert!(!case.holds(before), "{before:?} holds and {state:?} is shown");
        }
        let flag = case.flag(state);
        prop_assert!(!words::word(&case, state, flag).is_empty());
        // A token that is out and of which nothing came is never passed over.
        if record.token.is_some() && state == CheckInState::None {
            prop_assert!(case.applied().is_some(), "a token is out, and nothing is said");
        }
    }
}
