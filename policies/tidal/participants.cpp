#include "policies/tidal/participants.hpp"

#include <utility>

#include "base/check.hpp"

namespace tidepool::policies::tidal {

using cluster::Share;

void Participants::reset(const std::vector<NodeShares::NodeSlots>& nodes) {
  TP_CHECK(parts_.empty(), "what is held on nodes of before was taken out");
  is_open_.clear();
  std::vector<std::optional<int>> open;
  for (const NodeShares::NodeSlots& node : nodes) {
    is_open_.push_back(node.open);
    open.push_back(node.open ? std::optional(node.all) : std::nullopt);
  }
  gang_room_ = GangRoom(open);
}

void Participants::put(JobId job, Part&& part, NodeShares& shares) {
  on_closed_ += part.on_closed;
  if (!part.bids) claimed_ += size_of(part.held);
  gang_room_.put(part.held, part.moves);
  share_out(part, 1, shares);
  parts_.emplace(job, std::move(part));
}

bool Participants::take_out(JobId job, NodeShares& shares) {
  const auto found = parts_.find(job);
  if (found == parts_.end()) return false;
  const Part& part = found->second;
  on_closed_ -= part.on_closed;
  if (!part.bids) claimed_ -= size_of(part.held);
  gang_room_.take_out(part.held, part.moves);
  share_out(part, -1, shares);
  parts_.erase(found);
  return true;
}

const Part* Participants::find(JobId job) const {
  const auto found = parts_.find(job);
  return found == parts_.end() ? nullptr : &found->second;
}

IdSet<JobId> Participants::jobs() const {
  IdSet<JobId> jobs;
  for (const auto& [id, part] : parts_) jobs.insert(id);
  return jobs;
}

// What it holds on nodes that take no jobs can be shared out all the same; what a claim holds cannot.
void Participants::share_out(const Part& part, int sign, NodeShares& shares) const {
  if (part.asks) {
    for (const Share& share : part.held) shares.add_held(share.node, sign * share.slots);
  }
  if (part.bids && part.on_closed == 0) return;
  for (const Share& share : part.held) {
    const int added = is_open(share.node) ? 0 : share.slots;
    shares.add_slots(share.node, sign * (part.bids ? added : added - share.slots));
  }
}

}  // namespace tidepool::policies::tidal
