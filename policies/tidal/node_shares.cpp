#include "policies/tidal/node_shares.hpp"

#include <algorithm>
#include <utility>

#include "policies/engine/type_shares.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;
using cluster::Share;

bool holds_all(const NodeShares::Nodes& set, const NodeShares::Nodes& nodes) {
  return std::includes(set.begin(), set.end(), nodes.begin(), nodes.end());
}

}  // namespace

void NodeShares::reset(const std::vector<NodeSlots>& nodes) {
  nodes_ = nodes;
  slots_.clear();
  held_.assign(nodes.size(), 0);
  for (const NodeSlots& node : nodes) slots_.push_back(node.open ? node.all : 0);
  sets_.clear();
  entries_ = {};
  touched_ = {};
  slots_moved_ = true;
}

void NodeShares::add_slots(int node, int slots) {
  slots_[static_cast<std::size_t>(node)] += slots;
  slots_moved_ = true;
}

void NodeShares::limit_types(const core::TypeBounds* most) {
  static const core::TypeBounds none;
  const core::TypeBounds& bounds = most == nullptr ? none : *most;
  if (bounds == type_most_) return;
  type_most_ = bounds;
  slots_moved_ = true;
}

void NodeShares::add_held(int node, int slots) {
  held_[static_cast<std::size_t>(node)] += slots;
  slots_moved_ = true;
}

NodeShares::Set& NodeShares::set_for(Kind kind, const Nodes& nodes) {
  const auto found = sets_.find(std::pair<Kind, const Nodes&>(kind, nodes));
  if (found != sets_.end()) return found->second;
  Set& set = sets_[{kind, nodes}];
  set.kind = kind;
  set.nodes = nodes;
  set.market = std::make_unique<MarketState>(SlotPool{});
  look_around();
  for (const auto& [id, entry] : entries_) {
    if (is_in(entry, set)) touched_.insert(id);
  }
  return set;
}

// No job is bound to exactly these nodes any longer.
void NodeShares::drop(Set& set) {
  for (const auto& [id, entry] : entries_) {
    if (is_in(entry, set)) touched_.insert(id);
  }
  sets_.erase(Key(set.kind, set.nodes));
  look_around();
}

void NodeShares::look_around() {
  for (auto& [key, set] : sets_) {
    set.around.clear();
    for (auto& [other_key, other] : sets_) {
      if (other.kind == set.kind && holds_all(other.nodes, set.nodes)) set.around.push_back(&other);
    }
  }
}

bool NodeShares::is_in(const Entry& entry, const Set& set) {
  return std::find(entry.own->around.begin(), entry.own->around.end(), &set) != entry.own->around.end();
}

void NodeShares::put(JobRow row, Instant at, Kind kind, const Nodes& nodes) {
  const JobId id = row.id;
  const auto known = entries_.find(id);
  if (known != entries_.end()) {
    const Set& own = *known->second.own;
    if (own.kind != kind || own.nodes != nodes) leave(id);
  }
  if (!entries_.contains(id)) {
    Set& own = set_for(kind, nodes);
    ++own.jobs_bound;
    entries_[id].own = &own;
  }
  Entry& entry = entries_.at(id);
  entry.row = std::move(row);
  entry.at = at;
  touched_.insert(id);
}

void NodeShares::leave(JobId job) {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return;
  Set& own = *found->second.own;
  for (Set* set : own.around) take_out(job, *set);
  entries_.erase(found);
  touched_.erase(job);
  if (--own.jobs_bound == 0) drop(own);
}

void NodeShares::take_out(JobId job, Set& set) {
  const auto found = set.members.find(job);
  if (found == set.members.end()) return;
  set.wanted -= found->second.wanted;
  set.members.erase(found);
  set.market->leave(job);
}

// Most that it may have, by this market; none = it is not cut.
std::optional<int> NodeShares::share(const Entry& entry, const Set& set) {
  if (!set.lacks) return std::nullopt;
  const int bought = set.market->market().choice(entry.row.id).size;
  return entry.row.resize_blocked ? std::max(bought, size_of(entry.row.placement)) : bought;
}

// The first market, of those before one of them or of all, in which it may have nothing.
const NodeShares::Set* NodeShares::shut_by(const Entry& entry, const Set* before) {
  for (const Set* set : entry.own->around) {
    if (set == before) break;
    if (share(entry, *set) == 0 && !entry.row.resize_blocked) return set;
  }
  return nullptr;
}

JobRow NodeShares::cut_before(const Entry& entry, const Set* before) {
  JobRow row = entry.row;
  for (const Set* set : entry.own->around) {
    if (set == before) break;
    if (const auto most = share(entry, *set)) cluster::cut(row, *most);
  }
  return row;
}

// As cut by the markets of smaller sets, which are settled; promises are no part of it.
void NodeShares::bid(const Entry& entry, Set& set) {
  if (shut_by(entry, &set) != nullptr) return take_out(entry.row.id, set);
  JobRow row = cut_before(entry, &set);
  row.deadline.reset();
  std::erase_if(row.placement,
                [&](const Share& held) { return !std::binary_search(set.nodes.begin(), set.nodes.end(), held.node); });
  int& wanted = set.members[row.id].wanted;
  set.wanted += row.size_max - std::exchange(wanted, row.size_max);
  set.market->put(std::move(row), entry.at);
}

int NodeShares::slots_of(const Set& set) const {
  int slots = 0;
  std::map<std::string, int> bounded;
  for (const int node : set.nodes) {
    const auto at = static_cast<std::size_t>(node);
    const bool is_bounded = set.kind == Kind::kAsk && type_most_.contains(nodes_[at].type);
    int& sum = is_bounded ? bounded[nodes_[at].type] : slots;
    sum += slots_[at] - (set.kind == Kind::kOn ? held_[at] : 0);
  }
  for (const auto& [type, there_are] : bounded) slots += std::min(there_are, type_most_.at(type));
  return std::max(0, slots);
}

void NodeShares::count_slots(Set& set, Instant now) const {
  SlotPool pool{.slots = slots_of(set), .slots_per_node = 1, .now = now};
  for (const int node : set.nodes) {
    pool.slots_per_node = std::max(pool.slots_per_node, nodes_[static_cast<std::size_t>(node)].all);
  }
  if (std::exchange(set.slots, pool.slots) != pool.slots) set.market->set_pool(pool);
}

void NodeShares::sell(Set& set, Instant now, Settled& settled, core::StepBudget& budget) const {
  const Market::Settlement sold = set.market->settle(now, budget);
  IdSet<JobId> news = sold.changed;
  const Market& market = set.market->market();
  for (const JobId next : {std::exchange(set.next_in_line, market.next_bidder()), market.next_bidder()}) {
    if (next) news.insert(next);
  }
  const bool lacks = set.wanted > set.slots;
  if (std::exchange(set.lacks, lacks) != lacks) {
    for (const auto& [id, member] : set.members) news.insert(id);
  }
  for (const JobId id : news) {
    const auto member = set.members.find(id);
    if (member == set.members.end()) continue;
    const auto now_has = share(entries_.at(id), set);
    if (std::exchange(member->second.share, now_has) != now_has) {
      settled.moved.insert(id);
    } else if (now_has == 0) {
      settled.words.insert(id);
    }
  }
  set.terms = terms_of(market, static_cast<double>(sold.free));
}

NodeShares::Settled NodeShares::settle(Instant now, core::StepBudget& budget) {
  const bool slots_moved = std::exchange(slots_moved_, false);
  Settled settled{.moved = std::exchange(touched_, {}), .words = {}};
  for (auto& [key, set] : sets_) {
    if (slots_moved || set.slots < 0) count_slots(set, now);
    for (const JobId id : settled.moved) {
      const Entry& entry = entries_.at(id);
      if (is_in(entry, set)) bid(entry, set);
    }
    sell(set, now, settled, budget);
  }
  return settled;
}

JobRow NodeShares::cut_row(JobId job) const {
  return cut_before(entries_.at(job), nullptr);
}

std::optional<NodeShares::Shut> NodeShares::shut(JobId job) const {
  const Entry& entry = entries_.at(job);
  const Set* set = shut_by(entry, nullptr);
  if (set == nullptr) return std::nullopt;
  const Curve& curve = set->market->market().curve(job);
  return Shut{.row = &entry.row,
              .curve = &curve,
              .terms = set->terms,
              .is_outbid = curve.size() > 1 && set->next_in_line && set->next_in_line != job};
}

}  // namespace tidepool::policies::tidal
