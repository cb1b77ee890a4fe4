#include "schedulerd/live/store/journal.hpp"

#include <algorithm>
#include <utility>

#include "base/digest.hpp"
#include "base/json.hpp"
#include "base/version.hpp"
#include "core/codec/row_texts.hpp"
#include "schedulerd/live/store/ended_rows.hpp"
#include "schedulerd/live/store/journal_mark.hpp"
#include "schedulerd/live/store/journal_tables.hpp"
#include "schedulerd/live/store/journal_upkeep.hpp"
#include "schedulerd/live/store/metric_rows.hpp"
#include "schedulerd/live/store/node_trust_rows.hpp"
#include "schedulerd/live/store/sqlite.hpp"

namespace tidepool::live {
namespace {

constexpr int kLogPagesMax = 2'000;  // 8 MB

std::uint64_t digest_of_row(std::uint64_t seq, Instant at, std::string_view kind, std::string_view body) {
  return Digest().mix(seq).mix(static_cast<std::uint64_t>(at.count_us())).mix(kind).mix(body).value();
}

template <class Id>
std::optional<std::int64_t> number_of(const std::optional<Id>& id) {
  return id ? std::optional(static_cast<std::int64_t>(id->number())) : std::nullopt;
}

// Its digest is right, so a backup would lose what came after it for nothing.
Error of_another_version(const std::string& path, std::uint64_t seq, const std::string& why) {
  return conflict(path + ": journal row " + std::to_string(seq) + " cannot be applied by schedulerd " + kVersion +
                  " (" + why + "); it is not damaged, so another version has written it: start that one, which " +
                  "event=recovered in the log names; if that is this one, keep the directory as it is and report it");
}

// Not a policy file, which is named with its version, as in capped@0123456789ab (core::short_name).
bool is_own(const std::string& policy) {
  return policy.find('@') == std::string::npos;
}

}  // namespace

struct Journal::Impl {
  std::string path;
  JournalOptions options;
  Database database;
  JournalMark mark;
  std::uint64_t last_seq = 0;
  std::uint64_t batch_from = 0;  // last_seq when the batch began
  JournalUpkeep upkeep;
  MetricRows metrics;
  EndedRows ended;
  NodeTrustRows node_trust;
  std::uint64_t own_decision = 0;  // the newest that one of the daemon's own policies made; 0 = none

  Statement begin, commit, add_row, add_event, add_decision, add_decision_job;
  Statement add_token, revoke_token, add_receipt;
  Statement set_placement, set_clock, find_ended;
  Statement add_policy, note_checks, set_shadow, drop_shadow;

  Impl(std::string where, JournalOptions with, Database opened)
      : path(std::move(where)),
        options(std::move(with)),
        database(std::move(opened)),
        mark(path + ".mark"),
        upkeep(options),
        metrics(options.metric_points_max) {}

  Status prepare();
  Status load_position();
  Status open_batch();
  Status add(Instant at, std::string_view kind, const std::string& body);
  [[nodiscard]] JournalUpkeep::Position position(const core::ClusterState& state, const StoredClock& clock) const {
    return {.last_seq = last_seq, .own_decision = own_decision, .state = state, .clock = clock};
  }
};

Status Journal::Impl::prepare() {
  const std::pair<Statement*, const char*> texts[] = {
      {&begin, "BEGIN IMMEDIATE"},
      {&commit, "COMMIT"},
      {&add_row, "INSERT INTO journal VALUES(?1,?2,?3,?4,?5)"},
      {&add_event, "INSERT INTO events VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9)"},
      {&add_decision, "INSERT INTO decisions VALUES(?1,?2,?3,?4,NULL)"},
      {&add_decision_job, "INSERT OR IGNORE INTO decision_jobs VALUES(?1,?2)"},
      {&add_token, "INSERT INTO tokens VALUES(?1,?2,?3,?4,?5,?6,?7,?8)"},
      {&revoke_token, "UPDATE tokens SET revoked=1 WHERE id=?1"},
      {&add_receipt, "INSERT OR REPLACE INTO idempotency VALUES(?1,?2,?3,?4,?5,?6)"},
      {&set_placement, "INSERT OR REPLACE INTO placements VALUES(?1,?2,?3)"},
      {&find_ended, "SELECT 1 FROM ended_jobs WHERE id=?1"},
      {&set_clock, "INSERT OR REPLACE INTO clock VALUES(1,?1,?2,?3,?4,?5,?6)"},
      {&add_policy,
       "INSERT INTO policy_versions "
       "SELECT ?1,?2,coalesce(max(ordinal),0)+1,?3,?4,?5,?6,?7,NULL FROM policy_versions WHERE true "
       "ON CONFLICT(name,version) DO UPDATE SET tests=excluded.tests,checks=NULL WHERE tests<>excluded.tests"},
      {&note_checks, "UPDATE policy_versions SET checks=?3 WHERE name=?1 AND version=?2"},
      {&set_shadow, "INSERT OR REPLACE INTO shadow_report VALUES(1,?1)"},
      {&drop_shadow, "DELETE FROM shadow_report"},
  };
  TP_TRY(database.prepare_all(texts));
  TP_TRY(ended.prepare(database));
  TP_TRY(NodeTrustRows::make_tables(database));
  TP_TRY(node_trust.prepare_writing(database));
  TP_TRY(metrics.prepare(database));
  return upkeep.prepare(database);
}

Status Journal::Impl::open_batch() {
  if (database.in_transaction()) return ok_status();
  batch_from = last_seq;
  return begin.run();
}

// Where the journal ends, checked against the clock row and the mark: a shorter one has lost rows.
Status Journal::Impl::load_position() {
  std::uint64_t promised = 0;
  const auto ask = [&](const char* sql, auto on_row) -> Status {
    auto query = database.prepare(sql);
    return query.ok() ? query->each(on_row) : Status(query.error());
  };
  TP_TRY(ask("SELECT coalesce(max(seq),0) FROM journal",
             [&](const Row& row) { last_seq = static_cast<std::uint64_t>(row.integer(0)); }));
  TP_TRY(ask("SELECT last_seq FROM clock",
             [&](const Row& row) { promised = static_cast<std::uint64_t>(row.integer(0)); }));
  TP_TRY(ask("SELECT id FROM decisions WHERE policy NOT LIKE '%@%' ORDER BY id DESC LIMIT 1",
             [&](const Row& row) { own_decision = static_cast<std::uint64_t>(row.integer(0)); }));
  last_seq = std::max(last_seq, upkeep.snapshots().newest());
  promised = std::max(promised, mark.read().value_or(0));
  if (last_seq >= promised) return ok_status();
  return io_error(path + " ends at row " + std::to_string(last_seq) + " but row " + std::to_string(promised) +
                  " was acknowledged; the file or its -wal is damaged: restore a backup. If this is one, remove " +
                  path + ".mark, which is of a later time, and what came after the backup is lost");
}

Status Journal::Impl::add(Instant at, std::string_view kind, const std::string& body) {
  TP_TRY(open_batch());
  const std::uint64_t seq = last_seq + 1;
  TP_TRY(add_row.run(seq, at.count_us(), kind, body, digest_of_row(seq, at, kind, body)));
  last_seq = seq;
  return ok_status();
}

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;
Journal::~Journal() = default;

Result<Journal> Journal::open(const std::string& path, const JournalOptions& options) {
  auto database = Database::open(path, {.read_only = false, .vfs = options.vfs});
  if (!database.ok()) return database.error();
  auto impl = std::make_unique<Impl>(path, options, *std::move(database));
  TP_TRY(prepare_journal(impl->database, path));
  TP_TRY(impl->prepare());
  TP_TRY(impl->load_position());
  return Journal(std::move(impl));
}

Status Journal::append(const core::TimedFact& fact) {
  return impl_->add(fact.at, "fact", core::fact_text(fact.fact));
}

Status Journal::append(const core::Decision& decision) {
  TP_TRY(impl_->add(decision.at, "decision", core::decision_text(decision)));
  TP_TRY(impl_->add_decision.run(decision.id.number(), decision.at.count_us(), decision.policy, impl_->last_seq));
  if (is_own(decision.policy)) impl_->own_decision = decision.id.number();
  for (const auto& planned : decision.plan) {
    TP_TRY(impl_->add_decision_job.run(core::job_of(planned.intent).number(), decision.id.number()));
  }
  for (const auto& verdict : decision.verdicts) {
    TP_TRY(impl_->add_decision_job.run(verdict.job.number(), decision.id.number()));
  }
  return ok_status();
}

Status Journal::append(const std::vector<core::Event>& events) {
  if (events.empty()) return ok_status();
  TP_TRY(impl_->open_batch());
  for (const auto& event : events) {
    TP_TRY(impl_->add_event.run(event.seq, event.at.count_us(), event.type, number_of(event.job), number_of(event.node),
                                event.tenant, number_of(event.decision), canonical_json(event.data), event.actor));
  }
  return ok_status();
}

Status Journal::append(JobId job, const MetricPoint& point) {
  TP_TRY(impl_->open_batch());
  return impl_->metrics.add(job, point);
}

Status Journal::append(const TokenRecord& token) {
  TP_TRY(impl_->open_batch());
  return impl_->add_token.run(token.id, token.name, token.role, token.tenant, token.secret_sha256, token.created_at,
                              token.expires_unix_s, token.revoked);
}

Status Journal::append(const leader::NodeToken& token) {
  TP_TRY(impl_->open_batch());
  return impl_->node_trust.put(token);
}

Status Journal::append(const leader::NodeCredential& credential) {
  TP_TRY(impl_->open_batch());
  return impl_->node_trust.put(credential);
}

Status Journal::revoke_token(const std::string& id) {
  TP_TRY(impl_->open_batch());
  return impl_->revoke_token.run(id);
}

Status Journal::append(const Idempotency& request, const Receipt& receipt, std::int64_t unix_s) {
  TP_TRY(impl_->open_batch());
  return impl_->add_receipt.run(request.token_id, request.key, request.request_hash, number_of(receipt.job),
                                receipt.token_id, unix_s);
}

Status Journal::note_worker(const core::Worker& worker) {
  TP_TRY(impl_->open_batch());
  return impl_->set_placement.run(worker.id.number(), worker.job.number(), worker.node.number());
}

Status Journal::append_ended(const core::Job& job) {
  TP_TRY(impl_->open_batch());
  impl_->metrics.forget(job.id);
  const auto listed = impl_->options.listed_fields;
  return impl_->ended.add(job, listed == nullptr ? std::string() : listed(job));
}

Status Journal::complete_ended(const std::vector<std::shared_ptr<const core::Job>>& jobs) {
  for (const auto& job : jobs) {
    bool is_known = false;
    TP_TRY(impl_->find_ended.each([&](const Row&) { is_known = true; }, job->id.number()));
    if (!is_known) TP_TRY(append_ended(*job));
  }
  return in_batch() ? impl_->commit.run() : ok_status();
}

bool Journal::in_batch() const {
  return impl_->database.in_transaction();
}

Status Journal::commit(const StoredClock& clock) {
  if (!in_batch()) return ok_status();
  TP_TRY(impl_->set_clock.run(clock.reading.boot_id, clock.reading.boottime_us, clock.reading.wall_unix_us,
                              clock.at.count_us(), clock.unix_us_at_zero, impl_->last_seq));
  TP_TRY(impl_->commit.run());
  impl_->mark.write(impl_->last_seq);
  return ok_status();
}

Status Journal::append(const PolicyVersion& version) {
  TP_TRY(impl_->open_batch());
  return impl_->add_policy.run(version.name, version.version, version.created_at, version.created_by, version.manifest,
                               version.source, version.tests);
}

Status Journal::note_checks(const std::string& name, const std::string& version, const PolicyChecks& checks) {
  TP_TRY(impl_->open_batch());
  return impl_->note_checks.run(name, version, canonical_json(to_json(checks)));
}

Status Journal::set_shadow_report(const ShadowReport* report) {
  TP_TRY(impl_->open_batch());
  return report == nullptr ? impl_->drop_shadow.run() : impl_->set_shadow.run(canonical_json(to_json(*report)));
}

Result<std::optional<ShadowReport>> Journal::shadow_report() {
  std::optional<std::string> body;
  auto query = impl_->database.prepare("SELECT body FROM shadow_report");
  if (!query.ok()) return query.error();
  TP_TRY(query->each([&](const Row& row) { body = row.text(0); }));
  if (!body) return std::optional<ShadowReport>();
  const auto document = parse_json(*body);
  if (!document) return document.error();
  auto report = shadow_report_from_json(*document);
  if (!report) return report.error();
  return std::optional(*std::move(report));
}

Status Journal::go_on_from(std::uint64_t seq, const core::ClusterState& state) {
  TP_TRY(impl_->open_batch());
  TP_TRY(impl_->upkeep.snapshots().go_on_from(seq, state));
  return impl_->commit.run();
}

bool Journal::has_upkeep() const {
  return impl_->upkeep.is_due(impl_->last_seq);
}

Status Journal::add_upkeep(const core::ClusterState& state, const StoredClock& clock) {
  if (!has_upkeep()) return ok_status();
  const bool idle = !in_batch();
  TP_TRY(impl_->open_batch());
  const std::size_t added = impl_->last_seq - impl_->batch_from;
  return impl_->upkeep.add(impl_->position(state, clock), {.idle = idle, .added = added});
}

Status Journal::snapshot(const core::ClusterState& state, const StoredClock& clock) {
  TP_TRY(impl_->open_batch());
  TP_TRY(impl_->upkeep.finish(impl_->position(state, clock)));
  return commit(clock);
}

Status Journal::checkpoint_if_due() {
  if (impl_->database.log_pages() < kLogPagesMax || in_batch()) return ok_status();
  return impl_->database.checkpoint();
}

std::uint64_t Journal::last_seq() const {
  return impl_->last_seq;
}

Result<std::optional<StoredClock>> Journal::clock() {
  std::optional<StoredClock> found;
  auto query = impl_->database.prepare("SELECT boot_id,boottime_us,wall_us,at_us,unix_us_at_zero FROM clock");
  if (!query.ok()) return query.error();
  TP_TRY(query->each([&](const Row& row) {
    found = StoredClock{.reading = {row.text(0), row.integer(1), row.integer(2)},
                        .at = Instant::from_micros(row.integer(3)),
                        .unix_us_at_zero = row.integer(4)};
  }));
  return found;
}

Result<std::vector<SnapshotHead>> Journal::snapshots() {
  return snapshot_heads(impl_->database);
}

Result<std::optional<core::ClusterState>> Journal::state_of(std::uint64_t snapshot) {
  return read_snapshot(impl_->database, snapshot);
}

Result<std::optional<std::string>> Journal::own_policy() {
  auto query = impl_->database.prepare("SELECT policy FROM decisions WHERE id=?1");
  if (!query.ok()) return query.error();
  std::optional<std::string> name;
  TP_TRY(query->each([&](const Row& row) { name = row.text(0); }, impl_->own_decision));
  return name;
}

Status Journal::replay(std::uint64_t after, const std::function<Status(const JournalRow&)>& on_row) {
  auto query = impl_->database.prepare("SELECT seq,at_us,kind,body,digest FROM journal WHERE seq>?1 ORDER BY seq");
  if (!query.ok()) return query.error();
  Status outcome = ok_status();
  std::uint64_t expected = after + 1;
  const auto refuse = [&](std::uint64_t seq, const std::string& why) {
    outcome = io_error(impl_->path + ": journal row " + std::to_string(seq) + " " + why +
                       "; restore the state directory from a backup");
  };
  TP_TRY(query->each(
      [&](const Row& row) {
        if (!outcome.ok()) return;
        JournalRow stored{static_cast<std::uint64_t>(row.integer(0)), Instant::from_micros(row.integer(1)),
                          row.text(2) == "decision", row.text(3)};
        if (stored.seq != expected) return refuse(expected, "is missing");
        if (digest_of_row(stored.seq, stored.at, row.text(2), stored.body) !=
            static_cast<std::uint64_t>(row.integer(4))) {
          return refuse(stored.seq, "is damaged");
        }
        ++expected;
        const Status applied = on_row(stored);
        if (!applied.ok()) outcome = of_another_version(impl_->path, stored.seq, applied.error().message);
      },
      after));
  TP_TRY(outcome);
  if (expected <= impl_->last_seq) refuse(expected, "is missing");
  return outcome;
}

}  // namespace tidepool::live
