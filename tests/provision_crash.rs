//! Changes that are cut off at every request, by every kind of lost, late, doubled and wrong answer, and at every line of their
//! journal: taken up again they end as if nothing had happened.
//!
//! What a program that dies leaves is its journal and the site, nothing else: the two are noted at every boundary of one
//! undisturbed run, and the change is taken up from each pair that is different, by new clients, in a lab that is set back to
//! it. Time passes where somebody waits, and only there.

#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "helpers of a test: a panic is its verdict, its output its report"
)]

mod change_common;

#[path = "provision_crash/bench.rs"]
mod bench;
#[path = "provision_crash/gates.rs"]
mod gates;
#[path = "provision_crash/matrix.rs"]
mod matrix;
#[path = "provision_crash/state.rs"]
mod state;

use bench::Course;
use matrix::Matrix;

/// Drops and cuts at all boundaries, then every write disturbed.
async fn whole(course: Course, ways: usize) {
    let mut matrix = Matrix::of(course).await;
    matrix.drops().await;
    matrix.cuts().await;
    matrix.writes(ways).await;
    matrix.reads().await;
    matrix.end().await;
}

/// A change that was cut off is taken back instead.
#[tokio::test]
async fn what_was_cut_off_is_taken_back_whole_or_says_what_it_leaves() {
    for (course, stride) in [(Course::Workload, 2), (Course::Onboard, 4)] {
        let mut matrix = Matrix::of(course).await;
        matrix.undone(stride).await;
        matrix.end().await;
    }
}

#[tokio::test]
async fn an_onboarding_ends_as_undisturbed_wherever_it_is_cut_off() {
    whole(Course::Onboard, 2).await;
}

#[tokio::test]
async fn a_workload_ends_as_undisturbed_wherever_it_is_cut_off() {
    whole(Course::Workload, 7).await;
}

#[tokio::test]
async fn the_end_of_a_tenant_ends_as_undisturbed_wherever_it_is_cut_off() {
    whole(Course::Delete, 5).await;
}
