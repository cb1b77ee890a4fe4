// The past for readers: a second, read-only connection to the state database. It neither writes nor
// checkpoints. Belongs to the I/O thread.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live {

class SqliteHistory final : public History {
 public:
  // The journal must have been opened before, by this process. Invalid rows and failing reads are logged
  // and left out: a reader's trouble never stops the daemon.
  [[nodiscard]] static Result<std::unique_ptr<SqliteHistory>> open(const std::string& path);
  ~SqliteHistory() override;

  std::vector<EndedRow> ended_jobs(const EndedQuery& query) override;
  std::shared_ptr<const core::Job> ended_job(JobId job) override;
  std::vector<std::shared_ptr<const core::Job>> ended_since(Instant finished, std::optional<JobId> before,
                                                            int limit) override;
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
