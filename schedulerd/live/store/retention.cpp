#include "schedulerd/live/store/retention.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "schedulerd/live/store/routine_events.hpp"

namespace tidepool::live {

Status Retention::prepare(Database& database) {
  const std::string drop_routine =
      "DELETE FROM events WHERE seq>=?1 AND seq<?2 AND (" + std::string(kRoutineEvents) + ")";
  const std::pair<Statement*, const char*> texts[] = {
      {&drop_rows_, "DELETE FROM journal WHERE seq<=?1 AND at_us<?2 AND seq<(SELECT min(seq) FROM journal)+?3"},
      {&drop_events_, "DELETE FROM events WHERE at_us<?1 AND seq IN (SELECT seq FROM events ORDER BY seq LIMIT ?2)"},
      {&drop_progress_, drop_routine.c_str()},
      {&drop_decisions_,
       "DELETE FROM decisions WHERE at_us<?1 AND id IN (SELECT id FROM decisions WHERE id<>?2 ORDER BY id LIMIT ?3)"},
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
  TP_TRY(database.prepare_all(texts));
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

Status SizeLimit::prepare(Database& database) {
  auto size = database.prepare(
      "SELECT (p.page_count-f.freelist_count)*s.page_size FROM pragma_page_count p, pragma_freelist_count f, "
      "pragma_page_size s");
  if (!size.ok()) return size.error();
  size_in_use_ = *std::move(size);
  auto oldest = database.prepare(
      "SELECT min(coalesce((SELECT at_us FROM journal WHERE seq<=?1 ORDER BY seq LIMIT 1),?3),"
      "coalesce((SELECT at_us FROM events ORDER BY seq LIMIT 1),?3),"
      "coalesce((SELECT at_us FROM decisions WHERE id<>?2 ORDER BY id LIMIT 1),?3),"
      "coalesce((SELECT min(finished_us) FROM ended_jobs),?3))");
  if (!oldest.ok()) return oldest.error();
  oldest_left_ = *std::move(oldest);
  return ok_status();
}

Result<bool> SizeLimit::move_on(const Retention::Bounds& bounds, const Heads& heads) {
  if (bytes_max_ <= 0) return false;
  std::int64_t bytes = 0;
  TP_TRY(size_in_use_.each([&](const Row& row) { bytes = row.integer(0); }));
  if (bytes <= bytes_max_) {
    frontier_.reset();
    told_ = false;
    return false;
  }
  Instant oldest = heads.next;
  TP_TRY(oldest_left_.each([&](const Row& row) { oldest = std::min(oldest, Instant::from_micros(row.integer(0))); },
                           bounds.covered, bounds.kept_decision, heads.next.count_us()));
  const Instant from = std::max(bounds.keep_since, oldest);
  if (from >= heads.needed) {
    tell(bytes);
    return false;
  }
  const Duration step = Duration::micros((heads.needed - from).count_us() / 64);
  frontier_ = std::min(heads.needed, from + std::max(step, Duration::seconds(1)));
  return true;
}

void SizeLimit::tell(std::int64_t bytes) {
  if (std::exchange(told_, true)) return;
  spdlog::warn(
      "event=retention_size_exceeded bytes={} limit={} why=\"what is left is needed at a restart, or is of jobs that "
      "have not ended\" next=\"raise --retention-size\"",
      bytes, bytes_max_);
}

}  // namespace tidepool::live
