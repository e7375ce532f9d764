//! Rights from the tables, and the commands for each that is missing.

use super::*;

fn holding(entries: &[(&str, &[&str])]) -> Permissions {
    let mut held = Permissions::default();
    for (path, privileges) in entries {
        let set: BTreeSet<String> = privileges.iter().map(|p| (*p).to_owned()).collect();
        held.by_path.insert((*path).to_owned(), set.clone());
        held.propagating.insert((*path).to_owned(), set);
    }
    held
}

fn told(held: &Permissions) -> Vec<String> {
    let lacks = lacking(held, &["hyp1"]);
    lacks.iter().filter(|l| !l.later).map(|l| format!("{} on {}", l.privilege, l.path)).collect()
}

const FULL: [(&str, &[&str]); 3] = [("/", &["Sys.Audit"]), ("/sdn", &["SDN.Audit"]), ("/vms", &["VM.Audit"])];

#[test]
fn a_token_without_rights_lacks_each_once() {
    assert_eq!(told(&holding(&[])), ["Sys.Audit on /", "Sys.Audit on /nodes", "SDN.Audit on /sdn", "VM.Audit on /vms"]);
    assert_eq!(told(&holding(&FULL)), [""; 0]);
    assert_eq!(told(&holding(&[("/", &["Sys.Audit", "SDN.Audit", "VM.Audit"])])), [""; 0]);
}

#[test]
fn each_right_is_missed_by_itself() {
    assert_eq!(told(&holding(&[FULL[0], FULL[2]])), ["SDN.Audit on /sdn"]);
    assert_eq!(told(&holding(&[FULL[0], FULL[1]])), ["VM.Audit on /vms"]);
    let elsewhere = holding(&[("/nodes", &["Sys.Audit"]), FULL[1], FULL[2]]);
    assert_eq!(told(&elsewhere), ["Sys.Audit on /"], "the state of the cluster is asked at the root");
}

#[test]
fn an_entry_that_takes_a_right_away_is_named_itself() {
    let held = holding(&[FULL[0], FULL[1], FULL[2], ("/sdn/zones/eds", &["SDN.Use"])]);
    assert_eq!(told(&held), ["SDN.Audit on /sdn/zones/eds"]);
    let held = holding(&[FULL[0], FULL[1], FULL[2], ("/nodes/hyp1", &["Sys.Console"])]);
    assert_eq!(told(&held), ["Sys.Audit on /nodes/hyp1"]);
}

#[test]
fn commands_name_role_path_user_and_token_and_nothing_a_shell_reads() {
    let lacks = lacking(&holding(&[FULL[0], FULL[2]]), &["hyp1"]);
    let lacks: Vec<&PveLack> = lacks.iter().filter(|l| !l.later).collect();
    assert_eq!(
        pveum(&lacks, Some("ops@pve!console")),
        [
            "pveum role add DeevnetConsoleRead --privs 'SDN.Audit' || pveum role modify DeevnetConsoleRead --append 1 \
             --privs 'SDN.Audit'",
            "pveum acl modify '/sdn' --users 'ops@pve' --tokens 'ops@pve!console' --roles DeevnetConsoleRead",
        ]
    );
    assert_eq!(quoted("a'$(id)"), r"'a'\''$(id)'");
    assert!(pveum(&[], None).is_empty());
}

#[test]
fn every_privilege_of_the_perimeter_is_tried_once_and_by_reading() {
    let tried = opnsense_to_try();
    let groups = opnsense();
    assert_eq!(tried.len() + 1, groups.len(), "only the firmware page is left out");
    for (need, members) in &groups {
        let by = tried.iter().filter(|group| group.iter().all(|e| e.need == *need)).count();
        assert_eq!(by, usize::from(!opnsense_is_optional(members[0])), "{need:?}");
    }
    assert!(tried.iter().flatten().all(|e| e.access == Access::Read && !e.path.contains('{')));
}
