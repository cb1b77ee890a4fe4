// THE table of policies that size one job at a time. A row is a preset: one order, one size rule, and whether the queue
// is strict. A new policy is one file in order/ or size/ and one line here. Policies for the whole cluster have a table
// of their own (cluster/registry.hpp); both together are what a daemon can run.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "policies/make_part.hpp"
#include "policies/order/fifo.hpp"
#include "policies/size/autoscaling_engine.hpp"
#include "policies/size/fixed_size.hpp"
#include "schedulerd/core/policy.hpp"

namespace tidepool::policies {

struct Preset {
  std::string_view name;
  std::string_view summary;  // one line
  std::string_view source;   // where the rule was published
  std::unique_ptr<const OrderStage> (*order)();
  std::unique_ptr<const SizeStage> (*size)();
  bool strict_order;
};

inline constexpr std::array kPresets{
    Preset{"autoscaling_engine", "grows a job while each added worker still pays; later jobs may pass one that waits",
           "Or, Zhang, Freedman: Resource Elasticity in Distributed Deep Learning, MLSys 2020",
           make_part<OrderStage, Fifo>, make_part<SizeStage, AutoscalingEngine>, false},
    Preset{"fixed", "every job at its preferred size; later jobs may pass one that waits", "baseline",
           make_part<OrderStage, Fifo>, make_part<SizeStage, FixedSize>, false},
    Preset{"fifo", "every job at its preferred size, strictly in order of arrival within a priority", "baseline",
           make_part<OrderStage, Fifo>, make_part<SizeStage, FixedSize>, true},
};

inline constexpr std::string_view kDefaultPreset = "tidal";

// What a daemon can run, by name. A name in both tables means the policy of this one.
struct KnownPolicy {
  std::string name;
  std::string summary;
  std::string source;
  std::string scope;  // "job": sizes one job at a time; "cluster": plans for all jobs at once
};
[[nodiscard]] std::vector<KnownPolicy> known_policies();

// The map for core::Engine::Parts::policies: every known policy under its name, and `default_name` once more as
// "default". An unknown name is an error that lists the known ones.
[[nodiscard]] Result<std::map<std::string, std::shared_ptr<const core::Policy>>> make_policies(
    std::string_view default_name = kDefaultPreset);

}  // namespace tidepool::policies
