// A policy that never leaves jobs alone, for random lives of a cluster.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/digest.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {

// Wishes a size that changes as the job makes progress: a pure function of the job, as policies must be.
class RestlessPolicy final : public core::Policy, public core::JobRule {
 public:
  explicit RestlessPolicy(bool strict) : strict_(strict) {}
  [[nodiscard]] std::string_view name() const override { return "restless"; }
  [[nodiscard]] const core::JobRule* rule() const override { return this; }
  [[nodiscard]] core::LineRule line_rule() const override {
    return strict_ ? core::LineRule::kStrict : core::LineRule::kPassed;
  }
  [[nodiscard]] core::QueueRank rank(const core::Job& job) const override {
    return {.number = -job.spec.priority, .since = {}};
  }
  [[nodiscard]] core::Target target(const core::ClusterView&, const core::Job& job, core::StepBudget&) const override {
    Digest digest;
    digest.mix(job.id.number()).mix(static_cast<std::uint64_t>(job.progress.step / 8));
    const auto span = static_cast<std::uint64_t>(job.spec.elastic.max + 2);
    int wish = static_cast<int>(digest.value() % span);
    // A job that it never starts, or preempts before a few steps are done, would never end.
    if (job.membership.members.empty() || job.measurements.steps_since_switch < 4) wish = std::max(wish, 1);
    return {.size = wish, .reason = core::reason::Measuring{.steps = 1, .of = 2}, .lost = {}, .mark = {}};
  }

 private:
  bool strict_;
};

inline core::Engine::Parts restless_parts(bool strict) {
  return {{{"default", std::make_shared<RestlessPolicy>(strict)}},
          {std::make_shared<PlainDetector>()},
          {.start_timeout = Duration::seconds(40), .switch_timeout = Duration::seconds(15)}};
}

inline std::vector<std::string> policy_names(const core::Engine::Parts& parts) {
  std::vector<std::string> names;
  for (const auto& [name, policy] : parts.policies) names.push_back(name);
  return names;
}

}  // namespace tidepool::test
