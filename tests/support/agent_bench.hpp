// An agent without processes or links, under a clock that the test turns: facts in, actions out.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "workers/agent/state/agent_state.hpp"

namespace tidepool::agent {

struct AgentBench {
  explicit AgentBench(RecordedWorkers history = {}, AgentTimes times = {}) : state(times, std::move(history), 1, now) {}

  std::vector<Action> pass(Duration time) {
    now = now + time;
    return tell(TimePassed{});
  }
  std::vector<Action> tell(Fact fact) { return state.step(now, std::move(fact)); }
  std::vector<Action> order(api::DaemonToAgent message) { return tell(DaemonMessageReceived{std::move(message)}); }

  // Brings the link up; the actions of the welcome.
  std::vector<Action> join(const std::string& cluster = "here") {
    (void)pass(Duration::seconds(3));
    (void)tell(LinkOpened{});
    return order(api::AgentWelcome{.node = NodeId(1), .cluster = cluster});
  }

  Instant now = Instant::from_micros(1'000'000);
  AgentState state;
};

}  // namespace tidepool::agent
