// The saved states that workers wait for before this agent starts them: requested through the daemon, fetched from the
// agent that has them, requested again if that fails. Pure.
//
// Rule: every wait ends. After kStateSilence without a byte while the daemon is connected, the workers start without
// the state, and the daemon receives the reason. A lost link cancels the start orders: the daemon may assign the slots
// to others meanwhile, and repeats the orders that are still valid. Fetches in progress continue.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "api/worker_protocol.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"

namespace tidepool::agent {

inline constexpr Duration kStateSilence = Duration::seconds(30);
inline constexpr Duration kAskForStateAgain = Duration::seconds(2);
// Time for the daemon to repeat, after a welcome, which workers wait.
inline constexpr Duration kOrdersAgain = Duration::seconds(10);

class StateWaits {
 public:
  // Check whether the state is here, and request it from the daemon if not.
  struct Ask {
    JobId job;
    std::int64_t step = 0;
  };
  struct Fetch {
    api::FetchState from;
  };
  // Stop the job's fetch and discard what it received.
  struct Abandon {
    JobId job;
  };
  // Send the report first, then carry out the orders.
  struct Start {
    api::AgentToDaemon report;
    std::vector<api::StartWorker> orders;
  };
  using Step = std::variant<Ask, Fetch, Abandon, Start>;
  using Steps = std::vector<Step>;

  // Requires: the order names a state. A repeated order counts once.
  [[nodiscard]] Steps hold(api::StartWorker order, Instant now);
  [[nodiscard]] Steps on(const api::FetchState& from);
  [[nodiscard]] Steps on(const api::NoState& none, Instant now);
  void bytes_came(JobId job, Instant now);
  [[nodiscard]] Steps state_is_here(JobId job, std::int64_t step, std::int64_t bytes, Instant now);
  void fetch_broke(JobId job, const std::string& why, Instant now);
  [[nodiscard]] Steps time_passed(Instant now);

  void link_up(Instant now);
  void link_down();
  // Reports about states whose workers still live, to repeat to the present daemon.
  [[nodiscard]] std::vector<api::AgentToDaemon> told() const;

  [[nodiscard]] bool holds(WorkerId worker) const;
  // Call when the worker will not be started.
  [[nodiscard]] Steps let_go(WorkerId worker);
  [[nodiscard]] std::vector<WorkerId> held() const;
  void worker_ended(WorkerId worker);
  void clear();

  [[nodiscard]] std::optional<Instant> deadline() const;

 private:
  struct Wait {
    std::int64_t step = 0;
    std::map<WorkerId, api::StartWorker> orders;
    Instant since;
    Instant heard_at;  // of the newest byte, or since it can be requested
    std::optional<Instant> ask_at;
    std::optional<Instant> drop_at;  // no worker waits; the wait is kept until then
    bool fetching = false;
    std::string trouble;  // why the newest attempt failed
  };
  struct Told {
    api::AgentToDaemon report;
    std::set<WorkerId> workers;
  };

  [[nodiscard]] Steps give_up(JobId job, const std::string& why);
  [[nodiscard]] Start start(JobId job, api::AgentToDaemon report);
  [[nodiscard]] Wait* find(JobId job);
  [[nodiscard]] std::optional<Instant> due(const Wait& wait) const;

  bool linked_ = false;
  std::map<JobId, Wait> waits_;
  std::map<JobId, Told> told_;
};

}  // namespace tidepool::agent
