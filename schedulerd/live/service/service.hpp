// The loop's interface for request handlers: submit a command, get a durable answer; read what is published. Handlers
// run on the I/O thread and never touch the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/id_table.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "core/explain/submit_preview.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/event.hpp"
#include "core/state/fact.hpp"
#include "core/state/job_spec.hpp"
#include "schedulerd/leader/commands.hpp"
#include "schedulerd/live/service/forecasts.hpp"
#include "schedulerd/live/service/policy_version.hpp"
#include "schedulerd/live/service/shadow_report.hpp"

namespace tidepool::live {

// --- commands: see schedulerd/leader/commands.hpp --------------------------------------------------

using leader::Command;
using leader::CommandBody;
using leader::Idempotency;
using leader::Receipt;

// --- what the journal keeps: see schedulerd/leader/records.hpp -------------------------------------

using leader::LatestMetrics;
using leader::MetricPoint;
using leader::NodeCredential;
using leader::NodeTerms;
using leader::NodeToken;
using leader::TokenRecord;

// --- what readers see ---------------------------------------------------------------------------

// Turns the daemon's own time line into wall-clock time for display.
struct WallClock {
  std::int64_t unix_us_at_zero = 0;
  // RFC 3339 with milliseconds, "2026-11-20T21:53:24.120Z".
  [[nodiscard]] std::string text(Instant at) const;
};

// An immutable picture, replaced after each batch. Holds every write that has been acknowledged.
struct Published {
  core::ClusterState state;
  EventSeq as_of_seq = 0;
  SharedIdTable<JobId, LatestMetrics> latest_metrics;
  SharedIdTable<WorkerId, double> compute_ms;
  WallClock clock;
  Instant now;
  std::string active_policy;                   // the daemon's own; an active policy file is in the state
  std::shared_ptr<const ShadowReport> shadow;  // null = there is no shadow
};

// --- what the journal gives readers (its own read-only connection) ------------------------------

struct StoredDecision {
  DecisionId id;
  Instant at;
  nlohmann::json body;  // core::to_json(Decision)
};

struct EventQuery {
  EventSeq after = 0;               // numbers above
  EventSeq before = INT64_MAX;      // numbers below
  std::optional<JobId> job = {};    // none = of all
  std::optional<NodeId> node = {};  // none = of all; not beside `job`
  std::string type = {};            // empty = any
  bool brief = false;               // without routine events (store/routine_events.hpp); not with `type`
  bool newest_first = false;
  int limit = 0;
};

// Jobs that have ended and left the state, the newest first.
struct EndedQuery {
  std::optional<JobId> before;          // ids below; none = from the newest
  std::vector<core::JobState> states;   // final ones; empty = any
  std::string tenant;                   // empty = any
  std::string name;                     // empty = any
  std::string subtree;                  // a tenant: its jobs, those of teams in it by name, and of `below`; empty = all
  std::vector<std::string> below = {};  // tenants of the tree that lie below it
  int limit = 0;
};

// A line of such a list.
struct EndedRow {
  JobId id;
  std::string tenant;
  std::string name;
  std::string state;
  Instant submitted_at;
  Instant finished_at;
  std::string listed;  // the other fields (http/lists/listed_job.hpp); empty: they are to be taken from the job itself
};

// Jobs that have ended and left the state and may have used slots in a range of time: by their end, the oldest first,
// equal ends by id.
struct EndedPlace {
  Instant finished;
  JobId job;
};
struct EndedRange {
  Instant since;                    // they ended then or later
  Instant until;                    // and were submitted before this
  std::optional<EndedPlace> after;  // none = from the first
  std::function<bool(const std::string& tenant)> sees;
};
struct EndedPart {
  std::vector<std::shared_ptr<const core::Job>> jobs;
  std::optional<EndedPlace> next;  // after which to go on; none: there are no more
};

class History {
 public:
  virtual ~History() = default;
  [[nodiscard]] virtual std::vector<EndedRow> ended_jobs(const EndedQuery& query) = 0;
  // Null: it has not ended, its time has passed, or there was none.
  [[nodiscard]] virtual std::shared_ptr<const core::Job> ended_job(JobId job) = 0;
  // Complete rows; at most this many are examined, of which some may not be in the range.
  [[nodiscard]] virtual EndedPart ended_in(const EndedRange& range, int limit) = 0;
  // Newest first, ids below `before` (none = from the newest); of one job if given.
  [[nodiscard]] virtual std::vector<StoredDecision> decisions(std::optional<DecisionId> before,
                                                              std::optional<JobId> job, int limit) = 0;
  [[nodiscard]] virtual std::vector<core::Event> events(const EventQuery& query) = 0;
  // The oldest event still kept; a reader that asks for older must list again.
  [[nodiscard]] virtual EventSeq oldest_event() = 0;
  // Oldest first, at most `limit` points, evenly thinned.
  [[nodiscard]] virtual std::vector<MetricPoint> metrics(JobId job, int limit) = 0;
  // The first of all workers that the job had; and the job of a present or past worker.
  [[nodiscard]] virtual std::optional<WorkerId> first_worker(JobId job) = 0;
  [[nodiscard]] virtual std::optional<JobId> job_of(WorkerId worker) = 0;
  [[nodiscard]] virtual std::vector<TokenRecord> tokens() = 0;
  [[nodiscard]] virtual std::optional<TokenRecord> token(const std::string& id) = 0;
  // Node tokens by age, and what node names are known by; of one id or name if it is not empty.
  [[nodiscard]] virtual std::vector<NodeToken> node_tokens(const std::string& id) = 0;
  [[nodiscard]] virtual std::vector<NodeCredential> node_credentials(const std::string& node) = 0;
  // Stored versions of policy files without their sources, the newest first; of one name if it is not empty.
  [[nodiscard]] virtual std::vector<PolicyVersion> policy_versions(const std::string& name) = 0;
  // The whole of it.
  [[nodiscard]] virtual std::optional<PolicyVersion> policy_version(const std::string& name,
                                                                    const std::string& version) = 0;
};

// Reads captured output of a worker through its agent.
struct LogPage {
  std::string data;
  std::int64_t offset = 0;  // where it begins: further on than was asked for if output before it was dropped
  std::int64_t next_offset = 0;
  bool eof = false;  // the worker has exited and this is the end
};

// The effect of a submission or of a resize request.
struct PreviewedSubmit {
  std::shared_ptr<const Published> picture;  // as it would be then
  JobId job;                                 // in it
  std::vector<core::SubmitPreview::Place> places;
  std::vector<core::SubmitPreview::Change> changes;
};

class PolicyEvaluator;

class Service {
 public:
  virtual ~Service() = default;
  // Thread-safe. `done` is called once, on the writer's thread, after the command is durable or refused.
  // When the queue is full it is refused at once with kUnavailable.
  virtual void submit(Command command, std::function<void(Result<Receipt>)> done) = 0;
  [[nodiscard]] virtual std::shared_ptr<const Published> published() const = 0;
  // Thread-safe; called on the writer's thread with each batch of new events, in order. Returns a handle;
  // dropping it ends the subscription.
  [[nodiscard]] virtual std::shared_ptr<void> subscribe(
      std::function<void(const std::vector<core::Event>&)> on_events) = 0;
  // For the I/O thread only.
  [[nodiscard]] virtual History& history() = 0;
  // `offset` < 0 counts from the end. `done` may be called on any thread.
  virtual void read_log(WorkerId worker, std::int64_t offset, std::int64_t limit,
                        std::function<void(Result<LogPage>)> done) = 0;
  // The effect of the tried change on the newest picture; nothing is stored. `done` is called once, on any thread; at
  // once with kUnavailable if too many wait.
  virtual void preview(core::Tried tried, std::function<void(Result<PreviewedSubmit>)> done) = 0;
  // The newest forecast of all jobs; null: none has been made yet.
  [[nodiscard]] virtual std::shared_ptr<const ForecastPicture> forecasts() const = 0;
  // When the job would start and end if it were submitted now, and its effect on other jobs; nothing is stored. `done`
  // is called once, on any thread; at once with kUnavailable if too many wait.
  virtual void plan(core::JobSpec spec, std::function<void(Result<PlannedSubmit>)> done) = 0;
  // Checks, tests and replays policy files.
  [[nodiscard]] virtual PolicyEvaluator& policy_workshop() = 0;
};

}  // namespace tidepool::live
