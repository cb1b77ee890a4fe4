#include "policies/cluster/cluster_view.hpp"

#include <algorithm>

namespace tidepool::policies::cluster {

int size_of(const Placement& placement) {
  int size = 0;
  for (const Share& share : placement) size += share.slots;
  return size;
}

int View::slots() const {
  int sum = 0;
  for (const NodeRow& node : nodes) sum += node.slots;
  return sum;
}

int View::slots_per_node() const {
  int most = 0;
  for (const NodeRow& node : nodes) most = std::max(most, node.slots);
  return most;
}

}  // namespace tidepool::policies::cluster
