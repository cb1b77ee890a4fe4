// The effects of a worker's end: whether it counts as a loss, what happens to the transition it belonged to, and which
// state its job enters when no worker is left.
#pragma once

#include <string>

#include "core/facts/state_change.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// Exit code of a worker that found the job's own settings wrong (api/worker_protocol.md).
inline constexpr int kExitMisconfigured = 2;

struct ExitNotice {
  int exit_code = -1;  // -1 if unknown or ended by a signal
  int signal = 0;
  std::string detail;
  bool never_joined = false;     // as WorkerExited::never_joined
  bool never_stepped = false;    // as WorkerExited::never_stepped
  bool nothing_started = false;  // the node could not start it, which counts against the node and not as a loss
  bool node_stops = false;       // as NodeLost::stopped: not a loss either
};

// The processes have ended: frees their slots. Workers that end together, or before the job has stepped on without the
// first of them, count as one loss for a job. Requires: the workers exist.
void remove_exited_workers(StateChange& change, const std::vector<WorkerId>& ids, const ExitNotice& notice);

// A program that is restarted with each generation has failed: one loss, and the worker keeps its slots.
void count_failed_program(StateChange& change, Job& job, const Worker& worker, const ExitNotice& notice);

// A program that is restarted for each change was asked to end. If it was killed before it reported that it was done,
// its unsaved work is lost: an event says so. Requires: it has ended.
void emit_if_killed(StateChange& change, const Job& job, const Worker& worker, const ExitNotice& notice);

// The worker's program has ended, but its slots are not free: they are quarantined, and the worker no longer counts as
// available. Requires: the worker exists.
void hold_slots(StateChange& change, WorkerId id, const SlotHold& hold, const ExitNotice& notice);

// The workers' node is lost: they keep their slots and no longer count as available. One loss for a job, and none if
// the node was stopped.
void mark_node_lost(StateChange& change, const std::vector<WorkerId>& ids, const NodeLost& lost);

// The end was not reported in time: members that had exited with 0 count as lost after all.
void count_quiet_exits(StateChange& change, Job& job);

// Removes a joining or leaving worker from a transition that is not committed yet; a transition without remaining
// joining workers, or that would split a group of workers, is dropped, and the job continues as it is.
void drop_from_transition(StateChange& change, Job& job, WorkerId id);

// If no worker of the job lives any more, the job holds nothing: it waits again, is parked, or is left to the next
// decision to end.
void reset_job_without_workers(StateChange& change, Job& job);

// A job that waits because all its members were on lost nodes continues with them if all nodes are back: no order has
// reached them since, so they step at the newest generation, and no newer one was committed (fencing).
void take_back(StateChange& change, Job& job);

// From now on the worker is not part of the job's plans; it is stopped when `stop_due` passes (none = at once).
// Requires: the worker exists.
void mark_leaving(StateChange& change, WorkerId id, std::optional<Instant> stop_due);

}  // namespace tidepool::core
