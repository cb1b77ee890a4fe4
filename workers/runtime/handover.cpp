#include "workers/runtime/handover.hpp"

#include <array>
#include <bit>

namespace tidepool::runtime {
namespace {

// One rank's line in the allgather.
enum Field : std::size_t { kHasState, kSteps, kFinishing, kLoss, kEpoch, kCursor, kUsed, kChecksum, kLayout, kFields };
using Line = std::array<std::int64_t, kFields>;

Line to_line(const Progress& progress, std::uint64_t layout) {
  Line line{};
  line[kHasState] = progress.has_state ? 1 : 0;
  line[kSteps] = progress.steps;
  line[kFinishing] = progress.finishing ? 1 : 0;
  line[kLoss] = std::bit_cast<std::int64_t>(progress.last_loss);
  line[kEpoch] = progress.ledger.epoch;
  line[kCursor] = static_cast<std::int64_t>(progress.ledger.cursor);
  line[kUsed] = static_cast<std::int64_t>(progress.ledger.used.count);
  line[kChecksum] = static_cast<std::int64_t>(progress.ledger.used.checksum);
  line[kLayout] = static_cast<std::int64_t>(layout);
  return line;
}

Progress from_line(const std::int64_t* line) {
  Progress progress;
  progress.has_state = true;
  progress.steps = line[kSteps];
  progress.finishing = line[kFinishing] != 0;
  progress.last_loss = std::bit_cast<double>(line[kLoss]);
  progress.ledger.epoch = line[kEpoch];
  progress.ledger.cursor = static_cast<std::uint64_t>(line[kCursor]);
  progress.ledger.used.count = static_cast<std::uint64_t>(line[kUsed]);
  progress.ledger.used.checksum = static_cast<std::uint64_t>(line[kChecksum]);
  return progress;
}

}  // namespace

Result<HandoverOutcome> hand_over(Comm& comm, ReplicaState& state, const Progress& mine) {
  const Line line = to_line(mine, state.layout());
  auto gathered = comm.allgather(line);
  if (!gathered.ok()) return gathered.error();
  const auto line_of = [&](int rank) { return gathered->data() + static_cast<std::size_t>(rank) * kFields; };
  const auto is_newer = [&](int a, int b) {
    const std::int64_t* left = line_of(a);
    const std::int64_t* right = line_of(b);
    return left[kHasState] != right[kHasState] ? left[kHasState] > right[kHasState] : left[kSteps] > right[kSteps];
  };
  int root = 0;  // the lowest rank among the newest
  for (int rank = 1; rank < comm.size(); ++rank) {
    if (is_newer(rank, root)) root = rank;
  }
  std::int64_t receivers = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (line_of(rank)[kLayout] != line_of(0)[kLayout]) {
      return invalid_argument("rank " + std::to_string(rank) +
                              " registered other state than rank 0: all workers of a job must run the same program");
    }
    const bool initial = line_of(rank)[kHasState] == 0 && rank != root;
    if (initial || is_newer(root, rank)) ++receivers;
  }
  HandoverOutcome outcome{.progress = from_line(line_of(root)), .bytes_moved = receivers * state.bytes()};
  outcome.received = comm.rank() != root && (!mine.has_state || mine.steps < outcome.progress.steps);
  if (receivers > 0) TP_TRY(state.hand_over(comm, root, outcome.received));
  return outcome;
}

}  // namespace tidepool::runtime
