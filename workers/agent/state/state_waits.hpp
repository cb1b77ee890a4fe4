// The saved states that workers wait for before this agent starts them: asked for through the daemon, fetched from the
// agent that has them, asked for again when that breaks. Pure.
//
// Rule: a wait ends. After kStateSilence without a byte while the daemon is there, the workers start without the state,
// and the daemon is told why. A link that is lost takes the orders to start with it: the daemon may give the slots to
// others meanwhile, and says again what still holds. What is being fetched goes on.
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
// For the daemon to say again, after a welcome, which workers wait.
inline constexpr Duration kOrdersAgain = Duration::seconds(10);

class StateWaits {
 public:
  // Look whether the state lies here, and ask the daemon for it if not.
  struct Ask {
    JobId job;
    std::int64_t step = 0;
  };
  struct Fetch {
    api::FetchState from;
  };
  // What is under way for the job stops; what has come of it stays for the next attempt.
  struct Abandon {
    JobId job;
  };
  // The report goes first.
  struct Start {
    api::AgentToDaemon report;
    std::vector<api::StartWorker> orders;
  };
  using Step = std::variant<Ask, Fetch, Abandon, Start>;
  using Steps = std::vector<Step>;

  // Requires of the order: it names a state. Twice the same order is one.
  [[nodiscard]] Steps hold(api::StartWorker order, Instant now);
  [[nodiscard]] Steps on(const api::FetchState& from);
  [[nodiscard]] Steps on(const api::NoState& none, Instant now);
  void bytes_came(JobId job, Instant now);
  [[nodiscard]] Steps state_is_here(JobId job, std::int64_t step, std::int64_t bytes, Instant now);
  void fetch_broke(JobId job, const std::string& why, Instant now);
  [[nodiscard]] Steps time_passed(Instant now);

  void link_up(Instant now);
  void link_down();
  // What has been told of states whose workers still live, for the daemon that is there now.
  [[nodiscard]] std::vector<api::AgentToDaemon> told() const;

  [[nodiscard]] bool holds(WorkerId worker) const;
  // It will not be started.
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
    Instant heard_at;  // newest byte, or since when it can be asked for
    std::optional<Instant> ask_at;
    std::optional<Instant> drop_at;  // no worker waits; it is kept until then
    bool fetching = false;
    std::string trouble;  // why the newest attempt has failed
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
