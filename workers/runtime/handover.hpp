// What the members of a new generation do first: they find the newest committed step among them and send its
// state to each member that lacks it. Growing, shrinking, a death and a restart from a checkpoint all use this
// code.
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

// States that outlived their processes. Used only when no live replica has a state.
class StateSource {
 public:
  virtual ~StateSource() = default;
  // The newest step that is available here; nothing if there is none.
  [[nodiscard]] virtual std::optional<std::int64_t> newest_step() = 0;
  // Fills the replica's memory with the newest state. If that state is damaged, drops it, leaves the memory as it was
  // and returns nothing.
  [[nodiscard]] virtual std::optional<Progress> restore_newest() = 0;
  // The newest state that was found here and dropped so far.
  [[nodiscard]] virtual std::optional<api::UnusedState> newest_unused() const = 0;
};

struct HandoverOutcome {
  Progress progress;                       // the same on all ranks, except for `finishing`
  std::int64_t bytes_moved = 0;            // over all receivers, at the switch; excludes what was sent ahead
  bool received = false;                   // this rank's memory was overwritten by another's
  bool restored = false;                   // this rank's memory came from its StateSource
  std::optional<api::UnusedState> unused;  // newer than the restored state, found by any rank: the same on all
};

// All ranks of `comm` call hand_over(). An error leaves this rank's state as it was; kInvalidArgument means that the
// ranks registered different state, so a retry cannot help.
struct HandoverMeans {
  StateTransfer& transfer;
  StateSource* kept = nullptr;  // may be null
};
[[nodiscard]] Result<HandoverOutcome> hand_over(Comm& comm, const ReplicaState& state, const Progress& mine,
                                                HandoverMeans means);

}  // namespace tidepool::runtime
