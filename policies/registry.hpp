// THE table of policies that a daemon can run. A new policy is one file and one line here; nothing else lists them.
// Baselines that only reproduce published results have a table of their own in studies/.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/decide/policy.hpp"
#include "policies/cluster/cluster_autoscaling.hpp"
#include "policies/cluster/elastic_tiresias.hpp"
#include "policies/cluster/plain_queues.hpp"
#include "policies/cluster/tiresias.hpp"
#include "policies/place/most_free.hpp"
#include "policies/place/pack.hpp"
#include "policies/preset.hpp"
#include "policies/size/autoscaling_engine.hpp"
#include "policies/size/fixed_size.hpp"
#include "policies/tidal/tidal.hpp"
#include "policies/tidal/tidal_planner.hpp"

namespace tidepool::policies {

inline constexpr std::array kPolicies = [] {
  using namespace cluster;
  using core::LineRule;
  return std::array{
      AllocationPreset{
          "autoscaling_engine", "grows a job while each added worker still pays; later jobs may pass one that waits",
          "Or, Zhang, Freedman: Resource Elasticity in Distributed Deep Learning, MLSys 2020", nullptr, nullptr,
          Knowledge::kLearntByJob, Live::kByMeasuredSpeed, make_rule<AutoscalingEngine, LineRule::kPassed>},
      AllocationPreset{"cluster_autoscaling", "the next workers go to the job whose scale condition is best",
                       "Or, Zhang, Freedman: Resource Elasticity, MLSys 2020, for all jobs at once",
                       make_part<AllocationPolicy, ClusterAutoscaling>, make_part<PlaceStage, Pack>,
                       Knowledge::kVisited, Live::kByMeasuredSpeed},
      AllocationPreset{"elastic_tiresias", "tiresias that shrinks the second queue and spends what is left over",
                       "Wu et al.: EDL, TPDS 2022", make_part<AllocationPolicy, ElasticTiresias>,
                       make_part<PlaceStage, MostFree>, Knowledge::kOracle, Live::kByMeasuredSpeed},
      AllocationPreset{"fifo", "every job at its preferred size, strictly in order of arrival within a priority",
                       "baseline", make_part<AllocationPolicy, StrictFifo>, make_part<PlaceStage, MostFree>,
                       Knowledge::kOracle, Live::kNeedsNoSpeed, make_rule<FixedSize, LineRule::kStrict>},
      AllocationPreset{"fixed", "every job at its preferred size; later jobs may pass one that waits", "baseline",
                       nullptr, nullptr, Knowledge::kOracle, Live::kNeedsNoSpeed,
                       make_rule<FixedSize, LineRule::kPassed>},
      AllocationPreset{"las", "least attained service first, every job at the size its user wants", "baseline",
                       make_part<AllocationPolicy, LeastAttained>, make_part<PlaceStage, MostFree>, Knowledge::kOracle,
                       Live::kNeedsNoSpeed},
      AllocationPreset{"tidal", "one price per slot; each job takes the size that is worth most to it", "Tidepool",
                       make_part<AllocationPolicy, tidal::Tidal>, make_part<PlaceStage, Pack>, Knowledge::kLearnt,
                       Live::kByMeasuredSpeed, tidal::make_tidal},
      AllocationPreset{"tiresias", "two queues by attained service, every job at the size its user wants",
                       "Gu et al.: Tiresias, NSDI 2019; as in Qiao et al., OSDI 2021",
                       make_part<AllocationPolicy, Tiresias>, make_part<PlaceStage, MostFree>, Knowledge::kOracle,
                       Live::kNeedsNoSpeed}};
}();

inline constexpr std::string_view kDefaultPreset = "tidal";

// What a daemon can run, by name.
struct KnownPolicy {
  std::string name;
  std::string summary;
  std::string source;
  std::string scope;  // "job": sizes one job at a time; "cluster": plans for all jobs at once
};
[[nodiscard]] std::vector<KnownPolicy> known_policies();

// The map for core::Engine::Parts::policies: every known policy under its name, those of `more` that run live, and
// `default_name` once more as "default". An unknown name is an error that lists the known ones.
[[nodiscard]] Result<std::map<std::string, std::shared_ptr<const core::Policy>>> make_policies(
    std::string_view default_name = kDefaultPreset, std::span<const cluster::AllocationPreset> more = {});

}  // namespace tidepool::policies
