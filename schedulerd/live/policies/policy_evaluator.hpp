// Checks and tests policy files, and replays the daemon's recorded rounds with them: in real host processes, on
// separate threads, away from the loop and from HTTP. Nothing here changes the cluster. A file that uses its whole time
// limit in every round is abandoned after a while, because others wait behind it; replays, which take longest, only
// delay other replays, so that none delays an activation.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/engine/engine.hpp"
#include "schedulerd/live/policies/policy_asker.hpp"
#include "schedulerd/live/service/policy_version.hpp"
#include "schedulerd/live/service/shadow_report.hpp"

namespace tidepool::live {

struct PolicyTestResult {
  std::string file;
  std::string test;
  std::vector<std::string> differences;  // empty = passed
};
struct PolicyExamined {
  PolicyChecks checks;  // without its time
  std::vector<PolicyTestResult> tests;
};

// Ok if the policy runs and all of its tests pass; the error names the first failed test, and its result.
[[nodiscard]] Status may_decide(const PolicyExamined& examined);

// Recorded rounds under another policy. Each round is judged on its own: the candidate sees the recorded state, not the
// state that its own decisions would have led to.
struct PolicyReplay {
  Instant from, to;               // of the rounds that were compared; equal if there were none
  Instant oldest;                 // from here on the journal can be replayed
  bool complete = true;           // it goes back as far as was asked for
  std::int64_t rounds_found = 0;  // in the time asked for
  ShadowReport report;
  struct JobSum {
    std::int64_t different = 0;   // rounds in which it would have got another size
    double live_slot_rounds = 0;  // its slots in those rounds, added up
    double candidate_slot_rounds = 0;
  };
  std::map<JobId, JobSum> jobs;  // that would have got another size at least once
};

class PolicyEvaluator {
 public:
  struct Setup {
    core::Engine::Parts parts;
    std::string host_program;
    bool allow_native = false;
    std::string journal;                        // path of the state database; empty = there is no history to replay
    Duration patience = Duration::seconds(60);  // with the rounds of one replay, and with the tests of one version
  };
  explicit PolicyEvaluator(Setup setup);
  ~PolicyEvaluator();
  PolicyEvaluator(const PolicyEvaluator&) = delete;
  PolicyEvaluator& operator=(const PolicyEvaluator&) = delete;

  [[nodiscard]] bool allows_native() const { return setup_.allow_native; }

  // Each calls `done` once on a thread of the evaluator, or at once with kUnavailable if too much waits already.
  // Loads the version in a host; runs its tests, too, if asked to.
  void examine(PolicyVersion version, bool run_tests, std::function<void(Result<PolicyExamined>)> done);
  struct ReplayAsked {
    RunnablePolicy policy;
    Instant since;
    std::int64_t rounds_max = 1'000;  // more are thinned evenly
  };
  void replay(ReplayAsked asked, std::function<void(Result<PolicyReplay>)> done);
  // What is under way ends after the round or test that it is at; what waits is dropped. Idempotent.
  void stop();

 private:
  [[nodiscard]] PolicyExamined look_over(const policies::host::PolicyFile& file, const PolicyVersion& version,
                                         bool run_tests) const;

  Setup setup_;
  std::stop_source stopping_;
  std::unique_ptr<TaskThread> examinations_;
  std::unique_ptr<TaskThread> replays_;
};

// The reference and parameters of a stored version; `params` are those that are not as the file declares them.
[[nodiscard]] Result<RunnablePolicy> make_runnable(const PolicyVersion& version, const nlohmann::json& params);

}  // namespace tidepool::live
