//! Who runs this process, as the journal names them.

use crate::provision::journal::Who;

/// The user by the environment's word, the host by the system's, this process. It tells people apart; it proves nothing.
#[must_use]
pub fn who() -> Who {
    let named =
        ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()));
    let user = named.unwrap_or_else(|| rustix::process::getuid().as_raw().to_string());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Who {
        user: crate::text::clean(&user).into_owned(),
        host: crate::text::clean(&host).into_owned(),
        pid: std::process::id(),
    }
}
