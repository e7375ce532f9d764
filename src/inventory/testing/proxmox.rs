//! Invented answers of Proxmox.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;

use super::{NODE, SampleTenant, head, index, now};
use crate::backends::proxmox::model as pve;
use crate::inventory::PveReading;
use crate::site::Site;

fn applied<T: Clone>(value: T) -> pve::Sdn<T> {
    pve::Sdn {
        running: Some(value.clone()),
        configured: Some(value),
        change: pve::Change::None,
        pending: BTreeMap::new(),
    }
}

pub(super) fn reading(site: &Site, tenants: &[SampleTenant]) -> PveReading {
    let mut reading = node_parts();
    let mut sdn = pve::SdnConfig::default();
    let mut resources = pve::Resources {
        nodes: vec![pve::NodeResource {
            node: NODE.into(),
            status: "online".into(),
            cpu: Some(0.11),
            maxcpu: Some(16),
            mem: Some(38 << 30),
            maxmem: Some(64 << 30),
            uptime_s: Some(86400 * 20),
        }],
        ..pve::Resources::default()
    };
    sdn.controllers.push(applied(pve::Controller {
        controller: "evpn1".into(),
        kind: "evpn".into(),
        asn: Some(65020),
        fabric: Some("tfab".into()),
        peers: Vec::new(),
    }));
    sdn.fabrics.push(applied(pve::Fabric {
        id: "tfab".into(),
        protocol: "openfabric".into(),
        ip_prefix: Some("10.20.255.0/24".into()),
    }));
    sdn.fabric_nodes.push(applied(pve::FabricNode {
        fabric: "tfab".into(),
        node: NODE.into(),
        ip: Some("10.20.255.2".into()),
        interfaces: vec!["vmbr0.51".into()],
    }));
    for tenant in tenants {
        zone_of(site, &mut sdn, &mut resources, &mut reading, tenant);
        for k in 0..tenant.2.len() {
            vm_of(site, &mut resources, &mut reading, tenant, k);
        }
    }
    reading.sdn = Ok(sdn);
    reading.resources = Ok(Arc::new(resources));
    reading
}

fn task(kind: &str, id: &str, ago: i64) -> pve::Task {
    let started = now() - SignedDuration::from_secs(ago);
    pve::Task {
        upid: format!("UPID:{NODE}:00001000:00000000:{:08X}:{kind}:{id}:ops@pve!console:", started.as_second()),
        node: NODE.into(),
        kind: kind.into(),
        id: id.into(),
        user: "ops@pve".into(),
        started: Some(started),
        ended: Some(started + SignedDuration::from_secs(3)),
        status: Some("OK".into()),
    }
}

fn zone_of(
    site: &Site,
    sdn: &mut pve::SdnConfig,
    resources: &mut pve::Resources,
    reading: &mut PveReading,
    (name, n, _): &SampleTenant,
) {
    let (plan, i) = (&site.numbering, index(*n));
    sdn.zones.push(applied(pve::Zone {
        zone: name.clone(),
        kind: "evpn".into(),
        controller: Some("evpn1".into()),
        vrf_vxlan: Some(plan.vrf_vni(i)),
        nodes: vec![NODE.into()],
        exit_nodes: vec![NODE.into()],
        exit_nodes_primary: Some(NODE.into()),
        ..pve::Zone::default()
    }));
    let vnet = format!("{}0", head(name));
    sdn.vnets.push(applied(pve::Vnet {
        vnet: vnet.clone(),
        zone: name.clone(),
        tag: Some(plan.vnet_vni_base_of(i)),
        alias: None,
    }));
    let net = plan.subnet(i);
    let subnet = pve::Subnet {
        id: format!("{name}-{}-{}", net.network(), net.prefix_len()),
        vnet: vnet.clone(),
        zone: Some(name.clone()),
        cidr: Some(net),
        cidr_text: net.to_string(),
        gateway: Some(plan.gateway(i)),
        snat: true,
    };
    sdn.subnets.insert(vnet.clone(), vec![applied(subnet)]);
    resources.zones.push(pve::NodeZone { node: NODE.into(), zone: name.clone(), status: "available".into() });
    reading.node_vnets.insert(
        (NODE.into(), name.clone()),
        Ok(vec![pve::NodeVnet { vnet, status: "available".into(), message: None }]),
    );
}

fn vm_of(
    site: &Site,
    resources: &mut pve::Resources,
    reading: &mut PveReading,
    (name, n, names): &SampleTenant,
    k: usize,
) {
    let (plan, i) = (&site.numbering, index(*n));
    let k32 = u32::try_from(k).expect("an ordinal");
    let vmid = plan.vmid(i, k32).expect("a VMID in the band");
    let mac = plan.mac(vmid).expect("a MAC").to_string();
    let step = u64::from(vmid);
    resources.vms.push(pve::Vm {
        vmid,
        name: Some(format!("{name}-{}", names[k])),
        node: NODE.into(),
        status: "running".into(),
        template: false,
        lock: None,
        cpu: Some(f64::from(vmid % 30) / 100.0),
        cpus: Some(2),
        mem: Some((300 + step % 700) << 20),
        maxmem: Some(2 << 30),
        maxdisk: Some(32 << 30),
        uptime_s: Some(3600 * (1 + step % 900)),
        tags: vec!["tenant".into(), name.clone()],
    });
    let config = pve::VmConfig {
        name: Some(format!("{name}-{}", names[k])),
        cores: Some(2),
        memory_mib: Some(2048),
        agent: true,
        onboot: true,
        nets: BTreeMap::from([(
            0,
            Box::new(pve::NetDevice {
                model: "virtio".into(),
                mac: Some(mac),
                bridge: Some(format!("{}0", head(name))),
                firewall: false,
            }),
        )]),
        ipconfigs: BTreeMap::from([(
            0,
            Box::new(pve::IpConfig {
                ip: Some(format!("{}/24", plan.workload_address(i, k32).expect("an address"))),
                gateway: Some(plan.gateway(i).to_string()),
            }),
        )]),
        nameserver: Some("10.20.50.1".into()),
        smbios_uuid: Some(format!("7655fca8-a5bd-4048-a6ff-{vmid:012}")),
        ..pve::VmConfig::default()
    };
    reading.configs.insert(vmid, Ok(Arc::new(config)));
    reading.vm_pending.insert(vmid, Ok(Vec::new()));
}

/// What does not depend on tenants.
fn node_parts() -> PveReading {
    let mut reading = PveReading::empty(now());
    reading.version = Ok(pve::Version { version: "9.2.11".into(), release: "9.2".into() });
    reading.cluster = Ok(pve::ClusterStatus {
        name: None,
        quorate: None,
        nodes: vec![pve::ClusterNode {
            name: NODE.into(),
            online: true,
            local: true,
            ip: Some([10, 20, 99, 22].into()),
        }],
    });
    reading.tasks = Ok(vec![task("qmstart", "2040", 240), task("reloadnetworkall", "", 3600)]);
    reading.nodes.insert(
        NODE.into(),
        Ok(pve::NodeStatus {
            uptime_s: Some(86400 * 20),
            cpu: Some(0.11),
            mem: Some(38 << 30),
            maxmem: Some(64 << 30),
            pve_version: Some("pve-manager/9.2.11/14a22df3c0ffee00".into()),
            kernel: Some("6.17.2-1-pve".into()),
        }),
    );
    reading.staged.insert(NODE.into(), Ok(None));
    reading
}
