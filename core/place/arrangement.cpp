#include "core/place/arrangement.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/state/node_constraints.hpp"
#include "core/state/node_labels.hpp"

namespace tidepool::core {
namespace {

struct Domain {
  std::vector<std::size_t> rooms;  // indices
  int room = 0;                    // workers
  int first_room = 0;              // of these, not on nodes that are used last
  int own = 0;                     // workers of the job that are there
};
using Domains = std::map<std::string, Domain>;

class Arranger {
 public:
  explicit Arranger(ArrangeRequest request) : request_(std::move(request)) {
    for (const NodeId node : request_.stay) {
      ++on_[node];
      ++domains_[name_of(node)].own;
    }
    for (std::size_t at = 0; at < request_.rooms.size(); ++at) {
      const RoomOnNode& room = request_.rooms[at];
      if (room.workers < 1) continue;
      Domain& domain = domains_[name_of(room.node)];
      domain.rooms.push_back(at);
      domain.room += room.workers;
      if (!room.is_last) domain.first_room += room.workers;
      if (room.node == request_.first_on) first_domain_ = name_of(room.node);
    }
  }

  std::optional<std::vector<NodeId>> find() {
    if (workers_by_rules(request_.state, request_.spec, request_.rooms, request_.stay) < request_.workers) {
      return std::nullopt;
    }
    if (request_.workers % group() != 0) return std::nullopt;
    std::vector<NodeId> nodes;
    for (int left = request_.workers; left > 0; left -= group()) {
      Domain* domain = next_domain(left);
      if (domain == nullptr) return std::nullopt;
      for (int placed = 0; placed < group(); ++placed) {
        nodes.push_back(put_one(*domain, asks_to_spread(request_.spec) ? 1 : std::min(left - placed, domain->room)));
        first_domain_.reset();
      }
    }
    return nodes;
  }

 private:
  [[nodiscard]] int group() const { return request_.spec.elastic.group; }
  [[nodiscard]] std::string name_of(NodeId node) const {
    return domain_of(*request_.state.find_node(node), request_.spec.placement.key);
  }

  // The lower comes first. `left`: workers that are still to be placed.
  using Rank = std::tuple<bool, int, bool, int>;
  [[nodiscard]] Rank rank_of(const std::string& name, const Domain& domain, int left) const {
    const bool is_second = first_domain_ && *first_domain_ != name;
    if (asks_to_spread(request_.spec))
      return {is_second && domain.own == 0, domain.own, domain.first_room == 0, -domain.room};
    const bool is_short = domain.room < left;
    const int size = is_short ? -domain.room : domain.room;
    return {is_second && domain.own == 0, domain.own == 0 ? 1 : 0, is_short || domain.first_room < left, size};
  }

  [[nodiscard]] bool is_open(const Domain& domain, int left) const {
    if (domain.room < group()) return false;
    if (is_one_per_domain(request_.spec)) return domain.own == 0;
    if (!is_in_one_domain(request_.spec)) return true;
    return domain.room >= left && (request_.stay.empty() || domain.own > 0);
  }

  Domain* next_domain(int left) {
    Domain* best = nullptr;
    Rank best_rank;
    for (auto& [name, domain] : domains_) {
      if (!is_open(domain, left)) continue;
      const Rank rank = rank_of(name, domain, left);
      if (best != nullptr && rank >= best_rank) continue;
      best = &domain;
      best_rank = rank;
    }
    return best;
  }

  NodeId put_one(Domain& domain, int left_here) {
    const auto rank = [&](std::size_t at) {
      const RoomOnNode& room = request_.rooms[at];
      // Workers that are spread go to the emptiest node, so that rooms that are held for them stay the same ones when
      // other jobs take the rest.
      const bool is_short = asks_to_spread(request_.spec) || room.workers < left_here;
      const bool is_first = first_domain_ && room.node == request_.first_on;
      return std::tuple(room.workers == 0, !is_first, room.is_last, !on_.contains(room.node), is_short,
                        is_short ? -room.workers : room.workers, room.node);
    };
    const auto best = std::min_element(domain.rooms.begin(), domain.rooms.end(),
                                       [&](std::size_t one, std::size_t other) { return rank(one) < rank(other); });
    RoomOnNode& room = request_.rooms[*best];
    --room.workers;
    --domain.room;
    if (!room.is_last) --domain.first_room;
    ++domain.own;
    ++on_[room.node];
    return room.node;
  }

  ArrangeRequest request_;
  Domains domains_;
  std::map<NodeId, int> on_;                 // workers of the job, those that are placed included
  std::optional<std::string> first_domain_;  // where the first worker is to go
};

}  // namespace

std::optional<std::vector<NodeId>> arrange(ArrangeRequest request) {
  return Arranger(std::move(request)).find();
}

}  // namespace tidepool::core
