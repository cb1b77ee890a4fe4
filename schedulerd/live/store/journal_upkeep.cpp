#include "schedulerd/live/store/journal_upkeep.hpp"

#include <algorithm>

namespace tidepool::live {
namespace {

constexpr std::int64_t kIdempotencyKept_s = 24 * 3600;
constexpr int kDroppedAtOnce = 256;        // rows of each kind of the past, with one batch
constexpr std::size_t kIdleRows = 256;     // of a snapshot, in a batch of their own
constexpr std::size_t kAddedRows = 16;     // of a snapshot, in a batch that has something else to do
constexpr std::uint64_t kRowsPerLook = 4;  // of the journal, for each row that the newest snapshot had to look at

}  // namespace

Status JournalUpkeep::prepare(Database& database) {
  TP_TRY(snapshots_.prepare(database));
  TP_TRY(size_.prepare(database));
  return past_.prepare(database);
}

bool JournalUpkeep::is_due(std::uint64_t last_seq) const {
  return snapshots_.under_way() || sweeps_ || snapshot_due(last_seq);
}

bool JournalUpkeep::snapshot_due(std::uint64_t last_seq) const {
  return last_seq >= snapshots_.newest() + std::max(options_.snapshot_every, kRowsPerLook * snapshots_.looked_at());
}

Status JournalUpkeep::add(const Position& at, const Batch& batch) {
  if (!snapshots_.under_way() && snapshot_due(at.last_seq)) snapshots_.begin(at.last_seq, at.state);
  if (snapshots_.under_way()) {
    TP_TRY(snapshots_.write(batch.idle ? kIdleRows : kAddedRows + 2 * batch.added));
    sweeps_ = sweeps_ || !snapshots_.under_way();
  }
  return sweeps_ ? sweep(at) : ok_status();
}

Status JournalUpkeep::finish(const Position& at) {
  while (snapshots_.under_way()) TP_TRY(snapshots_.write(kIdleRows));
  if (at.last_seq > snapshots_.newest()) snapshots_.begin(at.last_seq, at.state);
  while (snapshots_.under_way()) TP_TRY(snapshots_.write(kIdleRows));
  for (sweeps_ = true; sweeps_;) TP_TRY(sweep(at));
  return ok_status();
}

// Drops a piece of what has become too old or too much.
Status JournalUpkeep::sweep(const Position& at) {
  const Instant since = size_.keep_since(at.clock.at - options_.retention);
  TP_TRY(snapshots_.drop_heads(since, options_.snapshots_apart));
  const Retention::Bounds bounds{.keep_since = since,
                                 .covered = snapshots_.oldest(),
                                 .progress_until = static_cast<std::int64_t>(at.state.next_event) - 1 -
                                                   static_cast<std::int64_t>(options_.progress_events_max),
                                 .kept_decision = at.own_decision,
                                 .receipts_until_s = at.clock.reading.wall_unix_us / 1'000'000 - kIdempotencyKept_s};
  const auto more = past_.drop(bounds, kDroppedAtOnce);
  if (!more.ok()) return more.error();
  const auto gone = snapshots_.drop_gone(kDroppedAtOnce);
  if (!gone.ok()) return gone.error();
  sweeps_ = *more || *gone;
  const auto& heads = snapshots_.heads();
  if (sweeps_ || heads.size() < 2) return ok_status();
  const auto moved = size_.move_on(bounds, {.next = heads[heads.size() - 2].at, .needed = heads[1].at});
  if (!moved.ok()) return moved.error();
  sweeps_ = *moved;
  return ok_status();
}

}  // namespace tidepool::live
