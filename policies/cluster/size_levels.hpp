// The sizes that ElasticFlow considers for a job: powers of two at which it can run, up to its largest size, with the
// speed at each (Gu et al., "ElasticFlow", ASPLOS 2023, section 4.3: buddy allocation).
#pragma once

#include <vector>

#include "policies/cluster/cluster_view.hpp"

namespace tidepool::policies::cluster {

struct Level {
  int size = 0;
  double speed = 0;  // steps a second, above 0
};

// Ascending; on as few nodes as possible.
[[nodiscard]] std::vector<Level> levels_of(const JobRow& job, int slots, int slots_per_node);

// The largest level of at most `slots`; none = {0, 0}.
[[nodiscard]] Level level_within(const std::vector<Level>& levels, int slots);

}  // namespace tidepool::policies::cluster
