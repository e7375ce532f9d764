//! Against the lab: all well, and each fault that takes something away.

use super::setup_common::Whole;

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_lab_is_well() {
    let whole = Whole::start("127.88.0.1", &[]).await;
    let ran = whole.check(&["-v"]).await;
    eprintln!("{}", ran.all());
    let ran = whole.check(&[]).await;
    eprintln!("{}", ran.all());
    assert_eq!(ran.code, Some(0), "{}", ran.all());
    whole.stop().await;
}
