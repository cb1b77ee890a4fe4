// THE table of policies that reproduce published results. A row joins one policy for the whole cluster and one place
// stage; a new baseline is one file beside this one and one line here. Policies that a daemon runs, too, are in
// policies/registry.hpp; a replay can run both.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/decide/policy.hpp"
#include "policies/cluster/plain_queues.hpp"
#include "policies/place/most_free.hpp"
#include "policies/place/pack.hpp"
#include "policies/place/regroup.hpp"
#include "policies/preset.hpp"
#include "studies/baselines/afs.hpp"
#include "studies/baselines/edf.hpp"
#include "studies/baselines/elasticflow.hpp"
#include "studies/baselines/ffdl.hpp"
#include "studies/baselines/gandiva.hpp"
#include "studies/baselines/gavel_ftf.hpp"
#include "studies/baselines/gavel_las.hpp"
#include "studies/baselines/gavel_totals.hpp"
#include "studies/baselines/gittins.hpp"
#include "studies/baselines/optimus.hpp"
#include "studies/baselines/pollux.hpp"
#include "studies/baselines/shockwave.hpp"
#include "studies/baselines/sia.hpp"
#include "studies/baselines/themis.hpp"
#include "studies/baselines/tiresias_dlas.hpp"

namespace tidepool::studies {

inline constexpr std::array kBaselines = [] {
  using namespace policies;
  using namespace policies::cluster;
  return std::array{
      AllocationPreset{"afs", "one slot at a time to the job that wins against all others in turn",
                       "Hwang et al.: AFS-L, NSDI 2021", make_part<AllocationPolicy, Afs>, make_part<PlaceStage, Pack>,
                       Knowledge::kOracle},
      AllocationPreset{"backfill", "in order of arrival, later jobs may pass one that does not fit; preempts no job",
                       "baseline", make_part<AllocationPolicy, FifoBackfill>, make_part<PlaceStage, MostFree>,
                       Knowledge::kOracle, Live::kNeedsNoSpeed},
      AllocationPreset{"edf", "earliest deadline first, every job as large as it may be",
                       "as in Gu et al.: ElasticFlow, ASPLOS 2023", make_part<AllocationPolicy, EarliestDeadline>,
                       make_part<PlaceStage, Pack>, Knowledge::kOracle},
      AllocationPreset{"elasticflow", "deadlines are promises: admission, least shares, the rest where it does most",
                       "Gu et al.: ElasticFlow, ASPLOS 2023", make_part<AllocationPolicy, ElasticFlow>,
                       make_part<PlaceStage, Pack>, Knowledge::kOracle},
      AllocationPreset{"ffdl", "the sizes with the largest sum of speed-ups", "Saxena et al.: FfDL, MASCOTS 2020",
                       make_part<AllocationPolicy, Ffdl>, make_part<PlaceStage, Pack>, Knowledge::kOracle},
      AllocationPreset{"gandiva", "turns in groups of nodes, one group for jobs of one size",
                       "Xiao et al.: Gandiva, OSDI 2018; as in Gu et al.: ElasticFlow, ASPLOS 2023",
                       make_part<AllocationPolicy, Gandiva>, make_part<PlaceStage, Pack>, Knowledge::kOracle},
      AllocationPreset{"gavel_cost", "shares of slot types with the most speed per price",
                       "Narayanan et al.: Gavel, OSDI 2020", make_part<AllocationPolicy, GavelCost>,
                       make_part<PlaceStage, MostFree>, Knowledge::kOracle},
      AllocationPreset{"gavel_ftf", "shares of slot types with the least unfair finish times",
                       "Narayanan et al.: Gavel, OSDI 2020", make_part<AllocationPolicy, GavelFtf>,
                       make_part<PlaceStage, MostFree>, Knowledge::kOracle},
      AllocationPreset{"gavel_las", "shares of time that are best for the job worst off, all slot types alike",
                       "Narayanan et al.: Gavel, OSDI 2020", make_part<AllocationPolicy, GavelLas>,
                       make_part<PlaceStage, MostFree>, Knowledge::kOracle},
      AllocationPreset{"gavel_las_perf", "shares of slot types that are best for the job worst off",
                       "Narayanan et al.: Gavel, OSDI 2020", make_part<AllocationPolicy, GavelLasPerf>,
                       make_part<PlaceStage, MostFree>, Knowledge::kOracle},
      AllocationPreset{"gavel_makespan", "shares of slot types with which the last job ends soonest",
                       "Narayanan et al.: Gavel, OSDI 2020", make_part<AllocationPolicy, GavelMakespan>,
                       make_part<PlaceStage, MostFree>, Knowledge::kOracle},
      AllocationPreset{"gavel_max_sum", "shares of slot types with the largest sum of speeds",
                       "Narayanan et al.: Gavel, OSDI 2020", make_part<AllocationPolicy, GavelMaxSum>,
                       make_part<PlaceStage, MostFree>, Knowledge::kOracle},
      AllocationPreset{"gittins", "tiresias with the Gittins index within each queue", "Gu et al.: Tiresias, NSDI 2019",
                       make_part<AllocationPolicy, Gittins>, make_part<PlaceStage, MostFree>, Knowledge::kOracle,
                       Live::kNeedsNoSpeed},
      AllocationPreset{"optimus", "one worker at a time to the job whose remaining time falls most",
                       "Peng et al.: Optimus, EuroSys 2018; as in Qiao et al., OSDI 2021",
                       make_part<AllocationPolicy, Optimus>, make_part<PlaceStage, MostFree>, Knowledge::kOracle},
      AllocationPreset{"pollux", "the placement with the best harmonic mean of speed-ups in goodput",
                       "Qiao et al.: Pollux, OSDI 2021", make_part<AllocationPolicy, Pollux>,
                       make_part<PlaceStage, Pack>, Knowledge::kLearntByJob, Live::kByMeasuredSpeed},
      AllocationPreset{"shockwave",
                       "a window of rounds with the largest welfare, fair finish times and a short makespan",
                       "Zheng et al.: Shockwave, NSDI 2023", make_part<AllocationPolicy, Shockwave>,
                       make_part<PlaceStage, MostFree>, Knowledge::kOracle},
      AllocationPreset{"sia", "a binary program over jobs and configurations, by normalized goodput",
                       "Jayaram Subramanya et al.: Sia, SOSP 2023", make_part<AllocationPolicy, Sia>,
                       make_part<PlaceStage, Regroup>, Knowledge::kLearntByJob, Live::kByMeasuredSpeed},
      AllocationPreset{"srtf", "shortest remaining time first, every job at the size its user wants", "baseline",
                       make_part<AllocationPolicy, ShortestRemaining>, make_part<PlaceStage, MostFree>,
                       Knowledge::kOracle, Live::kByMeasuredSpeed},
      AllocationPreset{"themis", "leases, auctioned among the jobs that fare worst against an equal share",
                       "Mahajan et al.: Themis, NSDI 2020", make_part<AllocationPolicy, Themis>,
                       make_part<PlaceStage, Pack>, Knowledge::kOracle},
      AllocationPreset{"tiresias_dlas", "three queues by attained service, every job at the size its user wants",
                       "Gu et al.: Tiresias, NSDI 2019; as in Gu et al.: ElasticFlow, ASPLOS 2023",
                       make_part<AllocationPolicy, TiresiasDlas>, make_part<PlaceStage, MostFree>, Knowledge::kOracle,
                       Live::kNeedsNoSpeed}};
}();

// The policies for the whole cluster that a replay can run: those of a daemon and the baselines, by name.
[[nodiscard]] const std::vector<policies::cluster::AllocationPreset>& all_presets();

// An unknown name is an error that lists the known ones.
[[nodiscard]] Result<policies::cluster::AllocationPreset> find_preset(std::string_view name);

// As policies::make_policies, with those baselines that need no oracle.
[[nodiscard]] Result<std::map<std::string, std::shared_ptr<const core::Policy>>> make_policies(
    std::string_view default_name);

}  // namespace tidepool::studies
