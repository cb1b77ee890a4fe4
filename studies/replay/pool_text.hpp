// A pool of nodes as `--pool` describes it: settings apart by commas, of which slots and max must be given.
//   name=gpu,slots=8,max=16,min=0,type=v100,price=2.50,worth=5.00,idle=10m,lead=3m,spread=0.2,create-fails=0.05,
//   never-joins=0.02,spot,reclaim-every=12h,notice=2m
// What is left out is as a daemon has it (docs/providers.md), and its provider has no faults.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "sim/pool_provider.hpp"

namespace tidepool::sim {

// An error names the setting and what it may be.
[[nodiscard]] Result<PoolModel> parse_pool(std::string_view text);

}  // namespace tidepool::sim
