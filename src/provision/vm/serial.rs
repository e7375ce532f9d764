//! The pointer in the serial number: where a workload asks for its configuration, and as whom (domain.md §7.3).
//!
//! Only those two are written and shown here, neither of which is a secret. A pointer that a service wrote, with a token
//! beside them, is as wanted and stays untouched. Everything else in `smbios1` stays: it is read, changed and put back.

use serde::{Deserialize, Serialize};

use super::machine::Machine;
use crate::backends::permit::Permit;
use crate::provision::fields::{Difference, Fields, Seen, fields};
use crate::provision::object::{Danger, Doing, Ensure, Looking, Place, Undo};
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;
use crate::site::Secret;

const SERIAL: &str = "serial";
/// First word of a pointer.
const POINTER: &str = "dvb1";
/// What stands for a serial number of another form, which may be secret.
const OTHER: &str = "set, not a pointer";
/// Longest pointer, in bytes (domain.md §7.3).
const LONGEST: usize = 300;

/// The pointer of a VM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VmSerial {
    /// The VM.
    pub vm: Machine,
}

/// A pointer to `origin` for `workload` (`tenant/name`).
///
/// # Errors
/// When it cannot stand in a serial number.
pub(in crate::provision) fn pointer(origin: &str, workload: &str) -> Result<Fields, Trouble> {
    let text = format!("{POINTER};u={origin};n={workload}");
    let sound = |c: char| c.is_ascii_graphic() && !matches!(c, ',' | '"' | '\\');
    // cloud-init takes `ds=` in a serial number for its own (domain.md §7.2).
    if text.len() > LONGEST || !text.chars().all(sound) || text.contains("ds=") || origin.contains(';') {
        return Err(Trouble::new(TroubleKind::Refused, format!("{origin} cannot stand in a pointer"))
            .with_help("[bootstrap] url has to be a short origin, https://HOST:PORT"));
    }
    Ok(fields([(SERIAL, text)]))
}

/// What may be shown of a serial number: of a pointer where it leads and for whom.
fn shown(serial: &[u8]) -> String {
    let Some(rest) = std::str::from_utf8(serial).ok().and_then(|text| text.strip_prefix("dvb1;")) else {
        return OTHER.to_owned();
    };
    let part = |key: &'static str| rest.split(';').find(|part| part.starts_with(key)).unwrap_or(key);
    crate::text::clean(&format!("{POINTER};{};{}", part("u="), part("n="))).into_owned()
}

impl Ensure for VmSerial {
    fn place(&self) -> Place {
        Place::Pve
    }

    fn name(&self) -> String {
        format!("pointer of {}", self.vm.words())
    }

    fn danger(&self, _todo: &Difference) -> Danger {
        Danger::One
    }

    fn undo(&self, todo: &Difference) -> Undo {
        match todo.changes().first().and_then(|change| change.now.as_deref()) {
            _ if self.vm.new => Undo::Nothing,
            None => Undo::Inverse,
            Some(_) => Undo::None("the serial number that was there is not kept: it may hold a secret"),
        }
    }

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            if self.vm.own(context).await?.is_none() {
                return Ok(Seen::Absent);
            }
            let client = context.world.proxmox()?;
            let read = client.vm_smbios(&self.vm.at()?, self.vm.id()?).await.map_err(|e| Trouble::from(&e))?;
            Ok(Seen::Present(fields(read.smbios.serial().map(|serial| (SERIAL, shown(serial))))))
        })
    }

    fn apply<'a>(&'a self, context: &'a Context, permit: &'a Permit, todo: &'a Difference) -> Doing<'a> {
        Box::pin(async move {
            self.vm.unlocked(context).await?;
            let client = context.world.proxmox()?;
            let serial = todo.value(SERIAL).map(|text| Secret::new(text.to_owned()));
            let written = client.vm_write_serial(permit, &self.vm.at()?, self.vm.id()?, serial.as_ref()).await;
            written.map_err(|e| Trouble::from(&e))?;
            self.vm.tell_waiting(context).await;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_shown_and_other_serial_numbers_neither() {
        let full = "dvb1;u=https://boot.example:8443;n=tdemo/app;x=1795950000;t=dbt1.C4N4RY;p=C4N4RY";
        let shown = shown(full.as_bytes());
        assert_eq!(shown, "dvb1;u=https://boot.example:8443;n=tdemo/app");
        assert_eq!(pointer("https://boot.example:8443", "tdemo/app").unwrap()[SERIAL], shown);
        assert_eq!(super::shown(b"C4N4RY"), OTHER);
        assert_eq!(super::shown(&[0xff, 0xfe]), OTHER);
    }

    #[test]
    fn what_cannot_stand_in_a_serial_number_is_refused() {
        for bad in ["https://a b", "https://a,b", "https://a?ds=nocloud", "https://a;t=x", &"x".repeat(300)] {
            assert!(pointer(bad, "tdemo/app").is_err(), "{bad}");
        }
    }
}
