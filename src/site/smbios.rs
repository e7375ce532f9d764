//! How much fits the one channel a guest can read before it has a network: the serial number in `smbios1`
//! (domain.md §7.2).

/// Longest value Proxmox takes for `smbios1`, in characters.
pub const MAX_CHARS: usize = 512;
/// `uuid=` and a UUID, `,base64=1`, `,serial=`: what is spent before the payload.
const OVERHEAD: usize = 41 + 9 + 8;

/// What a payload costs in `smbios1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Smbios1 {
    /// Characters of the whole property value.
    pub chars: usize,
    /// Whether Proxmox takes that many.
    pub fits: bool,
}

/// The cost of a serial of `payload_bytes` bytes, its base64 padded or not.
#[must_use]
pub const fn smbios1(payload_bytes: usize, padded: bool) -> Smbios1 {
    let encoded =
        if padded { payload_bytes.div_ceil(3).saturating_mul(4) } else { payload_bytes.saturating_mul(4).div_ceil(3) };
    let chars = OVERHEAD.saturating_add(encoded);
    Smbios1 { chars, fits: chars <= MAX_CHARS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_decides_at_the_edge() {
        assert_eq!(smbios1(339, true), Smbios1 { chars: 510, fits: true });
        assert_eq!(smbios1(340, true), Smbios1 { chars: 514, fits: false });
        assert_eq!(smbios1(340, false), Smbios1 { chars: 512, fits: true });
        assert_eq!(smbios1(341, false), Smbios1 { chars: 513, fits: false });
        assert_eq!(smbios1(0, true), Smbios1 { chars: 58, fits: true });
        assert!(!smbios1(usize::MAX, false).fits);
    }
}
