//! `frr.conf.local` as it is to be: the file as it was read, with the default route of one VRF put in or taken out. All else
//! stays as it is, to the letter.

use std::net::Ipv4Addr;

/// Lines around a change that are shown with it.
const AROUND: usize = 3;
/// How the default route of a VRF begins.
pub(super) const DEFAULT: &str = "ip route 0.0.0.0/0 ";

/// The line that gives a VRF its default route, without its indent (domain.md §6).
pub(super) fn route(gateway: Ipv4Addr) -> String {
    format!("{DEFAULT}{gateway} nexthop-vrf default")
}

/// The VRF that a line opens the block of.
fn opens(line: &str) -> Option<&str> {
    line.strip_prefix("vrf ").map(str::trim)
}

/// Whether a line ends the block it stands behind: whatever stands at the margin, as FRR reads it.
fn ends(line: &str) -> bool {
    !line.starts_with(char::is_whitespace) && !line.trim().is_empty()
}

/// The file with the default route of `vrf` by `gateway`, or without one. A block that holds nothing then goes with it.
#[must_use]
pub fn rendered(text: &str, vrf: &str, gateway: Option<Ipv4Addr>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out: Vec<String> = Vec::new();
    let mut wanted = gateway.map(route);
    let mut rest = lines.as_slice();
    while let Some((line, after)) = rest.split_first() {
        rest = after;
        if opens(line) != Some(vrf) {
            out.push((*line).to_owned());
            continue;
        }
        let length = rest.iter().position(|line| ends(line)).unwrap_or(rest.len());
        let (inside, after) = rest.split_at(length);
        rest = after;
        let closed = rest.first().is_some_and(|line| matches!(line.trim(), "exit-vrf" | "exit"));
        let mut block: Vec<String> = Vec::new();
        for line in inside {
            if line.trim().starts_with(DEFAULT) {
                // In the place of the one that is there.
                block.extend(wanted.take().map(|route| format!(" {route}")));
            } else {
                block.push((*line).to_owned());
            }
        }
        let end = block.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
        block.splice(end..end, wanted.take().map(|route| format!(" {route}")));
        if block.iter().all(|line| line.trim().is_empty()) {
            // What is indented behind it would fall to the block before.
            let behind = rest.iter().skip(1).find(|line| !line.trim().is_empty());
            if closed && behind.is_none_or(|line| ends(line)) {
                rest = rest.get(1..).unwrap_or_default();
            }
            continue;
        }
        out.push((*line).to_owned());
        out.append(&mut block);
    }
    if let Some(route) = wanted {
        let stanza = [format!("vrf {vrf}"), format!(" {route}"), "exit-vrf".to_owned()];
        let at = out.iter().position(|line| opens(line).is_some_and(|other| other > vrf)).unwrap_or(out.len());
        out.splice(at..at, stanza);
    }
    out.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// What differs between two texts, as one hunk of a unified diff; empty where they are equal.
#[must_use]
pub fn difference(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old == new {
        return Vec::new();
    }
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let left = old.len().min(new.len()) - same;
    let tail = old.iter().rev().zip(new.iter().rev()).take(left).take_while(|(a, b)| a == b).count();
    let part = |all: &[&str], from: usize, to: usize, sign: char| -> Vec<String> {
        all.get(from..to).unwrap_or_default().iter().map(|line| format!("{sign}{line}")).collect()
    };
    let from = same.saturating_sub(AROUND);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let (gone, come) = (part(&old, same, old_end, '-'), part(&new, same, new_end, '+'));
    let (head, foot) = (part(&old, from, same, ' '), part(&old, old_end, (old_end + AROUND).min(old.len()), ' '));
    let span = |start: usize, length: usize| match length {
        0 => format!("{start},0"),
        _ => format!("{},{length}", start + 1),
    };
    let kept = head.len() + foot.len();
    let title = format!("@@ -{} +{} @@", span(from, kept + gone.len()), span(from, kept + come.len()));
    [vec![title], head, gone, come, foot].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::backends::exit_node::parse::frr;

    const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 20, 50, 1);

    fn stanza(vrf: &str) -> String {
        format!("vrf {vrf}\n ip route 0.0.0.0/0 10.20.50.1 nexthop-vrf default\nexit-vrf\n")
    }

    #[test]
    fn a_stanza_is_put_where_it_belongs_and_taken_out_without_a_trace() {
        let (a, b, c) = (stanza("vrf_a"), stanza("vrf_b"), stanza("vrf_c"));
        assert_eq!(rendered("", "vrf_a", Some(GATEWAY)), a);
        let two = format!("{a}{c}");
        let three = format!("{a}{b}{c}");
        assert_eq!(rendered(&two, "vrf_b", Some(GATEWAY)), three);
        assert_eq!(rendered(&three, "vrf_b", Some(GATEWAY)), three, "a second run changes nothing");
        assert_eq!(rendered(&three, "vrf_b", None), two);
        assert_eq!(rendered(&a, "vrf_a", None), "");
        let open = "vrf vrf_b\n ip route 10.0.0.0/8 null0\n\n";
        let once = rendered(open, "vrf_b", Some(GATEWAY));
        assert_eq!(
            once,
            "vrf vrf_b\n ip route 10.0.0.0/8 null0\n ip route 0.0.0.0/0 10.20.50.1 nexthop-vrf default\n\n"
        );
        assert_eq!(rendered(&once, "vrf_b", Some(GATEWAY)), once, "also before lines without anything");
    }

    #[test]
    fn what_others_wrote_stays_to_the_letter() {
        let text = "! by hand\n!\nvrf vrf_a\n vni 10001\n ip route 0.0.0.0/0 10.20.99.1\n ip route 10.0.0.0/8 null0\nexit-vrf\n!\nrouter bgp 65020\n neighbor 10.1.1.1 remote-as 65020\n!\n";
        let changed = text.replace("0.0.0.0/0 10.20.99.1\n", "0.0.0.0/0 10.20.50.1 nexthop-vrf default\n");
        assert_eq!(rendered(text, "vrf_a", Some(GATEWAY)), changed);
        assert_eq!(rendered(text, "vrf_a", None), text.replace(" ip route 0.0.0.0/0 10.20.99.1\n", ""));
        assert_eq!(rendered(text, "vrf_none", None), text);
    }

    #[test]
    fn a_difference_is_one_hunk_with_what_stands_around_it() {
        let (a, b) = (stanza("vrf_a"), stanza("vrf_b"));
        let shown = difference(&a, &format!("{a}{b}"));
        assert_eq!(shown.first().map(String::as_str), Some("@@ -1,3 +1,6 @@"));
        assert_eq!(shown.iter().filter(|line| line.starts_with('+')).count(), 3);
        assert_eq!(difference("", &a).first().map(String::as_str), Some("@@ -0,0 +1,3 @@"));
        assert!(difference(&a, &a).is_empty());
    }

    fn file() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            "vrf vrf_[a-d]",
            Just(" ip route 0.0.0.0/0 10.20.50.1 nexthop-vrf default".to_owned()),
            Just("exit-vrf".to_owned()),
            Just("!".to_owned()),
            " ip route 10.[0-9].0.0/16 null0",
            Just(String::new()),
        ];
        proptest::collection::vec(line, 0..16).prop_map(|lines| lines.iter().flat_map(|l| [l.as_str(), "\n"]).collect())
    }

    proptest! {
        /// Whatever the file is: the VRF has exactly the route that was asked for, and no other VRF is touched.
        #[test]
        fn one_vrf_changes_and_no_other(text in file(), wanted in any::<bool>()) {
            let gateway = wanted.then_some(GATEWAY);
            let new = rendered(&text, "vrf_b", gateway);
            let (before, after) = (frr::config(&text).vrfs, frr::config(&new).vrfs);
            let defaults: Vec<&String> =
                after.get("vrf_b").into_iter().flatten().filter(|l| l.starts_with(DEFAULT)).collect();
            prop_assert_eq!(defaults.len(), usize::from(wanted), "{}", new);
            for vrf in ["vrf_a", "vrf_c", "vrf_d"] {
                prop_assert_eq!(before.get(vrf), after.get(vrf));
            }
            prop_assert_eq!(rendered(&new, "vrf_b", gateway), new);
        }
    }
}
