// The journal: every fact and decision in order, and with them the data for later reads (events, measurements,
// decisions, tokens). One batch is one SQLite transaction; nothing in it may be carried out or acknowledged before
// commit() has returned ok. Lookups of turns have a connection of their own (schedulerd/live/journal_reads.hpp).
//
// After an error of commit() the batch may or may not be on disk. The only valid response is to stop and recover from
// the disk. WAL, synchronous=FULL, one writing connection that also does the checkpoints. One thread at a time owns a
// journal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/event.hpp"
#include "core/state/fact.hpp"
#include "core/state/plan.hpp"
#include "schedulerd/live/service/clock.hpp"
#include "schedulerd/live/service/service.hpp"
#include "schedulerd/live/store/snapshot_store.hpp"

namespace tidepool::live {

struct JournalOptions {
  std::string vfs;                                          // empty = the system's own
  std::uint64_t snapshot_every = 2'000;                     // rows between two snapshots, at least
  Duration retention = Duration::seconds(30 * 24 * 3600);   // of decisions, events and their rows of the journal
  std::int64_t bytes_max = 0;                               // above it the oldest data are removed early; 0 = no limit
  Duration snapshots_apart = Duration::seconds(24 * 3600);  // distance of older ones that are kept for replays
  EventSeq progress_events_max = 20'000;   // newest events among which progress and sound audits are kept
  std::int64_t metric_points_max = 2'048;  // per job; older points are thinned evenly
  // The fields of an ended job in lists (EndedRow::listed); null: lists read the whole job.
  std::string (*listed_fields)(const core::Job& job) = nullptr;
};

// A stored row; its digest has been checked.
struct JournalRow {
  std::uint64_t seq = 0;
  Instant at;
  bool is_decision = false;
  std::string body;  // canonical JSON of the fact or the decision
};

class Journal {
 public:
  // Creates the file if needed and checks all of it; a damaged file or one of a newer version is an error.
  [[nodiscard]] static Result<Journal> open(const std::string& path, const JournalOptions& options);
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;
  ~Journal();

  // --- one batch: the first append opens it ------------------------------------------------------
  Status append(const core::TimedFact& fact);
  Status append(const core::Decision& decision);
  Status append(const std::vector<core::Event>& events);
  Status append(JobId job, const MetricPoint& point);
  Status append(const TokenRecord& token);
  Status revoke_token(const std::string& id);
  // Replaces the stored value of the token or the node.
  Status append(const leader::NodeToken& token);
  Status append(const leader::NodeCredential& credential);
  // Kept for 24 hours of wall-clock time.
  Status append(const Idempotency& request, const Receipt& receipt, std::int64_t unix_s);
  // The worker's job and node, for reads after its end.
  Status note_worker(const core::Worker& worker);
  // The job has ended and left the state; from now on it is read from here.
  Status append_ended(const core::Job& job);
  // Stores those of the jobs that are not stored yet, as after an upgrade. Requires: no batch is open. Commits.
  Status complete_ended(const std::vector<std::shared_ptr<const core::Job>>& jobs);
  // Ignored if the version is already stored.
  Status append(const PolicyVersion& version);
  Status note_checks(const std::string& name, const std::string& version, const PolicyChecks& checks);
  // Null = there is no shadow.
  Status set_shadow_report(const ShadowReport* report);
  // Makes the batch durable; no effect without appends.
  Status commit(const StoredClock& clock);
  [[nodiscard]] bool in_batch() const;

  [[nodiscard]] Result<std::optional<ShadowReport>> shadow_report();

  // --- upkeep ------------------------------------------------------------------------------------
  // There is a snapshot to write, or something of the past to drop. Where much changes snapshots lie farther apart, by
  // what the newest one cost: they take a bounded part of the disk's time, and a restart replays more rows.
  [[nodiscard]] bool has_upkeep() const;
  // Adds a piece of the upkeep to the batch, small enough that no answer waits for more than that; opens a batch if
  // there is none. `state` is that of the rows so far.
  Status add_upkeep(const core::ClusterState& state, const StoredClock& clock);
  // All of the upkeep at once, and a snapshot whether it is due or not: at the end, when no request waits. Commits.
  Status snapshot(const core::ClusterState& state, const StoredClock& clock);
  // Moves the write-ahead log into the file when it has grown.
  Status checkpoint_if_due();

  // --- recovery ----------------------------------------------------------------------------------
  [[nodiscard]] std::uint64_t last_seq() const;
  [[nodiscard]] Result<std::optional<StoredClock>> clock();
  // Newest first.
  [[nodiscard]] Result<std::vector<SnapshotHead>> snapshots();
  // None = it is damaged.
  [[nodiscard]] Result<std::optional<core::ClusterState>> state_of(std::uint64_t snapshot);
  // Recovery begins with this snapshot (0 and an empty state = with none). Commits.
  Status go_on_from(std::uint64_t snapshot, const core::ClusterState& state);
  // Which of the daemon's own policies made the newest decision of such a policy; decisions of policy files are
  // skipped, however many there are.
  [[nodiscard]] Result<std::optional<std::string>> own_policy();
  // Every row above `after` in order, without gaps; a damaged or missing one is an error that names it.
  Status replay(std::uint64_t after, const std::function<Status(const JournalRow&)>& on_row);

 private:
  struct Impl;
  explicit Journal(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidepool::live
