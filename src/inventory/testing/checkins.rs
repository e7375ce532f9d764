//! Invented check-ins.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{SampleTenant, index, now};
use crate::backends::bootstrap::{Declared, Record, Report, Token, TokenState};
use crate::inventory::readings::BootReading;
use crate::site::Site;

/// A moment some seconds before that of the samples.
pub fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

/// Everything applied, reported a few minutes ago; `radio`'s first workload has nothing declared.
pub(super) fn reading(site: &Site, tenants: &[SampleTenant]) -> BootReading {
    let mut records = Vec::new();
    for (name, n, workloads) in tenants {
        for (k, workload) in workloads.iter().enumerate() {
            let k = u32::try_from(k).expect("an ordinal");
            let vmid = site.numbering.vmid(index(*n), k).expect("a VMID in the band");
            if name != "radio" || k > 0 {
                records.push(applied(name, workload, vmid));
            }
        }
    }
    BootReading { at: now(), service_at: now(), records: Ok(records.into()), holes: None, requests: 1 }
}

/// A workload whose declared generation runs.
pub fn applied(tenant: &str, workload: &str, vmid: u32) -> Record {
    let uuid = format!("7655fca8-a5bd-4048-a6ff-{vmid:012}");
    let generation = u64::from(vmid % 4 + 1);
    let digest = format!("{:064x}", generation);
    let redeemed = i64::from(vmid) * 400;
    Record {
        tenant: tenant.into(),
        workload: workload.into(),
        vmid: Some(vmid),
        declared: Some(Declared { generation, digest: digest.clone() }),
        token: Some(Token {
            kid: format!("EXAMPLE{vmid:09}"),
            state: TokenState::Redeemed,
            issued_at: ago(redeemed + 65),
            expires_at: Some(ago(redeemed + 65 - 1800)),
            redeemed_at: Some(ago(redeemed)),
            redeemed_from: Some("10.20.50.22".into()),
            smbios_uuid: Some(uuid.as_str().into()),
            generation: Some(generation),
        }),
        refusals: Vec::new(),
        acknowledged_at: None,
        reports: vec![
            report("start", ago(redeemed - 90), generation, &uuid),
            report("health", ago(i64::from(vmid % 50) * 60), generation, &uuid),
        ],
        interval: Some(SignedDuration::from_hours(1)),
    }
}

/// A report that all is well.
pub fn report(phase: &str, at: Timestamp, generation: u64, uuid: &str) -> Report {
    Report {
        at,
        phase: phase.into(),
        ok: true,
        code: String::new(),
        detail: String::new(),
        generation: Some(generation),
        digest: Some(format!("{generation:064x}").into()),
        smbios_uuid: Some(uuid.into()),
        boot_id: None,
        images: Vec::new(),
        from: Some("10.20.50.22".into()),
    }
}

/// Changes the record of one workload.
pub fn change(reading: &mut BootReading, tenant: &str, workload: &str, change: impl FnOnce(&mut Record)) {
    let mut records: Vec<Record> = reading.records.as_ref().expect("records").to_vec();
    let found = records.iter_mut().find(|r| r.tenant == tenant && r.workload == workload);
    change(found.expect("the record"));
    reading.records = Ok(Arc::from(records));
}
