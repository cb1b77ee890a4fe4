// One node that tenants share.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/policy_parts.hpp"

namespace tidepool::test {

struct SharedPool {
  Story story;

  explicit SharedPool(std::vector<core::Tenant> tenants, int slots = 8, const std::string& policy = "tidal")
      : SharedPool(std::move(tenants), slots, parts_of(policy)) {}
  SharedPool(std::vector<core::Tenant> tenants, int slots, core::Engine::Parts parts) {
    story.engine() = core::Engine(std::move(parts));
    story.node(slots);
    configure(std::move(tenants));
  }

  void configure(std::vector<core::Tenant> tenants) {
    story.learn(core::TenantsConfigured{{.tenants = std::move(tenants)}});
  }

  static core::JobSpec spec(const std::string& tenant, int size) {
    core::JobSpec spec = job_spec({.min = size, .max = size});
    spec.tenant = tenant;
    return spec;
  }
  JobId submit(core::JobSpec spec) {
    const JobId id = story.engine().next_job_id();
    story.learn(core::JobSubmitted{id, std::move(spec)});
    return id;
  }
  JobId running(const std::string& tenant, int size) { return running(spec(tenant, size)); }
  JobId running(const core::JobSpec& spec) {
    const JobId id = submit(spec);
    story.settle(id);
    REQUIRE(story.job(id).size() == spec.elastic.max);
    // So that it is far from its end, as far as the policy knows, and may change.
    story.pass(Duration::seconds(60));
    return id;
  }
  // Its user cancels it, and its workers go.
  void end(JobId id) {
    story.learn(core::JobCancelRequested{id});
    story.decide();
    for (const WorkerId worker : std::vector<WorkerId>(story.job(id).membership.workers)) story.exit(worker);
    story.decide();
  }
  [[nodiscard]] const core::TenantPlan& plan(const std::string& tenant) const {
    return story.state().plan.tenants.at(tenant);
  }
  // Until nothing follows.
  void settle_all() {
    for (int round = 0; round < 3; ++round) {
      for (const auto& [id, job] : IdTable(story.state().jobs)) story.settle(id);
    }
  }
  [[nodiscard]] int held_by(const std::string& tenant) const {
    int slots = 0;
    for (const auto& [id, job] : story.state().jobs) slots += job->spec.tenant == tenant ? job->size() : 0;
    return slots;
  }
};

inline int preempted_in(const core::Decision& decision) {
  return static_cast<int>(std::count_if(decision.plan.begin(), decision.plan.end(), [](const auto& planned) {
    return std::holds_alternative<core::PreemptIntent>(planned.intent);
  }));
}

}  // namespace tidepool::test
