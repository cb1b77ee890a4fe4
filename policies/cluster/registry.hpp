// THE table of policies that size the whole cluster at once. A row joins one such policy and one place stage.
// A new policy is one file beside this one and one line here; nothing else lists them.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "policies/cluster/afs.hpp"
#include "policies/cluster/allocation_policy.hpp"
#include "policies/cluster/cluster_autoscaling.hpp"
#include "policies/cluster/edf.hpp"
#include "policies/cluster/elastic_tiresias.hpp"
#include "policies/cluster/elasticflow.hpp"
#include "policies/cluster/ffdl.hpp"
#include "policies/cluster/gandiva.hpp"
#include "policies/cluster/gavel_ftf.hpp"
#include "policies/cluster/gavel_las.hpp"
#include "policies/cluster/gavel_totals.hpp"
#include "policies/cluster/gittins.hpp"
#include "policies/cluster/optimus.hpp"
#include "policies/cluster/plain_queues.hpp"
#include "policies/cluster/pollux.hpp"
#include "policies/cluster/shockwave.hpp"
#include "policies/cluster/sia.hpp"
#include "policies/cluster/themis.hpp"
#include "policies/cluster/tiresias.hpp"
#include "policies/cluster/tiresias_dlas.hpp"
#include "policies/make_part.hpp"
#include "policies/place/most_free.hpp"
#include "policies/place/pack.hpp"
#include "policies/place/regroup.hpp"
#include "policies/tidal/tidal.hpp"

namespace tidepool::policies::cluster {

// What the policy is meant to know, so that a comparison is of like with like.
enum class Knowledge {
  kOracle,       // the true profile at the declared batch, as its authors' evaluation gives it
  kVisited,      // the same, but only of sizes up to the largest that the job itself has held
  kLearnt,       // only what jobs of its kind have measured while they ran; jobs choose their batches
  kLearntByJob,  // only what the job itself has measured, as in Pollux's artifact; jobs choose their batches
};

struct AllocationPreset {
  std::string_view name;
  std::string_view summary;  // one line
  std::string_view source;   // where the rule was published
  std::unique_ptr<const AllocationPolicy> (*policy)();
  std::unique_ptr<const PlaceStage> (*place)();
  Knowledge knowledge;
  bool reads_no_speed = false;  // who holds what, and since when, is all it looks at
};

// A daemon can feed it: it needs no oracle.
[[nodiscard]] constexpr bool runs_live(const AllocationPreset& preset) {
  return preset.reads_no_speed || preset.knowledge != Knowledge::kOracle;
}

inline constexpr std::array kAllocationPresets{
    AllocationPreset{"afs", "one slot at a time to the job that wins against all others in turn",
                     "Hwang et al.: AFS-L, NSDI 2021", make_part<AllocationPolicy, Afs>, make_part<PlaceStage, Pack>,
                     Knowledge::kOracle},
    AllocationPreset{"cluster_autoscaling", "the next workers go to the job whose scale condition is best",
                     "Or, Zhang, Freedman: Resource Elasticity, MLSys 2020, for all jobs at once",
                     make_part<AllocationPolicy, ClusterAutoscaling>, make_part<PlaceStage, Pack>, Knowledge::kVisited},
    AllocationPreset{"edf", "earliest deadline first, every job as large as it may be",
                     "as in Gu et al.: ElasticFlow, ASPLOS 2023", make_part<AllocationPolicy, EarliestDeadline>,
                     make_part<PlaceStage, Pack>, Knowledge::kOracle},
    AllocationPreset{"elastic_tiresias", "tiresias that shrinks the second queue and spends what is left over",
                     "Wu et al.: EDL, TPDS 2022", make_part<AllocationPolicy, ElasticTiresias>,
                     make_part<PlaceStage, MostFree>, Knowledge::kOracle},
    AllocationPreset{"elasticflow", "deadlines are promises: admission, least shares, the rest where it does most",
                     "Gu et al.: ElasticFlow, ASPLOS 2023", make_part<AllocationPolicy, ElasticFlow>,
                     make_part<PlaceStage, Pack>, Knowledge::kOracle},
    AllocationPreset{"ffdl", "the sizes with the largest sum of speed-ups", "Saxena et al.: FfDL, MASCOTS 2020",
                     make_part<AllocationPolicy, Ffdl>, make_part<PlaceStage, Pack>, Knowledge::kOracle},
    AllocationPreset{"fifo", "strictly in order of arrival, every job at the size its user wants", "baseline",
                     make_part<AllocationPolicy, StrictFifo>, make_part<PlaceStage, MostFree>, Knowledge::kOracle,
                     true},
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
                     make_part<AllocationPolicy, Gittins>, make_part<PlaceStage, MostFree>, Knowledge::kOracle, true},
    AllocationPreset{"las", "least attained service first, every job at the size its user wants", "baseline",
                     make_part<AllocationPolicy, LeastAttained>, make_part<PlaceStage, MostFree>, Knowledge::kOracle,
                     true},
    AllocationPreset{"optimus", "one worker at a time to the job whose remaining time falls most",
                     "Peng et al.: Optimus, EuroSys 2018; as in Qiao et al., OSDI 2021",
                     make_part<AllocationPolicy, Optimus>, make_part<PlaceStage, MostFree>, Knowledge::kOracle},
    AllocationPreset{"pollux", "the placement with the best harmonic mean of speed-ups in goodput",
                     "Qiao et al.: Pollux, OSDI 2021", make_part<AllocationPolicy, Pollux>, make_part<PlaceStage, Pack>,
                     Knowledge::kLearntByJob},
    AllocationPreset{"shockwave", "a window of rounds with the largest welfare, fair finish times and a short makespan",
                     "Zheng et al.: Shockwave, NSDI 2023", make_part<AllocationPolicy, Shockwave>,
                     make_part<PlaceStage, MostFree>, Knowledge::kOracle},
    AllocationPreset{"sia", "a binary program over jobs and configurations, by normalized goodput",
                     "Jayaram Subramanya et al.: Sia, SOSP 2023", make_part<AllocationPolicy, Sia>,
                     make_part<PlaceStage, Regroup>, Knowledge::kLearntByJob},
    AllocationPreset{"srtf", "shortest remaining time first, every job at the size its user wants", "baseline",
                     make_part<AllocationPolicy, ShortestRemaining>, make_part<PlaceStage, MostFree>,
                     Knowledge::kOracle},
    AllocationPreset{"themis", "leases, auctioned among the jobs that fare worst against an equal share",
                     "Mahajan et al.: Themis, NSDI 2020", make_part<AllocationPolicy, Themis>,
                     make_part<PlaceStage, Pack>, Knowledge::kOracle},
    AllocationPreset{"tidal", "one price per slot; each job takes the size that is worth most to it", "Tidepool",
                     make_part<AllocationPolicy, tidal::Tidal>, make_part<PlaceStage, Pack>, Knowledge::kLearnt},
    AllocationPreset{"tiresias", "two queues by attained service, every job at the size its user wants",
                     "Gu et al.: Tiresias, NSDI 2019; as in Qiao et al., OSDI 2021",
                     make_part<AllocationPolicy, Tiresias>, make_part<PlaceStage, MostFree>, Knowledge::kOracle, true},
    AllocationPreset{"tiresias_dlas", "three queues by attained service, every job at the size its user wants",
                     "Gu et al.: Tiresias, NSDI 2019; as in Gu et al.: ElasticFlow, ASPLOS 2023",
                     make_part<AllocationPolicy, TiresiasDlas>, make_part<PlaceStage, MostFree>, Knowledge::kOracle,
                     true},
};

// An unknown name is an error that lists the known ones.
[[nodiscard]] Result<AllocationPreset> find_allocation_preset(std::string_view name);

}  // namespace tidepool::policies::cluster
