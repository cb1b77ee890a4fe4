// A policy put together from one order stage and one size stage; the presets of registry.hpp are such pairs.
// It adds the one rule that all policies share: a size that the user has pinned goes before any other.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/decide/policy.hpp"
#include "policies/order/order.hpp"
#include "policies/size/size.hpp"

namespace tidepool::policies {

class ComposedPolicy final : public core::Policy {
 public:
  struct Stages {
    std::string name;
    std::shared_ptr<const OrderStage> order;  // never null
    std::shared_ptr<const SizeStage> size;    // never null
    bool strict_order = false;                // a job that does not fit keeps those behind it waiting
  };
  explicit ComposedPolicy(Stages stages);

  [[nodiscard]] std::string_view name() const override { return stages_.name; }
  [[nodiscard]] std::vector<JobId> order(const core::ClusterView& view, core::StepBudget& budget) const override;
  [[nodiscard]] std::optional<core::QueueRank> rank(const core::Job& job) const override {
    return stages_.order->rank(job);
  }
  [[nodiscard]] bool strict_order() const override { return stages_.strict_order; }
  [[nodiscard]] core::SizeWish size(const core::ClusterView& view, const core::Job& job,
                                    core::StepBudget& budget) const override;

 private:
  Stages stages_;
};

}  // namespace tidepool::policies
