//! Plans, runs and a journal for tests, all invented.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{Offer, Shelf};
use crate::backends::proxmox::model::Permissions;
use crate::inventory::testing::{Sample, now, site};
use crate::provision::conduct::Course;
use crate::provision::fields::{Difference, Fields, Seen, fields};
use crate::provision::journal::{Entry, Line, Record, Who};
use crate::provision::object::Object;
use crate::provision::plan::{Look, Plan, Preview, Reach, Step, Subject};
use crate::provision::plans::onboard::OwnIndex;
use crate::provision::plans::{network, onboard};
use crate::provision::survey::{Near, Survey};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::site::numbering::TenantIndex;

/// The network of a tenant that is not there.
pub(crate) fn plan() -> Plan {
    let tenant = "picow".parse().expect("a name");
    Plan {
        site: site().name,
        title: "Network of picow".to_owned(),
        subject: Subject { name: "picow".to_owned(), tenant: Some("picow".to_owned()) },
        steps: network::onboarding(&site(), &tenant, TenantIndex::new(6).expect("an index")),
        reach: None,
    }
}

/// What the sources say of a healthy site.
pub(crate) fn survey() -> Arc<Survey> {
    let sample = Sample::healthy();
    let sdn = sample.pve.sdn.as_ref().expect("SDN");
    let every =
        ["SDN.Allocate", "SDN.Audit", "SDN.Use", "VM.Allocate", "VM.Audit", "VM.Clone", "VM.PowerMgmt", "Sys.Audit"]
            .into_iter()
            .chain(["VM.Config.CPU", "VM.Config.Cloudinit", "VM.Config.Disk", "VM.Config.Memory", "VM.Config.Network"])
            .chain(["VM.Config.Options", "VM.Config.HWType", "Datastore.AllocateSpace", "Datastore.Audit"])
            .map(str::to_owned)
            .collect::<std::collections::BTreeSet<_>>();
    let all = std::collections::BTreeMap::from([("/".to_owned(), every)]);
    Arc::new(Survey {
        rights: Ok(Arc::new(Permissions { by_path: all.clone(), propagating: all })),
        zones: Ok(sdn.zones.clone()),
        vnets: Ok(sdn.vnets.clone()),
        vms: Ok(sample.pve.resources.as_ref().expect("guests").vms.clone()),
        bridges: Ok(vec!["vmbr0".to_owned()]),
        cluster: sample.pve.cluster.clone().map_err(|gap| Trouble::new(TroubleKind::Unknown, &*gap.why)),
        names: Some(Ok(sample.dns.zones.as_ref().expect("zones").to_vec())),
        routes: Some(Ok(Vec::new())),
        registry: None,
        containers: Ok(Vec::new()),
        near: Some(Near {
            tenant: "picow".parse().expect("a name"),
            subnets: Ok(Vec::new()),
            perimeter: Some(Ok(Vec::new())),
            forward: None,
            reverse: std::collections::BTreeMap::new(),
        }),
    })
}

/// The whole of a tenant that is not there.
pub(crate) fn onboarding() -> Arc<Offer> {
    let tenant = "picow".parse().expect("a name");
    let index = TenantIndex::new(6).expect("an index");
    let own = OwnIndex { tenant: "picow".to_owned(), index: index.get(), or_next: true, first: None };
    let steps = onboard::steps(&site(), &tenant, (index, false), (own, Vec::new()));
    let plan = Plan { title: "Onboard picow".to_owned(), steps, ..plan() };
    let looks = plan.steps.iter().map(|step| match &step.object {
        Object::OwnIndex(_) => look(Seen::Present(Fields::new())),
        _ => look(Seen::Absent),
    });
    let preview = Preview { looks: looks.collect(), plan, at: now() }.judged();
    Arc::new(Offer { preview, course: Course::Begin, left: Vec::new(), asked: None })
}

fn look(seen: Seen) -> Result<Look, Trouble> {
    Ok(Look { seen, todo: Difference::Nothing })
}

/// The plan as it was looked at: nothing is there, and `waiting` waits to be applied.
pub(crate) fn preview(waiting: Fields) -> Preview {
    let plan = plan();
    let mut looks: Vec<_> = plan.steps.iter().map(|_| look(Seen::Absent)).collect();
    if let Some(last) = looks.last_mut() {
        *last = look(Seen::Present(waiting));
    }
    Preview { plan, looks, at: now() }.judged()
}

pub(crate) fn offer() -> Arc<Offer> {
    Arc::new(Offer { preview: preview(Fields::new()), course: Course::Begin, left: Vec::new(), asked: None })
}

/// An edit of somebody else goes along.
pub(crate) fn with_riders() -> Arc<Offer> {
    let preview = preview(fields([("zone lab", "new")]));
    Arc::new(Offer { preview, course: Course::Begin, left: Vec::new(), asked: None })
}

/// It says more of what it reaches than its steps do.
pub(crate) fn far_reaching() -> Arc<Offer> {
    let mut offer = Offer::clone(&with_riders());
    offer.preview.plan.title = "Delete tenant eds".to_owned();
    offer.preview.plan.subject.name = "eds".to_owned();
    let own = |all: &[&str]| all.iter().map(|line| (*line).to_owned()).collect();
    offer.preview.plan.reach = Some(Reach {
        destroyed: own(&[
            "2 VMs  2080 services, 2081 jobs",
            "2 disks  40G + 32G, no backup found",
            "zone eds, VNet eds0",
        ]),
        stays: own(&["state objects under tenants/eds/", "log lines of index 2", "audit and journal"]),
        noticed: own(&["SDN apply reloads networking on hv02: 5 tenants pause about a second."]),
    });
    Arc::new(offer)
}

pub(crate) fn moment(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

pub(crate) fn trouble() -> Trouble {
    Trouble::new(TroubleKind::Refused, "PVE refused VNet picow0: the tag 20060 is taken by t1web")
        .with_help("choose another index, or free the tag")
}

/// A change that was cut off during its fourth step, with the lock.
pub(crate) fn unfinished() -> Entry {
    let who = Who { user: "amy".to_owned(), host: "console".to_owned(), pid: 4711 };
    let plan = plan();
    let opened = Record::Opened { who: who.clone(), plan: plan.clone(), takes_back: None };
    let todo = |step: usize| preview(Fields::new()).looks[step].as_ref().expect("told").todo.clone();
    let begun = |step| Record::Begun { step, before: Seen::Absent, todo: todo(step) };
    let mut records = vec![opened, Record::Run { who: who.clone(), digests: Vec::new(), riders: Vec::new() }];
    for step in 0..3 {
        records.extend([begun(step), Record::Applied { step }, Record::Verified { step, after: None }]);
    }
    records.insert(3, Record::Note { key: "sdn-lock".to_owned(), value: "a-token".into() });
    records.push(begun(3));
    let lines = (-960..).zip(records).map(|(at, record)| Line { at: moment(at), record }).collect();
    Entry { id: "C-0041".parse().expect("a number"), who, at: moment(-960), plan, lines, damaged: 0 }
}

/// One that came to its end.
pub(crate) fn finished() -> Entry {
    let mut entry = Entry { id: "C-0040".parse().expect("a number"), ..unfinished() };
    let how = crate::provision::journal::Closing::Done;
    entry.lines.push(Line { at: moment(-900), record: Record::Closed { how } });
    entry.at = moment(-86_400);
    entry
}

pub(crate) fn shelf() -> Arc<Shelf> {
    Arc::new(Shelf { entries: vec![unfinished(), finished()], running: Vec::new(), bad: Vec::new() })
}

/// The zone and the VNet wait, the subnet and the rest are not there.
pub(crate) fn half_way() -> Arc<Offer> {
    let mut preview = preview(Fields::new());
    let there: Vec<Step> = preview.plan.steps.clone();
    for (number, step) in there.iter().enumerate().take(3) {
        if let crate::provision::fields::Wanted::Present(wanted) = &step.wanted {
            preview.looks[number] = look(Seen::Present(wanted.clone()));
        }
    }
    let course = Course::Resume(unfinished().id);
    Arc::new(Offer { preview: preview.judged(), course, left: Vec::new(), asked: None })
}
