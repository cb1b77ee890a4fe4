#include "schedulerd/live/store/journal_upgrade.hpp"

#include <spdlog/spdlog.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/digest.hpp"
#include "base/json.hpp"
#include "core/codec/codec.hpp"
#include "core/state/ended_job.hpp"
#include "schedulerd/live/store/ended_rows.hpp"
#include "schedulerd/live/store/journal_schema.hpp"
#include "schedulerd/live/store/snapshot_store.hpp"

namespace tidepool::live {
namespace {

struct OldSnapshot {
  std::uint64_t seq = 0;
  std::string body;
};

// None: there is no whole one, and the rows lead to the state from the journal's begin.
Result<std::optional<OldSnapshot>> newest_snapshot(Database& database) {
  std::optional<OldSnapshot> found;
  auto query = database.prepare("SELECT seq,body,digest FROM snapshots ORDER BY seq");
  if (!query.ok()) return query.error();
  TP_TRY(query->each([&](const Row& row) {
    OldSnapshot snapshot{static_cast<std::uint64_t>(row.integer(0)), row.text(1)};
    const std::uint64_t digest = Digest().mix(snapshot.seq).mix("snapshot").mix(snapshot.body).value();
    if (digest == static_cast<std::uint64_t>(row.integer(2))) found = std::move(snapshot);
  }));
  return found;
}

// As this version has it, but for the jobs that have ended.
Result<core::ClusterState> state_of(const OldSnapshot& snapshot) {
  auto document = parse_json(snapshot.body, core::kOwnJson);
  if (!document.ok()) return document.error();
  if (!document->is_object()) return invalid_argument("a state must be an object");
  document->emplace("ended", nlohmann::json::array());
  document->emplace("ended_counts", nlohmann::json{{"succeeded", 0}, {"failed", 0}, {"cancelled", 0}});
  return core::state_from_json(*document);
}

Status drop_ended_jobs(Database& database, core::ClusterState& state) {
  EndedRows rows;
  TP_TRY(rows.prepare(database));
  std::vector<JobId> left;
  for (const auto& [id, job] : state.jobs) {
    if (core::has_left(*job)) left.push_back(id);
  }
  IdSet<JobId> forgotten;
  for (const JobId id : left) TP_TRY(rows.add(*core::take_out(state, id, forgotten), ""));
  return ok_status();
}

Status write_rows(Database& database, std::uint64_t seq, const core::ClusterState& state) {
  SnapshotStore store;
  TP_TRY(store.prepare(database));
  store.begin(seq, state);
  while (store.under_way()) TP_TRY(store.write(1'000));
  return ok_status();
}

Status upgrade_oldest(Database& database, const std::string& path) {
  const auto snapshot = newest_snapshot(database);
  if (!snapshot.ok()) return snapshot.error();
  TP_TRY(database.execute("DROP TABLE snapshots; ALTER TABLE decisions RENAME TO decisions_of_7"));
  TP_TRY(database.execute(kSchemaOf8));
  TP_TRY(database.execute(kSchemaOf9));
  TP_TRY(
      database.execute("INSERT INTO decisions SELECT id,at_us,json_extract(body,'$.policy'),0,body FROM decisions_of_7;"
                       "DROP TABLE decisions_of_7"));
  if (*snapshot) {
    auto state = state_of(**snapshot);
    if (!state.ok()) {
      return io_error(path + ": snapshot " + std::to_string((*snapshot)->seq) + " of schema version " +
                      std::to_string(kOldestVersion) + " cannot be read (" + state.error().message +
                      "); start the version that wrote it");
    }
    TP_TRY(drop_ended_jobs(database, *state));
    TP_TRY(write_rows(database, (*snapshot)->seq, *state));
  }
  return ok_status();
}

Status make_loss_optional(Database& database) {
  TP_TRY(database.execute("ALTER TABLE job_metrics RENAME TO job_metrics_of_10"));
  TP_TRY(database.execute(kMetricsTable));
  return database.execute("INSERT INTO job_metrics SELECT * FROM job_metrics_of_10; DROP TABLE job_metrics_of_10");
}

}  // namespace

Status upgrade_journal(Database& database, const std::string& path, std::int64_t version) {
  TP_TRY(database.execute("BEGIN IMMEDIATE"));
  if (version == kOldestVersion) TP_TRY(upgrade_oldest(database, path));
  if (version == 8) TP_TRY(database.execute(kSchemaOf9));
  if (version < 11) TP_TRY(make_loss_optional(database));
  TP_TRY(database.execute(kSchemaOf12));
  TP_TRY(database.execute(("PRAGMA user_version=" + std::to_string(kSchemaVersion)).c_str()));
  TP_TRY(database.execute("COMMIT"));
  spdlog::info("event=journal_upgraded from={} to={}", version, kSchemaVersion);
  return ok_status();
}

}  // namespace tidepool::live
