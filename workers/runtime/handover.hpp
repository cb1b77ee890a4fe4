// What the members of a new generation do first: find the newest committed step among them and give
// its state to each that does not have it. The same code serves a grow, a shrink, a death and a
// restart from a checkpoint.
#pragma once

#include <cstdint>
#include <optional>

#include "api/worker_protocol.hpp"
#include "base/result.hpp"
#include "workers/runtime/comm/comm.hpp"
#include "workers/runtime/progress.hpp"
#include "workers/runtime/replica_state.hpp"
#include "workers/runtime/state_transfer.hpp"

namespace tidepool::runtime {

// States that outlived their processes. Asked only when no replica lives.
class StateSource {
 public:
  virtual ~StateSource() = default;
  // The newest step that may be had here; nothing if there is none.
  [[nodiscard]] virtual std::optional<std::int64_t> newest_step() = 0;
  // Fills the replica's memory with the newest; if that is damaged, drops it, leaves the memory and returns nothing.
  [[nodiscard]] virtual std::optional<Progress> restore_newest() = 0;
  // The newest that was found here and dropped, so far.
  [[nodiscard]] virtual std::optional<api::UnusedState> newest_unused() const = 0;
};

struct HandoverOutcome {
  Progress progress;                       // the same on all ranks but for `finishing`
  std::int64_t bytes_moved = 0;            // over all receivers, at the switch; not what was sent ahead
  bool received = false;                   // this rank's memory was overwritten by another's
  bool restored = false;                   // this rank's memory came from its StateSource
  std::optional<api::UnusedState> unused;  // newer than what was restored, of any rank: the same on all
};

// All ranks of `comm` call it. An error leaves this rank's state as it was; kInvalidArgument
// means that the ranks registered different state, which no retry mends.
struct HandoverMeans {
  StateTransfer& transfer;
  StateSource* kept = nullptr;  // may be none
};
[[nodiscard]] Result<HandoverOutcome> hand_over(Comm& comm, const ReplicaState& state, const Progress& mine,
                                                HandoverMeans means);

}  // namespace tidepool::runtime
