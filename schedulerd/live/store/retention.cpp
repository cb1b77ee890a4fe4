#include "schedulerd/live/store/retention.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tidepool::live {

Status Retention::prepare(Database& database) {
  const std::pair<Statement*, const char*> texts[] = {
      {&drop_rows_, "DELETE FROM journal WHERE seq<=?1 AND at_us<?2 AND seq<(SELECT min(seq) FROM journal)+?3"},
      {&drop_events_, "DELETE FROM events WHERE at_us<?1 AND seq<(SELECT min(seq) FROM events)+?2"},
      {&drop_progress_,
       "DELETE FROM events WHERE seq>=?1 AND seq<?2 AND (type='job.progressed' OR (type='data.epoch_audited' "
       "AND data->>'checksum_ok' AND data->>'used'=data->>'expected'))"},
      {&drop_decisions_,
       "DELETE FROM decisions WHERE at_us<?1 AND id<>?2 AND id<(SELECT min(id) FROM decisions WHERE id<>?2)+?3"},
      {&drop_decision_jobs_,
       "DELETE FROM decision_jobs WHERE (job,decision) IN (SELECT job,decision FROM decision_jobs "
       "WHERE decision<(SELECT coalesce(min(id),0) FROM decisions WHERE id<>?1) LIMIT ?2)"},
      {&drop_receipts_,
       "DELETE FROM idempotency WHERE (token,key) IN (SELECT token,key FROM idempotency WHERE unix_s<?1 LIMIT ?2)"},
      {&find_ended_, "SELECT id FROM ended_jobs WHERE finished_us<?1 ORDER BY finished_us LIMIT ?2"},
      {&drop_ended_, "DELETE FROM ended_jobs WHERE id=?1"},
      {&drop_metrics_, "DELETE FROM job_metrics WHERE job=?1"},
      {&drop_placements_, "DELETE FROM placements WHERE job=?1"},
      {&oldest_event_, "SELECT coalesce(min(seq),0) FROM events"},
      {&changed_, "SELECT changes()"},
  };
  for (const auto& [statement, text] : texts) {
    auto prepared = database.prepare(text);
    if (!prepared.ok()) return prepared.error();
    *statement = *std::move(prepared);
  }
  return oldest_event_.each([&](const Row& row) { progress_from_ = row.integer(0); });
}

Result<bool> Retention::drop(const Bounds& bounds, int rows) {
  bool more = false;
  const auto note = [&](const Status& dropped) -> Status {
    TP_TRY(dropped);
    return changed_.each([&](const Row& row) { more = more || row.integer(0) >= rows; });
  };
  const std::int64_t since = bounds.keep_since.count_us();
  TP_TRY(note(drop_rows_.run(bounds.covered, since, rows)));
  TP_TRY(note(drop_events_.run(since, rows)));
  TP_TRY(note(drop_decisions_.run(since, bounds.kept_decision, rows)));
  TP_TRY(note(drop_decision_jobs_.run(bounds.kept_decision, rows)));
  TP_TRY(note(drop_receipts_.run(bounds.receipts_until_s, rows)));
  const auto ended = drop_ended(since, rows);
  if (!ended.ok()) return ended.error();
  more = more || *ended;
  if (progress_from_ <= bounds.progress_until) {
    const std::int64_t until = std::min(bounds.progress_until + 1, progress_from_ + rows);
    TP_TRY(drop_progress_.run(progress_from_, until));
    progress_from_ = until;
    more = more || progress_from_ <= bounds.progress_until;
  }
  return more;
}

Result<bool> Retention::drop_ended(std::int64_t since_us, int rows) {
  std::vector<std::int64_t> jobs;
  TP_TRY(find_ended_.each([&](const Row& row) { jobs.push_back(row.integer(0)); }, since_us, rows));
  for (const std::int64_t job : jobs) {
    TP_TRY(drop_metrics_.run(job));
    TP_TRY(drop_placements_.run(job));
    TP_TRY(drop_ended_.run(job));
  }
  return static_cast<int>(jobs.size()) == rows;
}

}  // namespace tidepool::live
