//! Who runs this process, as the journal names them.

use crate::provision::journal::Who;

/// The name that the system's list of users has for whom this process runs as.
fn by_number() -> Option<String> {
    let number = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut rows = users.lines().map(|row| row.split(':'));
    let mut row = rows.find(|row| row.clone().nth(2) == Some(number.as_str()))?;
    row.next().map(str::to_owned)
}

/// The user by the environment's word, else by the system's list; it tells people apart and proves nothing.
#[must_use]
pub fn user() -> String {
    let named =
        ["LOGNAME", "USER"].into_iter().find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()));
    let user = named.or_else(by_number).unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()));
    crate::text::clean(&user).into_owned()
}

/// The user, the host by the system's word, this process.
#[must_use]
pub fn who() -> Who {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Who { user: user(), host: crate::text::clean(&host).into_owned(), pid: std::process::id() }
}
