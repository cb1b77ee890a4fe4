#include "schedulerd/live/policies/recorded_rounds.hpp"

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "core/codec/codec.hpp"
#include "schedulerd/live/policies/spent.hpp"
#include "schedulerd/live/store/recovery.hpp"
#include "schedulerd/live/store/snapshot_store.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {

namespace host = policies::host;

namespace {

// Each a snapshot, or 0 for the journal's begin; a replay goes through the rows after it.
struct Reach {
  std::uint64_t start = 0;  // for what is asked
  std::uint64_t after = 0;  // of the farthest replay
};

Result<std::int64_t> number_from(Database& database, const char* sql, std::int64_t argument) {
  std::int64_t found = 0;
  auto query = database.prepare(sql);
  if (!query.ok()) return query.error();
  TP_TRY(query->each([&](const Row& row) { found = row.maybe_integer(0).value_or(0); }, argument));
  return found;
}

// The newest snapshot that lies before `since`, or else where the journal begins.
Result<Reach> reach_of(Database& database, Instant since) {
  const auto first_row = number_from(database, "SELECT min(seq) FROM journal WHERE seq>?1", 0);
  if (!first_row) return first_row.error();
  const auto heads = snapshot_heads(database);
  if (!heads) return heads.error();
  std::optional<std::uint64_t> oldest;
  std::optional<std::uint64_t> before;  // the newest of those that `since` does not come before
  for (const SnapshotHead& head : *heads) {
    if (head.seq + 1 < static_cast<std::uint64_t>(*first_row)) break;  // rows after it are gone
    oldest = head.seq;
    if (head.at <= since && !before) before = head.seq;
  }
  const bool whole = *first_row == 1 || !oldest;  // nothing was dropped yet
  const std::uint64_t after = whole ? 0 : *oldest;
  return Reach{.start = before.value_or(after), .after = after};
}

class Replay {
 public:
  Replay(const PolicyEvaluator::ReplayAsked& asked, const PolicyEvaluator::Setup& setup, std::stop_token stop)
      : asked_(asked),
        setup_(setup),
        stop_(std::move(stop)),
        process_(asked.policy.file.for_host(), setup.host_program),
        rounds_(setup.parts),
        spent_(setup.patience) {
    result_.report.file = asked.policy.ref;
    result_.from = result_.to = result_.oldest = asked.since;
  }

  Result<PolicyReplay> run(Database& database) {
    auto reach = reach_of(database, asked_.since);
    if (!reach) return reach.error();
    const auto oldest = number_from(database, "SELECT at_us FROM journal WHERE seq>?1 ORDER BY seq LIMIT 1",
                                    static_cast<std::int64_t>(reach->after));
    if (!oldest) return oldest.error();
    result_.oldest = Instant::from_micros(*oldest);
    result_.complete = result_.oldest <= asked_.since;
    auto count = number_from(database, "SELECT count(*) FROM journal WHERE kind='decision' AND at_us>=?1",
                             asked_.since.count_us());
    if (!count) return count.error();
    stride_ = std::max<std::int64_t>(1, (*count + asked_.rounds_max - 1) / asked_.rounds_max);
    auto engine = engine_at(database, reach->start);
    if (!engine) return engine.error();
    TP_TRY(go_through(database, reach->start, *engine));
    return std::move(result_);
  }

 private:
  Result<core::Engine> engine_at(Database& database, std::uint64_t snapshot) {
    if (snapshot == 0) return core::Engine(setup_.parts);
    auto state = read_snapshot(database, snapshot);
    if (!state) return state.error();
    if (!*state) return io_error("the snapshot that the replay begins with is damaged; ask for a shorter time");
    return core::Engine(setup_.parts, **std::move(state));
  }

  Status go_through(Database& database, std::uint64_t after, core::Engine& engine) {
    auto rows = database.prepare("SELECT seq,at_us,kind,body FROM journal WHERE seq>?1 ORDER BY seq");
    if (!rows.ok()) return rows.error();
    Status outcome = ok_status();
    TP_TRY(rows->each(
        [&](const Row& row) {
          if (outcome.ok() && stop_.stop_requested())
            outcome = Error{ErrorCode::kUnavailable, "the daemon is stopping"};
          if (!outcome.ok()) return;
          const JournalRow stored{static_cast<std::uint64_t>(row.integer(0)), Instant::from_micros(row.integer(1)),
                                  row.text(2) == "decision", row.text(3)};
          outcome = apply_row(engine, stored);
          if (outcome.ok() && stored.is_decision && stored.at >= asked_.since) {
            outcome = on_decision(stored.at, engine.view());
          }
        },
        after));
    return outcome;
  }

  Status on_decision(Instant at, const core::ClusterState& state) {
    if (result_.rounds_found++ % stride_ != 0) return ok_status();
    if (spent_.all()) {
      return invalid_argument(core::short_name(asked_.policy.ref) + " took " + to_text(setup_.patience) + " for " +
                              std::to_string(asked_rounds_) +
                              " of the recorded rounds, and others wait; ask for fewer rounds, or give it less wall "
                              "time in its policy.yaml");
    }
    ++asked_rounds_;
    const host::RoundRequest question{.state = state, .now = at, .file = asked_.policy.ref, .number = 1};
    const core::PolicyRound round = spent_.on([&] { return rounds_.ask(process_, asked_.policy.params, question); });
    add(rounds_.compare(round, question), state);
    return ok_status();
  }

  void add(const host::RoundComparison& comparison, const core::ClusterState& state) {
    if (result_.report.rounds == 0 && result_.report.faults.empty()) result_.from = comparison.at;
    result_.to = comparison.at;
    result_.report.add(comparison);
    for (const host::RoundDifference& difference : comparison.differences) {
      PolicyReplay::JobSum& sum = result_.jobs[difference.job];
      const int slots = state.find_job(difference.job)->spec.gpus_per_worker;
      ++sum.different;
      sum.live_slot_rounds += double(difference.live) * slots;
      sum.candidate_slot_rounds += double(difference.candidate) * slots;
    }
  }

  const PolicyEvaluator::ReplayAsked& asked_;
  const PolicyEvaluator::Setup& setup_;
  std::stop_token stop_;
  host::PolicyHost process_;
  host::FileRounds rounds_;
  Spent spent_;
  std::int64_t asked_rounds_ = 0;
  std::int64_t stride_ = 1;
  PolicyReplay result_;
};

}  // namespace

Result<PolicyReplay> replay_rounds(const PolicyEvaluator::ReplayAsked& asked, const PolicyEvaluator::Setup& setup,
                                   const std::stop_token& stop) {
  if (setup.journal.empty()) return not_found("this daemon keeps no history");
  auto database = Database::open(setup.journal, {.read_only = true, .vfs = ""});
  if (!database.ok()) return database.error();
  database->no_checkpoint_on_close();
  // One view of the file from first to last, whatever is written meanwhile.
  TP_TRY(database->execute("BEGIN"));
  return Replay(asked, setup, stop).run(*database);
}

}  // namespace tidepool::live
