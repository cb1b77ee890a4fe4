// Gauges of the leaves of the tree of tenants, and of all of its budgets and limits of jobs. Their label is bounded by
// the tree: a tenant that leaves it takes its series with it.
#pragma once

#include "core/state/cluster_state.hpp"
#include "schedulerd/live/http/numbers/labelled_gauges.hpp"

namespace tidepool::live::http {

class TenantGauges {
 public:
  explicit TenantGauges(prometheus::Registry& registry);
  // `shared`: the tree decides who has the slots; else there is nothing to say of what tenants may have and want.
  void set(const core::ClusterState& state, Instant now, bool shared);

 private:
  void set_budgets(const core::ClusterState& state, Instant now);
  void set_jobs(const core::ClusterState& state);

  LabelledGauges guaranteed_;
  LabelledGauges held_;
  LabelledGauges entitled_;
  LabelledGauges wanted_;
  LabelledGauges jobs_;
  LabelledGauges jobs_max_;
  LabelledGauges budget_limit_;
  LabelledGauges budget_spent_;
  LabelledGauges budget_expected_;
};

}  // namespace tidepool::live::http
