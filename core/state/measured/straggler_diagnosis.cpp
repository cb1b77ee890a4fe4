#include "core/state/measured/straggler_diagnosis.hpp"

#include "base/id_set.hpp"
#include "core/state/measured/node_speed.hpp"

namespace tidepool::core {
namespace {

// A detector may need up to a hundred steps to find a slowness that existed from the start.
constexpr std::int64_t kStepsToFind = 100;

bool slow_from_its_beginning(const StragglerTrack& track) {
  return track.slow_steps > 0 && track.steps - track.slow_steps <= kStepsToFind;
}

}  // namespace

Diagnosis diagnose(const ClusterState& state, const Worker& slow) {
  Diagnosis found;
  if (const Node* node = state.find_node(slow.node)) {
    found.node_speed = speed_of(state, *node).value_or(0);
    for (const WorkerId id : IdSet<WorkerId>(node->owners.begin(), node->owners.end())) {
      if (!id || id == slow.id) continue;
      const Worker& peer = *state.find_worker(id);
      if (peer.track.steps < kStepsToKnow) continue;
      ++found.node_peers;
      if (peer.track.slow_steps > 0) ++found.node_slow;
    }
  }
  if (slow.replaced && slow_from_its_beginning(slow.track)) {
    found.follows = slow.replaced_on == slow.node ? Follows::kNode : Follows::kData;
  } else if ((found.node_slow * 2 >= found.node_peers && found.node_slow > 0) ||
             (found.node_speed > 0 && found.node_speed < kSlowNode)) {
    found.follows = Follows::kNode;
  } else if (found.node_peers > 0 || found.node_speed > 0) {
    found.follows = Follows::kWorker;
  }
  return found;
}

std::string_view to_text(Follows follows) {
  switch (follows) {
    case Follows::kUnknown: return "unknown";
    case Follows::kWorker: return "worker";
    case Follows::kNode: return "node";
    case Follows::kData: return "data";
  }
  return "unknown";
}

}  // namespace tidepool::core
