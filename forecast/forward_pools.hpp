// The nodes of pools in the world of a forecast: each requested node joins after its pool's lead time, each node that
// is given back disappears a moment later, and no provider refuses. Pure.
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/event_heap.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/fact.hpp"

namespace tidepool::forecast {

class ForwardPools {
 public:
  // What is in progress follows from the state. Called at the beginning, and after every decision.
  void follow(const core::ClusterState& state, Instant now);
  [[nodiscard]] std::optional<Instant> next_at() const;
  // Requires: next_at().
  [[nodiscard]] std::vector<core::Fact> take(const core::ClusterState& state);

 private:
  enum class Step { kCreated, kJoins, kGone };
  using Event = std::pair<core::NodeRequest, Step>;
  void schedule(core::NodeRequest request, Step step, Instant at);

  EventHeap<Event> heap_;
  std::set<Event> scheduled_;
};

}  // namespace tidepool::forecast
