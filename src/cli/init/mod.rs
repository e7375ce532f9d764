//! `init`: a site file by asking, probing and explaining. Nothing is written before the last answer.

mod prompt;
mod propose;
mod services;
mod session;
mod steps;
mod write;

use std::path::PathBuf;

use zeroize::Zeroizing;

use super::args::{Format, Global, InitArgs};
use super::{Code, Failure, open, site_check};
use crate::site::Site;
use crate::site::file::keys::{Key, Section};
use session::Session;

/// Runs the verb.
pub(super) fn run(global: &Global, request: &InitArgs) -> Result<Code, Failure> {
    if let Some(site) = &global.site {
        return Err(Failure::usage(
            format!("init makes a new site; --site {site} names one that is there"),
            "give the new site's NAME, or --out FILE",
        ));
    }
    let mut session = Session::start(request)?;
    steps::all(&mut session)?;
    let site = finished(&mut session)?;
    save(&session)?;
    let path = session.path.display().to_string();
    open::note(&format!("Written: {path}"));
    if request.no_check {
        open::note(&format!("Check it: deevnet-console --site {path} site check"));
        open::note(&format!("Start:    deevnet-console --site {path}"));
        return Ok(Code::Ok);
    }
    let check = site_check::Request {
        verbose: false,
        timeout: request.timeout,
        resolv_conf: request.resolv_conf.clone(),
        output: Format::Table,
    };
    let work = async { site_check::check(&mut std::io::stdout(), &site, &check).await };
    let code = session
        .block(work)
        .map_err(|stopped| Failure { text: "the check was interrupted".to_owned(), ..stopped })??;
    open::note(&format!("Start: deevnet-console --site {path}"));
    Ok(code)
}

/// The site, once everything is there and fits together.
fn finished(session: &mut Session<'_>) -> Result<Site, Failure> {
    loop {
        let missing = session.draft.missing();
        if !missing.is_empty() && !session.asks() {
            let flag = |(section, number, key): &(&Section, usize, &Key)| {
                let place =
                    if *number == 0 { section.name.to_owned() } else { format!("{}.{}", section.name, number + 1) };
                format!("--set {place}.{}=…   {}", key.name, key.doc)
            };
            let flags: Vec<String> = missing.iter().map(flag).collect();
            return Err(Failure::usage(
                format!("nothing was written: answers are missing\n{}", flags.join("\n")),
                "give these flags, or run init on a terminal and be asked",
            ));
        }
        let errors = match Site::parse(&session.draft.text(), &session.path) {
            Ok(site) => {
                site.warnings.iter().for_each(|warning| open::warn(warning));
                return Ok(site);
            }
            Err(errors) => errors,
        };
        if !session.asks() {
            return Err(Failure::usage(format!("nothing was written: {errors}"), "give other answers with --set"));
        }
        session.say(&errors.to_string());
        session.ask_again()?;
    }
}

/// Writes the secrets that were typed, then the site file. What was written is taken away when the rest fails.
fn save(session: &Session<'_>) -> Result<(), Failure> {
    let mut done: Vec<&PathBuf> = Vec::new();
    let undo = |done: &[&PathBuf]| done.iter().for_each(|path| drop(std::fs::remove_file(path)));
    for (path, secret) in &session.typed {
        let line = Zeroizing::new(format!("{}\n", secret.expose()));
        write::private(path, &line).inspect_err(|_| undo(&done))?;
        done.push(path);
    }
    write::private(&session.path, &session.draft.text()).inspect_err(|_| undo(&done))
}
