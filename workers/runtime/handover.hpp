// What the members of a new generation do first: find the newest committed step among them and give
// its state to everyone who does not have it. The same code serves a grow, a shrink and a death.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "workers/runtime/comm.hpp"
#include "workers/runtime/data_ledger.hpp"
#include "workers/runtime/replica_state.hpp"

namespace tidepool::runtime {

// How far a replica is. Travels with the state.
struct Progress {
  bool has_state = false;  // false: a newcomer, whose own initial values count only if nobody has more
  std::int64_t steps = 0;  // committed
  bool finishing = false;  // the program has said that its last step is committed
  double last_loss = 0;    // mean over the last committed step's samples
  DataLedger::State ledger;
};

struct HandoverOutcome {
  Progress progress;             // the same on all ranks
  std::int64_t bytes_moved = 0;  // over all receivers
  bool received = false;         // this rank's memory was overwritten
};

// All ranks of `comm` call it. An error leaves this rank's state as it was; kInvalidArgument means that
// the ranks registered different state, which no retry mends.
[[nodiscard]] Result<HandoverOutcome> hand_over(Comm& comm, ReplicaState& state, const Progress& mine);

}  // namespace tidepool::runtime
