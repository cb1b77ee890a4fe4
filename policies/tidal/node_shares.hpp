// What jobs that may use only some nodes can have of these nodes, kept in markets.
//
// Jobs that request particular nodes share these nodes among themselves, by the rule of type_shares.hpp for any policy:
// everything else there can move away. Jobs that request no nodes, but are on slots of one type, share what is left
// there: the slots of that type minus those that jobs of the first kind hold. So no plan uses more of a type than there
// is.
//
// Rules. For each kind and set of nodes to which some job is bound there is a market of the jobs of that kind whose
// nodes are all in the set, on the slots of these nodes alone; the smaller sets first. No job may have more than it
// buys in each of its markets, and a job that buys nothing is in no market of a larger set. A market with enough slots
// for all that its jobs could want cuts nothing. All answers follow from the rows that were put, the slots and the
// time, in whatever order they came.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id_set.hpp"
#include "base/id_table.hpp"
#include "core/decide/policy.hpp"
#include "policies/tidal/market_state.hpp"
#include "policies/tidal/reasons.hpp"

namespace tidepool::policies::tidal {

class NodeShares {
 public:
  using Nodes = std::vector<int>;  // indices, ascending
  struct NodeSlots {
    int all = 0;
    bool open = false;  // it takes jobs
    std::string type = {};
  };

  enum class Kind {
    kAsk,  // it requests the nodes
    kOn,   // it is on slots of their type, and could have been placed elsewhere
  };

  // Nodes have joined, left or changed: all jobs are dropped.
  void reset(const std::vector<NodeSlots>& nodes);
  // Slots to share in addition to those of nodes that take jobs: what is held on nodes that take none. Negative: what
  // is held by jobs that do not bid.
  void add_slots(int node, int slots);
  // Jobs that request nodes may have no more of these types together. Null: as many as there are.
  void limit_types(const core::TypeBounds* most);
  // Held by a job that requests nodes. Negative: no longer held.
  void add_held(int node, int slots);

  // The row of a job, as of `at`, and the nodes to which it is bound; replaces the previous one.
  void put(cluster::JobRow row, Instant at, Kind kind, const Nodes& nodes);
  void leave(JobId job);
  struct Settled {
    IdSet<JobId> moved;  // jobs that were put, or whose share has changed
    IdSet<JobId> words;  // other jobs whose reason for getting nothing may have changed
  };
  // Divides the slots as of `now`, which never decreases.
  [[nodiscard]] Settled settle(Instant now, core::StepBudget& budget);

  [[nodiscard]] bool knows(JobId job) const { return entries_.contains(job); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // As of the last settlement. Each requires: the job is known.
  [[nodiscard]] const Nodes& nodes_of(JobId job) const { return entries_.at(job).own->nodes; }
  [[nodiscard]] bool asks(JobId job) const { return entries_.at(job).own->kind == Kind::kAsk; }
  [[nodiscard]] const cluster::JobRow& row(JobId job) const { return entries_.at(job).row; }
  [[nodiscard]] Instant read_at(JobId job) const { return entries_.at(job).at; }
  // The row as it may bid for all slots: its sizes are limited to its share.
  [[nodiscard]] cluster::JobRow cut_row(JobId job) const;
  // A job that may have nothing: the market in which it bought nothing.
  struct Shut {
    const cluster::JobRow* row = nullptr;
    const Curve* curve = nullptr;
    Terms terms;
    bool is_outbid = false;
  };
  [[nodiscard]] std::optional<Shut> shut(JobId job) const;

 private:
  struct Member {
    int wanted = 0;            // slots
    std::optional<int> share;  // as of the last settlement
  };
  struct Set {
    Kind kind = Kind::kAsk;
    Nodes nodes;
    std::vector<Set*> around;  // sets that contain all its nodes, the smaller first, itself included
    int jobs_bound = 0;        // bound to exactly these nodes
    int slots = -1;            // that it divides; -1 = not counted yet
    bool lacks = false;        // its jobs could want more than there is
    std::int64_t wanted = 0;   // slots, by all its jobs
    IdTable<JobId, Member> members;
    std::unique_ptr<MarketState> market;
    JobId next_in_line;  // whose bid was the first to find no room; none = all bids got everything
    Terms terms;
  };
  struct Entry {
    cluster::JobRow row;
    Instant at;
    Set* own = nullptr;
  };
  using Key = std::pair<Kind, Nodes>;
  // The smaller set first. A set is looked up without a copy of its nodes; most sets that are compared are equal.
  struct Before {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      if (a.first != b.first) return a.first < b.first;
      if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
      return a.second != b.second && a.second < b.second;
    }
  };

  [[nodiscard]] Set& set_for(Kind kind, const Nodes& nodes);
  void drop(Set& set);
  void look_around();
  void count_slots(Set& set, Instant now) const;
  [[nodiscard]] int slots_of(const Set& set) const;
  [[nodiscard]] static bool is_in(const Entry& entry, const Set& set);
  [[nodiscard]] static std::optional<int> share(const Entry& entry, const Set& set);
  [[nodiscard]] static const Set* shut_by(const Entry& entry, const Set* before);
  [[nodiscard]] static cluster::JobRow cut_before(const Entry& entry, const Set* before);
  static void take_out(JobId job, Set& set);
  static void bid(const Entry& entry, Set& set);
  void sell(Set& set, Instant now, Settled& settled, core::StepBudget& budget) const;

  std::vector<NodeSlots> nodes_;
  std::vector<int> slots_;  // by node, that can be divided
  std::vector<int> held_;   // of these, by jobs that request nodes
  core::TypeBounds type_most_;
  bool slots_moved_ = false;
  std::map<Key, Set, Before> sets_;
  IdTable<JobId, Entry> entries_;
  IdSet<JobId> touched_;  // since the last settlement
};

}  // namespace tidepool::policies::tidal
