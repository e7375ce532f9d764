//! Saying why: evidence in, findings out. Pure, apart from what collects.
//!
//! ```text
//! evidence   items as they were read, and bundles of them on disk
//! collect    evidence from a live site
//! facts      evidence in types: one reader a form of input
//! rules      one fault each: facts in, verdicts out; also the catalogue
//! catalogue  the rules as a document
//! finding    what is said; report: causes, order, headline; document: as JSON
//! scope      what of a report concerns one tenant
//! contract   the clauses of the tenant contract, judged by rules
//! parts      what a check asks, part by part, and what ends when
//! against    what of a diagnosis speaks against the tenant it was asked about
//! diagnosis  everything said of one evidence: report, legs, exit nodes one by one
//! pasted     what somebody ran elsewhere and pasted here, read into typed results
//! path       the legs from a workload to the internet, judged by rules
//! seen       what was seen on legs that pass
//! resolve    one name at every vantage point
//! ```

pub mod access;
mod against;
pub mod catalogue;
pub mod collect;
pub mod contract;
mod diagnosis;
mod document;
pub mod evidence;
pub mod facts;
pub mod finding;
pub mod parts;
pub mod pasted;
pub mod path;
pub mod report;
pub mod resolve;
pub mod rules;
mod scope;
mod seen;

pub use against::Against;
pub use diagnosis::{Diagnosis, OneNode};
pub use report::Report;
