// One node at the other end of the loop's links: the agent's own state machine over modelled processes, which are the
// simulator's (sim/fleet.hpp). Its time goes on to that of the clock when it says hello and when it is asked for what
// it says next; a test that only plays its part itself has a node on which nothing happens by itself.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/event_heap.hpp"
#include "base/rng.hpp"
#include "schedulerd/live/service/inbox.hpp"
#include "sim/fleet.hpp"
#include "sim/turn_messages.hpp"
#include "tests/support/manual_clock.hpp"

namespace tidepool::test {

class ModelledNode final : public live::Outbox {
 public:
  // A node of four slots, switched on.
  explicit ModelledNode(ManualClock& clock);

  // On the writer's thread. What is posted is under way until deliver().
  void post(std::vector<live::OutboxItem> items) override;
  // Requires: the loop has settled.
  void deliver();

  // The connection ends with the daemon, and so does what is under way. Workers live on.
  void disconnect();
  [[nodiscard]] bool connected() const { return connected_; }
  // The agent connects, again if it was connected.
  [[nodiscard]] live::AgentHelloItem hello();
  // What its agent says next; none if all is quiet. Now and then a worker dies before, drawn by `rng`.
  [[nodiscard]] std::optional<live::InboxItem> next_report(Rng& rng);

  [[nodiscard]] const std::string& name() const { return fleet_.name(0); }
  [[nodiscard]] const std::vector<WorkerId>& started() const { return started_; }  // as the agent was told, in order
  [[nodiscard]] const std::vector<std::string>& violations() const { return fleet_.violations(); }

 private:
  [[nodiscard]] sim::Fleet::Setup fleet_setup();
  void catch_up();
  [[nodiscard]] live::InboxItem take();

  ManualClock& clock_;
  Instant now_;  // on the node
  EventHeap<sim::FleetEvent> heap_;
  sim::NodeIds ids_;
  bool link_wanted_ = false;
  bool connected_ = false;
  bool answered_ = false;                 // the hello, on this link
  std::vector<live::OutboxItem> posted_;  // under way to the node
  std::deque<sim::Incoming> said_;        // and from it
  std::vector<WorkerId> started_;
  sim::Fleet fleet_;
};

}  // namespace tidepool::test
