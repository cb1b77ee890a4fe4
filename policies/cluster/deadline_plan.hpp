// One job's plan as in ElasticFlow: which size it has from when to when, so that it ends by its deadline with as few
// slots as possible (Gu et al., ASPLOS 2023, section 4.1; progressive filling).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policies/cluster/size_levels.hpp"
#include "policies/cluster/slot_profile.hpp"

namespace tidepool::policies::cluster {

// What a plan is made for. Times in whole seconds after now.
struct Demand {
  std::vector<Level> levels;  // not empty
  double steps_left = 0;      // above 0
  std::int64_t deadline_s = 0;
};

struct DeadlinePlan {
  std::vector<Stretch> stretches;  // the first at 0
  std::int64_t ends_s = 0;         // last step done
  std::int64_t frees_s = 0;        // its slots are free: the next boundary of a slot
  bool in_time = false;

  [[nodiscard]] int size_now() const { return stretches.empty() ? 0 : stretches.front().size; }
};

// The least plan into what is free. If none ends in time: the fastest one. `now_size` forces its size in the first step
// of the profile; requires: one of its levels, free there.
[[nodiscard]] DeadlinePlan plan_for(const Demand& demand, SlotProfile profile, std::int64_t slot_s,
                                    std::optional<int> now_size = std::nullopt);

}  // namespace tidepool::policies::cluster
