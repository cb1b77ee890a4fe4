// History for readers: a second, read-only connection to the state database. It neither writes nor checkpoints. Belongs
// to the I/O thread.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live {

// These use indexes, however much is stored. Jobs that do not match are skipped without reading them.
inline constexpr const char* kEndedIn =
    "SELECT id,finished_us,CASE WHEN submitted_us<?4 THEN job END,tenant FROM ended_jobs "
    "WHERE finished_us>=?1 AND (finished_us>?1 OR id>?2) ORDER BY finished_us,id LIMIT ?3";
inline constexpr const char* kEventsOfType =
    "SELECT seq,at_us,type,job,node,tenant,decision,data,actor FROM events WHERE type=?3 AND seq>?1 AND seq<?2 "
    "ORDER BY seq LIMIT ?4";
inline constexpr const char* kNewestEventsOfType =
    "SELECT seq,at_us,type,job,node,tenant,decision,data,actor FROM events WHERE type=?3 AND seq>?1 AND seq<?2 "
    "ORDER BY seq DESC LIMIT ?4";

class SqliteHistory final : public History {
 public:
  // The journal must have been opened before, by this process. Invalid rows and failed reads are logged and left out:
  // an error of a reader never stops the daemon.
  [[nodiscard]] static Result<std::unique_ptr<SqliteHistory>> open(const std::string& path);
  ~SqliteHistory() override;

  std::vector<EndedRow> ended_jobs(const EndedQuery& query) override;
  std::shared_ptr<const core::Job> ended_job(JobId job) override;
  EndedPart ended_in(const EndedRange& range, int limit) override;
  std::vector<StoredDecision> decisions(std::optional<DecisionId> before, std::optional<JobId> job, int limit) override;
  std::vector<core::Event> events(const EventQuery& query) override;
  EventSeq oldest_event() override;
  std::vector<MetricPoint> metrics(JobId job, int limit) override;
  std::vector<TokenRecord> tokens() override;
  std::optional<TokenRecord> token(const std::string& id) override;
  std::vector<NodeToken> node_tokens(const std::string& id) override;
  std::vector<NodeCredential> node_credentials(const std::string& node) override;
  std::vector<PolicyVersion> policy_versions(const std::string& name) override;
  std::optional<PolicyVersion> policy_version(const std::string& name, const std::string& version) override;
  std::optional<WorkerId> first_worker(JobId job) override;
  std::optional<JobId> job_of(WorkerId worker) override;

  // The node on which a worker was placed, also after its end.
  [[nodiscard]] std::optional<NodeId> node_of(WorkerId worker);

 private:
  struct Impl;
  explicit SqliteHistory(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidepool::live
