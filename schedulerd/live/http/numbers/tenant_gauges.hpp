// Gauges of the leaves of the tree of tenants, and of all of its budgets and limits of jobs. Their label is bounded by
// the tree: a tenant that leaves it takes its series with it.
#pragma once

#include <map>
#include <string>

#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include "core/state/cluster_state.hpp"

namespace tidepool::live::http {

class TenantGauges {
 public:
  explicit TenantGauges(prometheus::Registry& registry);
  // `shared`: the tree decides who has the slots; else there is nothing to say of what tenants may have and want.
  void set(const core::ClusterState& state, Instant now, bool shared);

 private:
  void set_budgets(const core::ClusterState& state, Instant now);
  void set_jobs(const core::ClusterState& state);

  class ByTenant {
   public:
    ByTenant(prometheus::Registry& registry, const char* name, const char* help);
    void set(const std::map<std::string, double>& values);

   private:
    prometheus::Family<prometheus::Gauge>& family_;
    std::map<std::string, prometheus::Gauge*> gauges_;
  };

  ByTenant guaranteed_;
  ByTenant held_;
  ByTenant entitled_;
  ByTenant wanted_;
  ByTenant jobs_;
  ByTenant jobs_max_;
  ByTenant budget_limit_;
  ByTenant budget_spent_;
  ByTenant budget_expected_;
};

}  // namespace tidepool::live::http
