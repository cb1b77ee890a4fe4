// THE table of policies that size the whole cluster at once. A row joins one such policy and one place stage.
// A new policy is one file beside this one and one line here; nothing else lists them.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "policies/cluster/allocation_policy.hpp"
#include "policies/cluster/optimus.hpp"
#include "policies/cluster/plain_queues.hpp"
#include "policies/cluster/tidal.hpp"
#include "policies/cluster/tiresias.hpp"
#include "policies/make_part.hpp"
#include "policies/place/most_free.hpp"
#include "policies/place/pack.hpp"

namespace tidepool::policies::cluster {

// What the policy is meant to know, so that a comparison is of like with like.
enum class Knowledge {
  kOracle,  // the true profile at the declared batch, as its authors' evaluation gives it
  kLearnt,  // only what jobs have measured while they ran; jobs choose their batches
};

struct AllocationPreset {
  std::string_view name;
  std::string_view summary;  // one line
  std::string_view source;   // where the rule was published
  std::unique_ptr<const AllocationPolicy> (*policy)();
  std::unique_ptr<const PlaceStage> (*place)();
  Knowledge knowledge;
};

inline constexpr std::array kAllocationPresets{
    AllocationPreset{"fifo", "strictly in order of arrival, every job at the size its user wants", "baseline",
                     make_part<AllocationPolicy, StrictFifo>, make_part<PlaceStage, MostFree>, Knowledge::kOracle},
    AllocationPreset{"las", "least attained service first, every job at the size its user wants", "baseline",
                     make_part<AllocationPolicy, LeastAttained>, make_part<PlaceStage, MostFree>, Knowledge::kOracle},
    AllocationPreset{"optimus", "one worker at a time to the job whose remaining time falls most",
                     "Peng et al.: Optimus, EuroSys 2018; as in Qiao et al., OSDI 2021",
                     make_part<AllocationPolicy, Optimus>, make_part<PlaceStage, MostFree>, Knowledge::kOracle},
    AllocationPreset{"srtf", "shortest remaining time first, every job at the size its user wants", "baseline",
                     make_part<AllocationPolicy, ShortestRemaining>, make_part<PlaceStage, MostFree>,
                     Knowledge::kOracle},
    AllocationPreset{"tidal", "one price per slot; each job takes the size that is worth most to it", "Tidepool",
                     make_part<AllocationPolicy, Tidal>, make_part<PlaceStage, Pack>, Knowledge::kLearnt},
    AllocationPreset{"tiresias", "two queues by attained service, every job at the size its user wants",
                     "Gu et al.: Tiresias, NSDI 2019; as in Qiao et al., OSDI 2021",
                     make_part<AllocationPolicy, Tiresias>, make_part<PlaceStage, MostFree>, Knowledge::kOracle},
};

// An unknown name is an error that lists the known ones.
[[nodiscard]] Result<AllocationPreset> find_allocation_preset(std::string_view name);

}  // namespace tidepool::policies::cluster
