// A past in which nothing has happened; tests put in what they need.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schedulerd/live/service/service.hpp"

namespace tidepool::test {

class NoHistory : public live::History {
 public:
  std::vector<live::EndedRow> ended_jobs(const live::EndedQuery&) override { return {}; }
  std::shared_ptr<const core::Job> ended_job(JobId) override { return nullptr; }
  live::EndedPart ended_in(const live::EndedRange&, int) override { return {}; }
  std::vector<live::StoredDecision> decisions(std::optional<DecisionId>, std::optional<JobId>, int) override {
    return {};
  }
  std::vector<core::Event> events(const live::EventQuery&) override { return {}; }
  EventSeq oldest_event() override { return 1; }
  std::vector<live::MetricPoint> metrics(JobId, int) override { return {}; }
  std::optional<WorkerId> first_worker(JobId) override { return std::nullopt; }
  std::optional<JobId> job_of(WorkerId) override { return std::nullopt; }
  std::vector<live::TokenRecord> tokens() override { return {}; }
  std::optional<live::TokenRecord> token(const std::string&) override { return std::nullopt; }
  std::vector<live::NodeToken> node_tokens(const std::string&) override { return {}; }
  std::vector<live::NodeCredential> node_credentials(const std::string&) override { return {}; }
  std::vector<live::PolicyVersion> policy_versions(const std::string&) override { return {}; }
  std::optional<live::PolicyVersion> policy_version(const std::string&, const std::string&) override {
    return std::nullopt;
  }
};

}  // namespace tidepool::test
