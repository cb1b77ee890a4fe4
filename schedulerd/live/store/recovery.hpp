// From disk to a running engine: the newest undamaged snapshot, then every fact and decision after it, in order.
// Recovering twice gives the same state as recovering once; nothing is decided here.
#pragma once

#include <cstdint>

#include "base/json.hpp"
#include "base/result.hpp"
#include "core/engine/engine.hpp"
#include "schedulerd/live/service/clock.hpp"
#include "schedulerd/live/store/journal.hpp"

namespace tidepool::live {

struct Recovered {
  core::Engine engine;
  std::optional<StoredClock> clock;  // none at the first start
  std::uint64_t snapshot_seq = 0;    // 0 = none
  std::uint64_t rows_replayed = 0;
  std::shared_ptr<const ShadowReport> shadow = nullptr;  // null = there is no shadow
};

// Repeats one row: applies a fact, accepts a decision.
[[nodiscard]] Status apply_row(core::Engine& engine, const JournalRow& row);

// An error names the row if the journal does not lead to a valid state.
[[nodiscard]] Result<Recovered> recover(Journal& journal, const core::Engine::Parts& parts);

}  // namespace tidepool::live
