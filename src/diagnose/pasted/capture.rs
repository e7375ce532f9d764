//! Output of tcpdump.

use super::blocks::Block;
use super::{Reading, Refusal, Said, Tried};

/// `listening on vmbr0, link-type …`: without it nothing was captured at all.
fn device(line: &str) -> Option<String> {
    let rest = line.split_once("listening on ")?.1;
    let device = rest.split([',', ' ']).next()?;
    (!device.is_empty()).then(|| device.to_owned())
}

/// `0 packets captured`.
fn captured(line: &str) -> Option<u32> {
    let line = line.trim();
    let before = line.strip_suffix("packets captured").or_else(|| line.strip_suffix("packet captured"))?;
    before.split_whitespace().last()?.parse().ok()
}

/// A packet: `11:02:40.1 IP 192.0.2.1 > …`.
fn packet(line: &str) -> bool {
    line.contains(" > ") && (line.contains(" IP ") || line.contains("ARP"))
}

/// The result in `block`; `None` where it is no capture.
pub(super) fn read(block: &Block) -> Result<Option<Reading>, Refusal> {
    let own = block.command.as_ref().is_some_and(|c| c.program == "tcpdump");
    let Some((device, _)) = block.find(device) else {
        if own {
            return Err(Refusal::CutOff("the capture: it does not say on which device it listened".to_owned()));
        }
        return Ok(None);
    };
    let Some((packets, line)) = block.find(captured) else {
        return Err(Refusal::CutOff(format!("the capture on {device}")));
    };
    let shown = block.lines.iter().filter(|line| packet(line)).count();
    if packets == 0 && shown > 0 {
        return Err(Refusal::Disagrees(format!("0 packets captured, and {shown} shown")));
    }
    Ok(Some(Reading::new(Tried::Capture(device), Said::Captured { packets }, &line)))
}
