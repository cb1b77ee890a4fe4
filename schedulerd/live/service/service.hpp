// The loop's interface for request handlers: put a command in, get a durable answer; read what is
// published. Handlers run on the I/O thread and never touch the engine.
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

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "core/explain/submit_preview.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/event.hpp"
#include "core/state/fact.hpp"
#include "core/state/job_spec.hpp"
#include "schedulerd/live/service/policy_version.hpp"
#include "schedulerd/live/service/shadow_report.hpp"

namespace tidepool::live {

// --- commands -----------------------------------------------------------------------------------

struct SubmitJob {
  core::JobSpec spec;
};
// All of them or none. Their ids follow one another; the receipt names the first.
struct SubmitJobs {
  std::vector<core::JobSpec> specs;  // at least one
};
struct CancelJob {
  JobId job;
};
struct ResizeJob {
  JobId job;
  int size = 0;  // 0 clears the wish
};
struct SuspendJob {
  JobId job;
};
struct ResumeJob {
  JobId job;
};
struct CheckpointJob {
  JobId job;
};
// The job's specification anew, with what was changed.
struct ChangeJob {
  JobId job;
  core::JobSpec spec;
};
struct CordonNode {
  NodeId node;
  bool cordoned = true;
};
struct CreateToken {
  std::string name;
  std::string role;    // "admin", "submitter", "viewer"
  std::string tenant;  // empty = all
  std::string secret_sha256;
  std::optional<Duration> lifetime;
};
struct RevokeToken {
  std::string token_id;
};
// Keeps a version; one that is there already stays as it is.
struct StorePolicyVersion {
  PolicyVersion version;
};
// Notes what came of looking a stored version over.
struct NotePolicyChecks {
  std::string name;
  std::string version;
  PolicyChecks checks;
};
// From now on this stored version decides; none = the daemon's own policy.
struct ActivatePolicy {
  std::optional<core::PolicyFileRef> file;
};
// The version before it decides again. Refused unless `name` is the active one.
struct RollBackPolicy {
  std::string name;
  std::string why;
};
// This stored version is asked beside the active policy; none = no version is.
struct ShadowPolicy {
  std::optional<core::PolicyFileRef> file;
};
using CommandBody = std::variant<SubmitJob, SubmitJobs, CancelJob, ResizeJob, SuspendJob, ResumeJob, CheckpointJob,
                                 ChangeJob, CordonNode, CreateToken, RevokeToken, StorePolicyVersion, NotePolicyChecks,
                                 ActivatePolicy, RollBackPolicy, ShadowPolicy>;

struct Idempotency {
  std::string key;           // as the client sent it
  std::string token_id;      // keys of different tokens never meet
  std::string request_hash;  // of method, path and body
};

struct Command {
  CommandBody body;
  std::string actor;  // token id, for the audit
  std::optional<Idempotency> idempotency;
};

// The durable answer. `replayed` = the key had been used with the same request before.
struct Receipt {
  std::optional<JobId> job;
  std::string token_id;  // of CreateToken
  EventSeq as_of_seq = 0;
  bool replayed = false;
};

// --- what readers see ---------------------------------------------------------------------------

// Turns the daemon's own time line into wall-clock time for display.
struct WallClock {
  std::int64_t unix_us_at_zero = 0;
  // RFC 3339 with milliseconds, "2026-11-20T21:53:24.120Z".
  [[nodiscard]] std::string text(Instant at) const;
};

// Newest measurement of a job, for progress that the state does not keep.
struct LatestMetrics {
  double samples_per_second = 0;
  double step_ms = 0;
  std::vector<double> compute_ms;  // by rank, mean of the last report
};

// An immutable picture, replaced after each batch. Holds every write that has been acknowledged.
struct Published {
  core::ClusterState state;
  EventSeq as_of_seq = 0;
  std::map<JobId, LatestMetrics> latest_metrics;
  std::map<WorkerId, double> compute_ms;
  WallClock clock;
  Instant now;
  std::string active_policy;  // the daemon's own; a policy file that decides in its place is in the state
  std::shared_ptr<const ShadowReport> shadow;  // null = there is no shadow
};

// --- what the journal gives readers (its own read-only connection) ------------------------------

struct StoredDecision {
  DecisionId id;
  Instant at;
  nlohmann::json body;  // core::to_json(Decision)
};
struct MetricPoint {
  Instant at;
  std::int64_t step = 0;
  int size = 0;
  GenerationNumber generation = 0;
  double samples_per_second = 0;
  double step_ms = 0;
  double loss = 0;
  std::vector<double> compute_ms;
  std::int64_t global_batch = 0;      // 0 = not told
  std::optional<double> noise_scale;  // in samples; none: not known then
};
struct TokenRecord {
  std::string id;
  std::string name;
  std::string role;
  std::string tenant;
  std::string secret_sha256;
  std::string created_at;  // RFC 3339
  std::optional<std::int64_t> expires_unix_s;
  bool revoked = false;
};

// Jobs that have ended and left the state, the newest first.
struct EndedQuery {
  std::optional<JobId> before;         // ids below; none = from the newest
  std::vector<core::JobState> states;  // final ones; empty = any
  std::string tenant;                  // empty = any
  std::string name;                    // empty = any
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

class History {
 public:
  virtual ~History() = default;
  [[nodiscard]] virtual std::vector<EndedRow> ended_jobs(const EndedQuery& query) = 0;
  // Null: it has not ended, its time has passed, or there was none.
  [[nodiscard]] virtual std::shared_ptr<const core::Job> ended_job(JobId job) = 0;
  // Newest first, ids below `before` (none = from the newest); of one job if given.
  [[nodiscard]] virtual std::vector<StoredDecision> decisions(std::optional<DecisionId> before,
                                                              std::optional<JobId> job, int limit) = 0;
  // Oldest first, seq > after; of one job if given.
  [[nodiscard]] virtual std::vector<core::Event> events(EventSeq after, std::optional<JobId> job, int limit) = 0;
  // The oldest event still kept; a reader that asks for older must list again.
  [[nodiscard]] virtual EventSeq oldest_event() = 0;
  // Oldest first, at most `limit` points, evenly thinned.
  [[nodiscard]] virtual std::vector<MetricPoint> metrics(JobId job, int limit) = 0;
  // Of all workers that the job has had; and the job that a worker is or was of.
  [[nodiscard]] virtual std::optional<WorkerId> first_worker(JobId job) = 0;
  [[nodiscard]] virtual std::optional<JobId> job_of(WorkerId worker) = 0;
  [[nodiscard]] virtual std::vector<TokenRecord> tokens() = 0;
  [[nodiscard]] virtual std::optional<TokenRecord> token(const std::string& id) = 0;
  // Stored versions of policy files without their sources, the newest first; of one name if it is not empty.
  [[nodiscard]] virtual std::vector<PolicyVersion> policy_versions(const std::string& name) = 0;
  // The whole of it.
  [[nodiscard]] virtual std::optional<PolicyVersion> policy_version(const std::string& name,
                                                                    const std::string& version) = 0;
};

// Reads captured output of a worker through its agent.
struct LogPage {
  std::string data;
  std::int64_t next_offset = 0;
  bool eof = false;  // the worker has exited and this is the end
};

// What a submission would lead to.
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
  // Thread-safe. `done` is called once, on the loop's thread, after the command is durable or refused.
  // When the queue is full it is refused at once with kUnavailable.
  virtual void submit(Command command, std::function<void(Result<Receipt>)> done) = 0;
  [[nodiscard]] virtual std::shared_ptr<const Published> published() const = 0;
  // Thread-safe; called on the loop's thread with each batch of new events, in order. Returns a handle;
  // dropping it ends the subscription.
  [[nodiscard]] virtual std::shared_ptr<void> subscribe(
      std::function<void(const std::vector<core::Event>&)> on_events) = 0;
  // For the I/O thread only.
  [[nodiscard]] virtual History& history() = 0;
  // `offset` < 0 counts from the end. `done` may be called on any thread.
  virtual void read_log(WorkerId worker, std::int64_t offset, std::int64_t limit,
                        std::function<void(Result<LogPage>)> done) = 0;
  // What submitting this job now would lead to, by the newest picture; nothing is stored. `done` is called once, on any
  // thread; at once with kUnavailable if too many ask.
  virtual void preview(core::JobSpec spec, std::function<void(Result<PreviewedSubmit>)> done) = 0;
  // Where policy files are looked over, tested and replayed.
  [[nodiscard]] virtual PolicyEvaluator& policy_workshop() = 0;
};

}  // namespace tidepool::live
