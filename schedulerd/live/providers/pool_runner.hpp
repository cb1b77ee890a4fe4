// Carries out what the state says of pools: a thread for each of them asks its provider for nodes that are asked for,
// ends those that are given back, and lists what there is. It goes by the published picture, which is durable, and
// keeps nothing: after a restart the same state leads to the same calls. What a provider answers goes into the inbox.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "schedulerd/live/providers/node_provider.hpp"
#include "schedulerd/live/service/inbox.hpp"
#include "schedulerd/live/service/publisher.hpp"

namespace tidepool::live {

class PoolRunner {
 public:
  struct Setup {
    std::string pool;
    std::string cluster;
    std::chrono::milliseconds list_every{};
    std::unique_ptr<NodeProvider> provider;  // never null
  };
  PoolRunner(Setup setup, Publisher& publisher, Inbox& inbox);
  ~PoolRunner();
  PoolRunner(const PoolRunner&) = delete;
  PoolRunner& operator=(const PoolRunner&) = delete;

  void start();
  // From now on no other call is begun.
  void begin_stop();
  // A call under way is waited for. Idempotent.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  [[nodiscard]] bool is_stopping();
  // Returns true if there was anything to do.
  bool act(const core::ClusterState& state, Instant now);
  // False: it is not asked for any more.
  bool create(core::NodeRequest request);
  void end(const core::PoolNode& node);
  void list(const core::ClusterState& state, Instant now);
  // Of each once, for as long as it stays listed.
  void warn_of_unnumbered(std::set<std::string> requests);
  void report(leader::PoolReport report);
  [[nodiscard]] std::string text_of(core::NodeRequest request) const;

  Setup setup_;
  Publisher& publisher_;
  Inbox& inbox_;
  std::set<core::NodeRequest> created_;     // answered, and the picture may not know it yet
  std::map<core::NodeRequest, int> ended_;  // likewise, with the failures known when it was asked
  std::set<std::string> unnumbered_;        // in the newest list
  Clock::time_point listed_at_;
  bool list_is_due_ = true;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  bool woken_ = false;
  std::shared_ptr<void> subscription_;
  std::thread thread_;
};

}  // namespace tidepool::live
