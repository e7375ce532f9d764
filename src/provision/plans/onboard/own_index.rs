//! The index of a tenant, which the plan that chose it looks at again.

use serde::{Deserialize, Serialize};

use crate::backends::permit::Permit;
use crate::provision::fields::{Difference, Fields, Seen};
use crate::provision::object::{Doing, Ensure, Looking, Place, Remaking, only_looks};
use crate::provision::plans::workload::Workload;
use crate::provision::survey::Survey;
use crate::provision::trouble::{Trouble, TroubleKind};
use crate::provision::world::Context;
use crate::site::names::TenantName;
use crate::site::numbering::TenantIndex;

/// The index of a tenant is nobody else's, on every source. Looked at again under the SDN lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnIndex {
    /// Tenant.
    pub tenant: String,
    /// Index.
    pub index: u8,
    /// Whether nobody asked for this very index: where somebody else takes it before anything was made, the next free one will
    /// do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or_next: bool,
    /// The first workload, as it was asked for: its numbers follow from the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Box<Workload>>,
}

impl Ensure for OwnIndex {
    fn place(&self) -> Place {
        Place::Here
    }

    fn name(&self) -> String {
        let next = if self.or_next { ", or the next that is free" } else { "" };
        format!("index {} of {}{next}", self.index, self.tenant)
    }

    only_looks!();

    fn observe<'a>(&'a self, context: &'a Context) -> Looking<'a> {
        Box::pin(async move {
            let refused = |text: String| Trouble::new(TroubleKind::Refused, text);
            let tenant: TenantName = self.tenant.parse().map_err(|e| refused(format!("{e}")))?;
            let index = TenantIndex::new(u64::from(self.index)).map_err(|e| refused(e.to_string()))?;
            let survey = Survey::read_for(&context.world, &tenant).await;
            survey.index_for(&context.world.site, &tenant, Some(index)).map_err(|why| {
                let help = "another operator was faster: make the plan again, it takes the next free index";
                if why.kind == TroubleKind::Refused { why.with_help(help) } else { why }
            })?;
            Ok(Seen::Present(Fields::new()))
        })
    }

    fn apply<'a>(&'a self, _context: &'a Context, _permit: &'a Permit, _todo: &'a Difference) -> Doing<'a> {
        Box::pin(async { Ok(()) })
    }

    fn instead<'a>(&'a self, context: &'a Context) -> Option<Remaking<'a>> {
        self.or_next.then(|| Box::pin(super::anew(&context.world, self)) as Remaking<'a>)
    }
}
