#include "schedulerd/leader/tenant_file.hpp"

namespace tidepool::leader {

core::TenantTree to_core(const api::v1::TenantTreeV1& file) {
  core::TenantTree tree;
  tree.half_life = file.half_life;
  tree.rebalance_every = file.rebalance_every;
  for (const api::v1::TenantFields& fields : file.tenants) {
    tree.tenants.push_back({.name = fields.name,
                            .parent = fields.parent,
                            .guarantee = fields.guarantee,
                            .weight = fields.weight,
                            .borrow = fields.borrow,
                            .lend = fields.lend,
                            .priority_max = fields.priority_max,
                            .job_slots_max = fields.job_slots_max,
                            .job_price_max = fields.job_price_max});
  }
  return tree;
}

}  // namespace tidepool::leader
