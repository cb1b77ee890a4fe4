// How far a replica has trained: everything besides the registered memory that must go with it, to a joining worker and
// to a checkpoint. Plain data; stored as whole numbers, it is the same bit for bit everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "workers/runtime/data_ledger.hpp"
#include "workers/runtime/numerics/step_schedule.hpp"

namespace tidepool::runtime {

struct Progress {
  bool has_state = false;  // false: a joining worker, whose own initial values are used only if no member has a state
  std::int64_t steps = 0;  // committed
  bool finishing = false;  // the program has reported that its last step is committed
  double last_loss = 0;    // mean over the last committed step's samples; NaN: not reported
  DataLedger::State ledger;
  ScheduleState schedule;  // of batch and learning rate
};

inline constexpr std::size_t kProgressWords = 8 + kScheduleWords;
using ProgressWords = std::array<std::int64_t, kProgressWords>;

[[nodiscard]] ProgressWords to_words(const Progress& progress);
// Converts words that to_words() made on another rank; exactly kProgressWords of them.
[[nodiscard]] Progress progress_from_words(std::span<const std::int64_t> words);

// Checks words from a file, which may be of another version or for other data: an error unless training can continue
// from them.
[[nodiscard]] Result<Progress> check_progress_words(std::span<const std::int64_t> words, std::uint64_t samples);

}  // namespace tidepool::runtime
