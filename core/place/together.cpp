#include "core/place/together.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/id_set.hpp"
#include "core/state/membership.hpp"

namespace tidepool::core {
namespace {

struct Seats {
  NodeId node;
  int own = 0;   // workers of the job that are there
  int room = 0;  // workers of it that could be, these included
};

// Beyond this many steps of the exact choice, nodes are chosen one by one.
constexpr std::size_t kStepsMost = 1'000'000;

class Search {
 public:
  Search(const FreeSlots& slots, const TogetherRequest& request)
      : slots_(slots), request_(request), each_(request.gang.slots_per_worker) {
    for (const auto& [node, workers] : request.own) own_.push_back({node, workers, workers + room_on(node)});
    std::sort(own_.begin(), own_.end(), [](const Seats& one, const Seats& other) {
      return std::tuple(-one.own, -one.room, one.node) < std::tuple(-other.own, -other.room, other.node);
    });
    const auto wanted = static_cast<std::size_t>(request.nodes_max) + own_.size();
    for (const NodeId node : slots.emptiest(request.gang, wanted)) {
      if (!request.own.contains(node) && node != request.emptied) others_.push_back({node, 0, room_on(node)});
    }
    if (request.emptied && !request.own.contains(request.emptied)) {
      others_.push_back({request.emptied, 0, room_on(request.emptied)});
    }
  }

  [[nodiscard]] std::optional<WorkersOn> find() {
    std::sort(others_.begin(), others_.end(), [](const Seats& one, const Seats& other) {
      return std::tuple(-one.room, one.node) < std::tuple(-other.room, other.node);
    });
    const auto kept = own_to_keep();
    if (!kept) return std::nullopt;
    WorkersOn workers;
    int left = request_.gang.workers;
    for (const std::size_t at : *kept) left -= workers[own_[at].node] = own_[at].own;
    for (const std::size_t at : *kept) left -= put(workers, own_[at], left);
    while (left > 0) left -= put(workers, next_other(left), left);
    return workers;
  }

 private:
  [[nodiscard]] int room_on(NodeId node) const {
    if (node == request_.emptied) return request_.emptied_room;
    return slots_.may_take(node, request_.gang) ? static_cast<int>(slots_.free_on(node)) / each_ : 0;
  }

  // What the emptiest other nodes hold together.
  [[nodiscard]] int room_elsewhere(std::size_t nodes) const {
    int room = 0;
    for (std::size_t at = 0; at < std::min(nodes, others_.size()); ++at) room += others_[at].room;
    return room;
  }

  // Of the job's own nodes those on which most of its workers are, so that the emptiest other nodes have room for the
  // rest and all of them are no more than allowed. Nothing if there is no such choice.
  [[nodiscard]] std::optional<std::vector<std::size_t>> own_to_keep() const {
    const auto nodes = std::min(own_.size(), static_cast<std::size_t>(request_.nodes_max));
    const std::size_t steps = own_.size() * nodes * static_cast<std::size_t>(request_.gang.workers);
    return steps <= kStepsMost ? best_to_keep(nodes) : some_to_keep();
  }

  // A knapsack: the most room of a number of the first nodes, with a number of the job's workers on them.
  [[nodiscard]] std::optional<std::vector<std::size_t>> best_to_keep(std::size_t nodes) const {
    const auto all = static_cast<std::size_t>(
        std::accumulate(own_.begin(), own_.end(), 0, [](int sum, const Seats& seats) { return sum + seats.own; }));
    const std::size_t row = (nodes + 1) * (all + 1);
    const auto at = [&](std::size_t i, std::size_t count, std::size_t sum) {
      return i * row + count * (all + 1) + sum;
    };
    std::vector<int> best((own_.size() + 1) * row, -1);  // of the first i nodes, by how many of them and their workers
    best[0] = 0;
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const auto own = static_cast<std::size_t>(own_[i].own);
      std::copy_n(best.begin() + static_cast<std::ptrdiff_t>(i * row), row,
                  best.begin() + static_cast<std::ptrdiff_t>((i + 1) * row));
      for (std::size_t count = 0; count < nodes; ++count) {
        for (std::size_t sum = 0; sum + own <= all; ++sum) {
          if (best[at(i, count, sum)] < 0) continue;
          int& room = best[at(i + 1, count + 1, sum + own)];
          room = std::max(room, best[at(i, count, sum)] + own_[i].room);
        }
      }
    }
    for (std::size_t sum = all + 1; sum-- > 0;) {
      for (std::size_t count = 0; count <= nodes; ++count) {
        const int room = best[at(own_.size(), count, sum)];
        const auto others = static_cast<std::size_t>(request_.nodes_max) - count;
        if (room < 0 || room + room_elsewhere(others) < request_.gang.workers) continue;
        std::vector<std::size_t> kept;
        for (std::size_t i = own_.size(); i-- > 0;) {
          if (best[at(i + 1, count, sum)] == best[at(i, count, sum)]) continue;
          kept.push_back(i);
          --count;
          sum -= static_cast<std::size_t>(own_[i].own);
        }
        std::reverse(kept.begin(), kept.end());
        return kept;
      }
    }
    return std::nullopt;
  }

  // Those with most of its workers first, as long as the emptiest others still have room for the rest.
  [[nodiscard]] std::optional<std::vector<std::size_t>> some_to_keep() const {
    std::vector<std::size_t> kept;
    int room = 0;
    const auto nodes = static_cast<std::size_t>(request_.nodes_max);
    for (std::size_t at = 0; at < own_.size() && kept.size() < nodes; ++at) {
      const int with_it = room + own_[at].room;
      if (with_it + room_elsewhere(nodes - kept.size() - 1) < request_.gang.workers) continue;
      kept.push_back(at);
      room = with_it;
    }
    const int most = room + room_elsewhere(nodes - kept.size());
    return most < request_.gang.workers ? std::nullopt : std::optional(std::move(kept));
  }

  [[nodiscard]] static int put(WorkersOn& workers, const Seats& seats, int left) {
    const int more = std::min(left, seats.room - seats.own);
    if (more > 0) workers[seats.node] += more;
    return std::max(0, more);
  }

  // The smallest one that takes all that is left, else the emptiest one. Each is used once.
  [[nodiscard]] Seats next_other(int left) {
    auto next = others_.begin();
    for (auto at = others_.begin(); at != others_.end() && at->room >= left; ++at) {
      if (at->room < next->room) next = at;
    }
    const Seats seats = *next;
    others_.erase(next);
    return seats;
  }

  const FreeSlots& slots_;
  const TogetherRequest& request_;
  int each_;
  std::vector<Seats> own_;
  std::vector<Seats> others_;
};

}  // namespace

WorkersOn nodes_of(const ClusterState& state, const std::vector<WorkerId>& workers) {
  WorkersOn nodes;
  for (const WorkerId id : workers) {
    if (const Worker* worker = state.find_worker(id)) ++nodes[worker->node];
  }
  return nodes;
}

GangRequest gang_beside_members(const ClusterState& state, const Job& job, int workers,
                                const std::vector<WorkerId>& leaving) {
  GangRequest gang{.job = &job, .workers = workers, .slots_per_worker = job.spec.gpus_per_worker};
  for (const auto& [node, members] : nodes_of(state, job.membership.members)) gang.prefer.insert(node);
  if (!is_arranged(job.spec)) return gang;
  const IdSet<WorkerId> leaves(leaving.begin(), leaving.end());
  for (const WorkerId id : job.membership.members) {
    const Worker* worker = leaves.contains(id) ? nullptr : state.find_worker(id);
    if (worker != nullptr) gang.stay.push_back(worker->node);
  }
  return gang;
}

int fewest_nodes(const FreeSlots& slots, const Job& job, int workers) {
  const int per_node = slots.largest_for(job) / job.spec.gpus_per_worker;
  return per_node == 0 ? 0 : (workers + per_node - 1) / per_node;
}

std::optional<WorkersOn> lay_together(const FreeSlots& slots, const TogetherRequest& request) {
  return Search(slots, request).find();
}

}  // namespace tidepool::core
