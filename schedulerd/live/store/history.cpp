#include "schedulerd/live/store/history.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/json.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/row_texts.hpp"
#include "schedulerd/live/store/ended_lists.hpp"
#include "schedulerd/live/store/node_trust_rows.hpp"
#include "schedulerd/live/store/policy_rows.hpp"
#include "schedulerd/live/store/routine_events.hpp"
#include "schedulerd/live/store/sqlite.hpp"
#include "schedulerd/live/store/token_rows.hpp"

namespace tidepool::live {
namespace {

template <class Id>
std::optional<Id> id_at(const Row& row, int column) {
  const auto number = row.maybe_integer(column);
  return number ? std::optional(Id(static_cast<std::uint64_t>(*number))) : std::nullopt;
}

nlohmann::json json_at(const Row& row, int column) {
  // Our own rows: as large as the cluster makes them.
  auto parsed = parse_json(row.text(column), {.bytes_max = 1U << 30U, .depth_max = 64, .values_max = 1U << 30U});
  return parsed.ok() ? *std::move(parsed) : nlohmann::json::object();
}

core::Event event_at(const Row& row) {
  core::Event event;
  event.seq = static_cast<EventSeq>(row.integer(0));
  event.at = Instant::from_micros(row.integer(1));
  event.type = row.text(2);
  event.job = id_at<JobId>(row, 3);
  event.node = id_at<NodeId>(row, 4);
  event.tenant = row.text(5);
  event.decision = id_at<DecisionId>(row, 6);
  event.data = json_at(row, 7);
  event.actor = row.text(8);
  return event;
}

MetricPoint metric_at(const Row& row) {
  MetricPoint point;
  point.at = Instant::from_micros(row.integer(0));
  point.step = row.integer(1);
  point.size = static_cast<int>(row.integer(2));
  point.generation = static_cast<GenerationNumber>(row.integer(3));
  point.samples_per_second = row.number(4);
  point.step_ms = row.number(5);
  point.loss = row.is_null(6) ? std::numeric_limits<double>::quiet_NaN() : row.number(6);
  point.global_batch = row.integer(8);
  if (!row.is_null(9)) point.noise_scale = row.number(9);
  for (const auto& rank : json_at(row, 7)) {
    if (rank.is_number()) point.compute_ms.push_back(rank.get<double>());
  }
  return point;
}

void log_failure(const Status& outcome) {
  if (!outcome.ok()) spdlog::error("event=history_read_failed why={:?}", outcome.error().message);
}

// Of all jobs: ?1 and ?2 bound the numbers, ?3 is the limit, ?4 says whether the list is brief.
std::string events_of_all(const char* order) {
  return "SELECT seq,at_us,type,job,node,tenant,decision,data,actor FROM events WHERE seq>?1 AND seq<?2 "
         "AND (NOT ?4 OR NOT coalesce(" +
         std::string(kRoutineEvents) + ",0)) ORDER BY seq " + order + " LIMIT ?3";
}

// Of one job or node, as `column` says: ?3 is the type, ?4 the limit, ?5 its id, ?6 says whether the list is brief.
std::string events_of_one(const std::string& column, const char* order) {
  return "SELECT seq,at_us,type,job,node,tenant,decision,data,actor FROM events WHERE " + column +
         "=?5 AND seq>?1 AND seq<?2 AND (?3='' OR type=?3) AND (NOT ?6 OR NOT coalesce(" + std::string(kRoutineEvents) +
         ",0)) ORDER BY seq " + order + " LIMIT ?4";
}

constexpr std::size_t kJobsKept = 2'048;  // in memory, as read

}  // namespace

struct SqliteHistory::Impl {
  Database database;
  std::map<JobId, std::shared_ptr<const core::Job>> jobs;  // as read; a job that has ended changes no more
  EndedLists ended_lists;
  Statement ended_job, ended_in;
  Statement decisions, decisions_of_job, events_of_type, newest_events_of_type, events, events_of_job, newest_events,
      newest_events_of_job, events_of_node, newest_events_of_node, oldest_event;
  Statement metric_range, metrics, tokens, token, node_of, job_of, first_worker, policies, policy;
  NodeTrustRows node_trust;

  explicit Impl(Database opened) : database(std::move(opened)) {}
  std::shared_ptr<const core::Job> job_at(const Row& row);
  Statement& of_one(const EventQuery& query);
  Status prepare();
};

Status SqliteHistory::Impl::prepare() {
  const std::string of_all = events_of_all("ASC");
  const std::string newest_of_all = events_of_all("DESC");
  const std::string of_job = events_of_one("job", "ASC");
  const std::string newest_of_job = events_of_one("job", "DESC");
  const std::string of_node = events_of_one("node", "ASC");
  const std::string newest_of_node = events_of_one("node", "DESC");
  const std::pair<Statement*, const char*> texts[] = {
      {&ended_job, "SELECT id,job FROM ended_jobs WHERE id=?1"},
      {&ended_in, kEndedIn},
      {&decisions,
       "SELECT d.id,d.at_us,coalesce(d.body,r.body) AS text FROM decisions d LEFT JOIN journal r ON r.seq=d.seq "
       "WHERE d.id<?1 AND text IS NOT NULL ORDER BY d.id DESC LIMIT ?2"},
      {&decisions_of_job,
       "SELECT d.id,d.at_us,coalesce(d.body,r.body) AS text FROM decision_jobs j JOIN decisions d ON d.id=j.decision "
       "LEFT JOIN journal r ON r.seq=d.seq "
       "WHERE j.job=?1 AND j.decision<?2 AND text IS NOT NULL ORDER BY j.decision DESC LIMIT ?3"},
      {&events_of_type, kEventsOfType},
      {&newest_events_of_type, kNewestEventsOfType},
      {&events, of_all.c_str()},
      {&newest_events, newest_of_all.c_str()},
      {&events_of_job, of_job.c_str()},
      {&newest_events_of_job, newest_of_job.c_str()},
      {&events_of_node, of_node.c_str()},
      {&newest_events_of_node, newest_of_node.c_str()},
      {&oldest_event, "SELECT coalesce(min(seq),0) FROM events"},
      {&metric_range, "SELECT count(*),coalesce(max(ordinal),0) FROM job_metrics WHERE job=?1"},
      {&metrics,
       "SELECT at_us,step,size,generation,samples_per_second,step_ms,loss,compute_ms,global_batch,noise_scale FROM ("
       "SELECT *,row_number() OVER (ORDER BY ordinal) AS place FROM job_metrics WHERE job=?1) "
       "WHERE place%?2=?3 ORDER BY ordinal"},
      // A new one comes last: ids are drawn, and would move the pages of a list.
      {&tokens,
       "SELECT id,name,role,tenant,secret_sha256,created_at,expires_unix_s,revoked FROM tokens ORDER BY created_at,id"},
      {&token, "SELECT id,name,role,tenant,secret_sha256,created_at,expires_unix_s,revoked FROM tokens WHERE id=?1"},
      {&policies,
       "SELECT name,version,created_at,created_by,manifest,'',tests,checks FROM policy_versions "
       "WHERE ?1='' OR name=?1 ORDER BY ordinal DESC"},
      {&policy,
       "SELECT name,version,created_at,created_by,manifest,source,tests,checks FROM policy_versions "
       "WHERE name=?1 AND version=?2"},
      {&node_of, "SELECT node FROM placements WHERE worker=?1"},
      {&job_of, "SELECT job FROM placements WHERE worker=?1"},
      {&first_worker, "SELECT min(worker) FROM placements WHERE job=?1"},
  };
  TP_TRY(database.prepare_all(texts));
  TP_TRY(ended_lists.prepare(database));
  return node_trust.prepare(database);
}

SqliteHistory::SqliteHistory(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SqliteHistory::~SqliteHistory() = default;

Result<std::unique_ptr<SqliteHistory>> SqliteHistory::open(const std::string& path) {
  auto database = Database::open(path, {.read_only = true, .vfs = ""});
  if (!database.ok()) return database.error();
  database->no_checkpoint_on_close();
  auto impl = std::make_unique<Impl>(*std::move(database));
  TP_TRY(impl->prepare());
  return std::unique_ptr<SqliteHistory>(new SqliteHistory(std::move(impl)));
}

std::vector<EndedRow> SqliteHistory::ended_jobs(const EndedQuery& query) {
  std::vector<EndedRow> rows;
  log_failure(impl_->ended_lists.read(query, rows));
  return rows;
}

std::shared_ptr<const core::Job> SqliteHistory::ended_job(JobId id) {
  if (const auto kept = impl_->jobs.find(id); kept != impl_->jobs.end()) return kept->second;
  std::shared_ptr<const core::Job> found;
  log_failure(impl_->ended_job.each([&](const Row& row) { found = impl_->job_at(row); }, id.number()));
  return found;
}

EndedPart SqliteHistory::ended_in(const EndedRange& range, int limit) {
  EndedPart part;
  const auto on_row = [&](const Row& row) {
    const JobId id = *id_at<JobId>(row, 0);
    part.next = EndedPlace{Instant::from_micros(row.integer(1)), id};
    if (row.is_null(2) || !range.sees(row.text(3))) return;
    auto job = core::job_from_text(row.text(2));
    if (job.ok()) return part.jobs.push_back(*std::move(job));
    spdlog::error("event=ended_job_unreadable job={} why={:?}", id.text(), job.error().message);
  };
  const EndedPlace from = range.after.value_or(EndedPlace{range.since, JobId()});
  log_failure(impl_->ended_in.each(on_row, from.finished.count_us(), from.job.number(), limit, range.until.count_us()));
  return part;
}

// Of a row with its id and itself, which is not kept yet; null: it cannot be read.
std::shared_ptr<const core::Job> SqliteHistory::Impl::job_at(const Row& row) {
  const JobId id = *id_at<JobId>(row, 0);
  auto job = core::job_from_text(row.text(1));
  if (!job.ok()) {
    spdlog::error("event=ended_job_unreadable job={} why={:?}", id.text(), job.error().message);
    return nullptr;
  }
  // The newest ones stay: they are asked for most.
  if (jobs.size() >= kJobsKept) jobs.erase(jobs.begin());
  jobs.emplace(id, *job);
  return *std::move(job);
}

std::vector<StoredDecision> SqliteHistory::decisions(std::optional<DecisionId> before, std::optional<JobId> job,
                                                     int limit) {
  std::vector<StoredDecision> found;
  const auto on_row = [&](const Row& row) {
    auto whole = core::decision_json_from_text(row.text(2));
    found.push_back({DecisionId(static_cast<std::uint64_t>(row.integer(0))), Instant::from_micros(row.integer(1)),
                     whole.ok() ? *std::move(whole) : nlohmann::json()});
  };
  const std::int64_t below =
      before ? static_cast<std::int64_t>(before->number()) : std::numeric_limits<std::int64_t>::max();
  log_failure(job ? impl_->decisions_of_job.each(on_row, job->number(), below, limit)
                  : impl_->decisions.each(on_row, below, limit));
  return found;
}

Statement& SqliteHistory::Impl::of_one(const EventQuery& query) {
  if (query.job) return query.newest_first ? newest_events_of_job : events_of_job;
  return query.newest_first ? newest_events_of_node : events_of_node;
}

std::vector<core::Event> SqliteHistory::events(const EventQuery& query) {
  std::vector<core::Event> found;
  const auto on_row = [&](const Row& row) { found.push_back(event_at(row)); };
  const int brief = query.brief ? 1 : 0;
  if (query.job || query.node) {
    const auto id = query.job ? query.job->number() : query.node->number();
    log_failure(impl_->of_one(query).each(on_row, query.after, query.before, query.type, query.limit, id, brief));
    return found;
  }
  if (!query.type.empty()) {
    Statement& of_type = query.newest_first ? impl_->newest_events_of_type : impl_->events_of_type;
    log_failure(of_type.each(on_row, query.after, query.before, query.type, query.limit));
    return found;
  }
  Statement& of_all = query.newest_first ? impl_->newest_events : impl_->events;
  log_failure(of_all.each(on_row, query.after, query.before, query.limit, brief));
  return found;
}

EventSeq SqliteHistory::oldest_event() {
  EventSeq oldest = 0;
  log_failure(impl_->oldest_event.each([&](const Row& row) { oldest = static_cast<EventSeq>(row.integer(0)); }));
  return oldest;
}

std::vector<MetricPoint> SqliteHistory::metrics(JobId job, int limit) {
  std::int64_t count = 0;
  log_failure(impl_->metric_range.each([&](const Row& row) { count = row.integer(0); }, job.number()));
  std::vector<MetricPoint> found;
  if (limit <= 0 || count == 0) return found;
  // Every stride-th point, counted back from the newest one, which is always among them.
  const std::int64_t stride = (count + limit - 1) / limit;
  log_failure(impl_->metrics.each([&](const Row& row) { found.push_back(metric_at(row)); }, job.number(), stride,
                                  count % stride));
  return found;
}

std::vector<TokenRecord> SqliteHistory::tokens() {
  std::vector<TokenRecord> found;
  log_failure(impl_->tokens.each([&](const Row& row) { found.push_back(token_at(row)); }));
  return found;
}

std::optional<TokenRecord> SqliteHistory::token(const std::string& id) {
  std::optional<TokenRecord> found;
  log_failure(impl_->token.each([&](const Row& row) { found = token_at(row); }, id));
  return found;
}

std::vector<NodeToken> SqliteHistory::node_tokens(const std::string& id) {
  auto found = impl_->node_trust.tokens(id);
  if (found.ok()) return *std::move(found);
  log_failure(found.error());
  return {};
}

std::vector<NodeCredential> SqliteHistory::node_credentials(const std::string& node) {
  auto found = impl_->node_trust.credentials(node);
  if (found.ok()) return *std::move(found);
  log_failure(found.error());
  return {};
}

std::vector<PolicyVersion> SqliteHistory::policy_versions(const std::string& name) {
  std::vector<PolicyVersion> found;
  log_failure(impl_->policies.each([&](const Row& row) { found.push_back(policy_at(row)); }, name));
  return found;
}

std::optional<PolicyVersion> SqliteHistory::policy_version(const std::string& name, const std::string& version) {
  std::optional<PolicyVersion> found;
  log_failure(impl_->policy.each([&](const Row& row) { found = policy_at(row); }, name, version));
  return found;
}

std::optional<WorkerId> SqliteHistory::first_worker(JobId job) {
  std::optional<WorkerId> found;
  log_failure(impl_->first_worker.each([&](const Row& row) { found = id_at<WorkerId>(row, 0); }, job.number()));
  return found;
}

std::optional<JobId> SqliteHistory::job_of(WorkerId worker) {
  std::optional<JobId> found;
  log_failure(impl_->job_of.each([&](const Row& row) { found = id_at<JobId>(row, 0); }, worker.number()));
  return found;
}

std::optional<NodeId> SqliteHistory::node_of(WorkerId worker) {
  std::optional<NodeId> found;
  log_failure(impl_->node_of.each([&](const Row& row) { found = id_at<NodeId>(row, 0); }, worker.number()));
  return found;
}

}  // namespace tidepool::live
