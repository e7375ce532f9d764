//! What the console's own log says of its requests and of its pictures.

use std::{collections::BTreeMap, fs, path::Path};

/// Requests by source, and how long each picture took, in milliseconds, from the `skip`-th line on.
#[derive(Debug, Default)]
pub struct Told {
    pub requests: BTreeMap<&'static str, u64>,
    pub joins: Vec<f64>,
    pub lines: usize,
}

/// Reads the log.
pub fn read(path: &Path, skip: usize) -> Told {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut told = Told { lines: text.lines().count(), ..Told::default() };
    for line in text.lines().skip(skip) {
        if let Some(us) = field(line, "us=").filter(|_| line.contains("joined")) {
            told.joins.push(us.parse::<f64>().unwrap_or(f64::NAN) / 1000.0);
        }
        if let Some(path) = field(line, "path=") {
            *told.requests.entry(source(path.trim_matches('"'))).or_default() += 1;
        }
    }
    told
}

fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split(' ').find_map(|word| word.strip_prefix(key))
}

/// Whose paths begin so.
fn source(path: &str) -> &'static str {
    let starts = [("api2/", "PVE"), ("api/v1/servers", "DNS"), ("api/", "FW"), ("v1/", "BOOT")];
    starts.iter().find(|(start, _)| path.starts_with(start)).map_or("other", |(_, source)| source)
}
