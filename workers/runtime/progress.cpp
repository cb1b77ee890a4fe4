#include "workers/runtime/progress.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/check.hpp"

namespace tidepool::runtime {
namespace {

enum Word : std::size_t { kHasState, kSteps, kFinishing, kLastLoss, kEpoch, kCursor, kUsed, kUsedChecksum, kSchedule };
static_assert(kSchedule + kScheduleWords == kProgressWords);

}  // namespace

ProgressWords to_words(const Progress& progress) {
  ProgressWords words{};
  words[kHasState] = progress.has_state ? 1 : 0;
  words[kSteps] = progress.steps;
  words[kFinishing] = progress.finishing ? 1 : 0;
  words[kLastLoss] = std::bit_cast<std::int64_t>(progress.last_loss);
  words[kEpoch] = progress.ledger.epoch;
  words[kCursor] = static_cast<std::int64_t>(progress.ledger.cursor);
  words[kUsed] = static_cast<std::int64_t>(progress.ledger.used.count);
  words[kUsedChecksum] = static_cast<std::int64_t>(progress.ledger.used.checksum);
  std::ranges::copy(to_words(progress.schedule), words.begin() + kSchedule);
  return words;
}

Progress progress_from_words(std::span<const std::int64_t> words) {
  TP_CHECK(words.size() == kProgressWords, "progress has its exact length");
  Progress progress;
  progress.has_state = words[kHasState] != 0;
  progress.steps = words[kSteps];
  progress.finishing = words[kFinishing] != 0;
  progress.last_loss = std::bit_cast<double>(words[kLastLoss]);
  progress.ledger.epoch = words[kEpoch];
  progress.ledger.cursor = static_cast<std::uint64_t>(words[kCursor]);
  progress.ledger.used.count = static_cast<std::uint64_t>(words[kUsed]);
  progress.ledger.used.checksum = static_cast<std::uint64_t>(words[kUsedChecksum]);
  progress.schedule = schedule_from_words(words.subspan(kSchedule).first<kScheduleWords>());
  return progress;
}

Result<Progress> check_progress_words(std::span<const std::int64_t> words, std::uint64_t samples) {
  if (words.size() != kProgressWords) {
    return invalid_argument("it was written by another version: its progress has " + std::to_string(words.size()) +
                            " numbers instead of " + std::to_string(kProgressWords));
  }
  Progress progress = progress_from_words(words);
  if (!progress.has_state || progress.steps < 0 || progress.ledger.epoch < 0 || progress.ledger.cursor >= samples ||
      !is_sound(progress.schedule, progress.steps)) {
    return invalid_argument("its progress does not fit this program's data of " + std::to_string(samples) + " samples");
  }
  return progress;
}

}  // namespace tidepool::runtime
