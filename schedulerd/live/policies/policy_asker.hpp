// Asks the active policy file, and the shadow policy, each in a host process on its own thread. Answers return through
// the inbox like all input of the loop.
//
// Rule: the loop never waits here. A host ends every round itself (its budgets); the loop's own timeout for a round is
// slightly longer, for a thread or machine that is stopped.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policies/host/file_round.hpp"
#include "policies/host/policy_file.hpp"
#include "schedulerd/live/policies/task_thread.hpp"
#include "schedulerd/live/service/inbox.hpp"

namespace tidepool::live {

// A version that can be asked.
struct RunnablePolicy {
  core::PolicyFileRef ref;
  policies::host::PolicyFile file;
  std::vector<policies::host::Param> params;
};

class PolicyAsker {
 public:
  struct Setup {
    core::Engine::Parts parts;
    std::string host_program;
    bool allow_native = false;
    // Extra time for a host that must be started first, beyond the file's own budget for a round.
    Duration start_patience = Duration::seconds(25);
  };
  // `inbox` outlives it.
  PolicyAsker(Setup setup, Inbox& inbox);
  ~PolicyAsker();
  PolicyAsker(const PolicyAsker&) = delete;
  PolicyAsker& operator=(const PolicyAsker&) = delete;

  // The answer comes as PolicyRoundItem; false if it could not even be asked.
  [[nodiscard]] bool ask(std::shared_ptr<const RunnablePolicy> policy, policies::host::RoundRequest asked);
  // The answer comes as PolicyComparedItem; false if it could not even be asked. Requires: the one before has come.
  [[nodiscard]] bool compare(std::shared_ptr<const RunnablePolicy> policy, policies::host::RoundRequest asked);

  // How long the loop waits for an answer of the file before the round counts as failed.
  [[nodiscard]] Duration patience_with(const RunnablePolicy& policy) const {
    return policy.file.manifest.budgets.wall + setup_.start_patience;
  }
  void stop();

 private:
  // One version's host, kept warm from round to round, and what is known of the jobs, whatever version is asked.
  // Belongs to its thread.
  struct WarmHost {
    explicit WarmHost(const core::Engine::Parts& parts) : rounds(parts) {}
    core::PolicyFileRef of;
    std::unique_ptr<policies::host::PolicyHost> host;
    policies::host::FileRounds rounds;
  };
  [[nodiscard]] core::PolicyRound round_of(WarmHost& shelf, const RunnablePolicy& policy,
                                           const policies::host::RoundRequest& asked) const;

  Setup setup_;
  Inbox& inbox_;
  std::shared_ptr<WarmHost> live_ = std::make_shared<WarmHost>(setup_.parts);
  std::shared_ptr<WarmHost> shadow_ = std::make_shared<WarmHost>(setup_.parts);
  std::unique_ptr<TaskThread> live_thread_;
  std::unique_ptr<TaskThread> shadow_thread_;
};

}  // namespace tidepool::live
