//! Every screen, healthy, at the two design sizes.

use super::*;

#[test]
fn healthy_screens() {
    for size in [(80, 24), (120, 40)] {
        let inv = testing::healthy;
        check(&model(inv(), size, Screen::Tenants), "tenants", "healthy");
        check(&board(inv(), size, "tdemo", ListId::Workloads), "board", "healthy");
    }
}
