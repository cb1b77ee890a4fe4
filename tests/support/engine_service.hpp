// The loop's face for tests of the REST API: the daemon's own turn with real policies, told by the test what an agent
// and its workers say, with a history in memory in place of the journal. Each call is a turn, one second later.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedulerd/leader/daemon_turn.hpp"
#include "schedulerd/live/policies/policy_evaluator.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::test {

class EngineService final : public live::Service, private live::History {
 public:
  explicit EngineService(const std::string& policy = "autoscaling_engine");

  // --- what tests do ---
  // A worker says this, or has exited.
  void say(WorkerId worker, api::FromWorker message);
  void exit(WorkerId worker);
  // Its program has ended, and its slots are not free.
  void hold_slots(WorkerId worker, const std::string& why);
  // A node "n<k>" with this many slots.
  NodeId join_node(int slots, std::string name = "");  // "n1", "n2" ... unless it has a name
  void lose(NodeId node);
  // Its agent is lost, and comes back with all its workers.
  void lose_for_a_moment(NodeId node);
  // What a provider of nodes answers, or the configuration says of pools.
  void report(leader::PoolReport report);
  // Brings the job's workers up: ready, switched, and `steps` steps measured.
  void run_steps(JobId job, std::int64_t steps);
  // Stores a token and gives its text. `expires_unix_s` 0 = never.
  std::string add_token(const std::string& role, const std::string& tenant = "", std::int64_t expires_unix_s = 0);
  // As if a node of this name had joined with a certificate.
  void certify(const live::NodeCredential& credential);
  // The row of a job that has ended can be read no more, neither in lists nor alone.
  void damage_ended(JobId job);
  void write_log(WorkerId worker, const std::string& text, bool eof);
  // What it has written so far is no longer kept.
  void drop_log(WorkerId worker);
  void refuse_commands(bool refused);
  // Done once, when the next command has come in and before it is carried out.
  void before_next_command(std::function<void()> act);
  // The next plan is begun and not made until let_plan_go(); the future is ready once it has begun.
  [[nodiscard]] std::future<void> hold_next_plan();
  void let_plan_go();
  // Events below `oldest` are no longer kept.
  void drop_events_below(EventSeq oldest);
  void add_metric_point(JobId job, live::MetricPoint point);
  [[nodiscard]] int commands_carried_out() const;

  // --- live::Service ---
  void submit(live::Command command, std::function<void(Result<live::Receipt>)> done) override;
  [[nodiscard]] std::shared_ptr<const live::Published> published() const override;
  [[nodiscard]] std::shared_ptr<void> subscribe(
      std::function<void(const std::vector<core::Event>&)> on_events) override;
  [[nodiscard]] live::History& history() override { return *this; }
  void preview(core::Tried tried, std::function<void(Result<live::PreviewedSubmit>)> done) override;
  // Of the newest picture, made at the first question about it.
  [[nodiscard]] std::shared_ptr<const live::ForecastPicture> forecasts() const override;
  void plan(core::JobSpec spec, std::function<void(Result<live::PlannedSubmit>)> done) override;
  [[nodiscard]] live::PolicyEvaluator& policy_workshop() override { return evaluator_; }
  void read_log(WorkerId worker, std::int64_t offset, std::int64_t limit,
                std::function<void(Result<live::LogPage>)> done) override;

 private:
  struct Log {
    std::string text;
    bool eof = false;
    std::int64_t kept_from = 0;
  };
  using Listener = std::function<void(const std::vector<core::Event>&)>;

  std::vector<live::EndedRow> ended_jobs(const live::EndedQuery& query) override;
  std::shared_ptr<const core::Job> ended_job(JobId job) override;
  live::EndedPart ended_in(const live::EndedRange& range, int limit) override;
  std::vector<live::StoredDecision> decisions(std::optional<DecisionId> before, std::optional<JobId> job,
                                              int limit) override;
  std::vector<core::Event> events(const live::EventQuery& query) override;
  EventSeq oldest_event() override;
  std::vector<live::NodeToken> node_tokens(const std::string& id) override;
  std::vector<live::NodeCredential> node_credentials(const std::string& node) override;
  std::optional<WorkerId> first_worker(JobId job) override;
  std::optional<JobId> job_of(WorkerId worker) override;
  std::vector<live::MetricPoint> metrics(JobId job, int limit) override;
  std::vector<live::TokenRecord> tokens() override;
  std::optional<live::TokenRecord> token(const std::string& id) override;
  std::vector<live::PolicyVersion> policy_versions(const std::string& name) override;
  std::optional<live::PolicyVersion> policy_version(const std::string& name, const std::string& version) override;

  // What the turn looks up: the memory below.
  class Reads;
  // The answer, if the item is a command.
  std::optional<Result<live::Receipt>> take(leader::TurnItem item);
  void keep(leader::TurnRow& row, std::vector<core::Event>& made);
  void publish(const std::vector<core::Event>& made);

  mutable std::recursive_mutex mutex_;
  std::string policy_;
  leader::DaemonTurn turn_;
  Instant now_ = Instant::from_micros(1'000'000);
  std::shared_ptr<const live::Published> published_;
  mutable std::shared_ptr<const live::ForecastPicture> forecasts_;
  std::vector<core::Event> events_;
  std::map<JobId, std::shared_ptr<const core::Job>> ended_;  // that have left the state
  std::set<JobId> damaged_;                                  // of these
  EventSeq oldest_event_ = 1;
  std::vector<live::StoredDecision> decisions_;
  std::map<std::string, live::TokenRecord> tokens_;
  std::map<std::string, live::NodeToken> node_tokens_;
  std::map<std::string, live::NodeCredential> node_credentials_;
  std::map<std::pair<std::string, std::string>, leader::StoredReceipt> receipts_;  // by token and key
  std::map<WorkerId, Log> logs_;
  std::map<JobId, std::vector<live::MetricPoint>> metrics_;
  std::map<int, Listener> listeners_;
  int next_listener_ = 1;
  std::vector<live::PolicyVersion> policy_versions_;  // the newest first
  std::shared_ptr<const live::ShadowReport> shadow_;
  live::PolicyEvaluator evaluator_;
  bool refused_ = false;
  std::function<void()> before_command_;
  std::optional<std::promise<void>> plan_begins_;
  std::function<void()> held_plan_;
  int commands_ = 0;
  int nodes_ = 0;
};

}  // namespace tidepool::test
