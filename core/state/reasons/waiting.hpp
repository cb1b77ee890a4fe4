// Why a job waits, and what a policy file says of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/state/reasons/parts.hpp"

namespace tidepool::core {

namespace reason {

// Of a job that asks for a type of slots: what keeps it from them (type_moves.hpp).
struct TypeWait {
  bool typed = true;  // always: the API tells by it that the wait is for a type
  int movers = 0;     // workers that may be elsewhere and would have to move
  double cost_s = 0;  // of all of them, in slot-seconds
  JobId holder = {};  // which job holds most slots of these types; none = no job does
  int looks = 0;      // how often its waiting has doubled
  bool operator==(const TypeWait&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("typed", self.typed), at("movers", self.movers), at("cost_s", self.cost_s);
    at("holder", self.holder), at("looks", self.looks, kIdentity);
  }
};

struct WaitingForSlots {
  int needed = 0;
  int free = 0;
  std::optional<Market> market = {};
  std::optional<TypeWait> type = {};
  static constexpr Traits kTraits{"WaitingForSlots", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const WaitingForSlots&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("free", self.free), at("market", self.market), at("type", self.type);
  }
};

// Jobs could be preempted for it, and are not before it has waited for long enough (preempt_after).
struct PreemptsLater {
  int needed = 0;
  int free = 0;
  std::int64_t since_unix = 0;  // seconds since 1970; it waits since then
  std::int64_t from_unix = 0;   // they may be preempted for it from then on
  static constexpr Traits kTraits{"PreemptsLater", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const PreemptsLater&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("free", self.free);
    at("since_unix", self.since_unix, kIdentity), at("from_unix", self.from_unix, kIdentity);
  }
};

// The jobs that could be preempted for it have been preempted as often as is allowed (churn).
struct PreemptionLimit {
  int needed = 0;
  int free = 0;
  JobId job = {};  // that has been, and whose slots it needs; none = the pool's jobs together
  int limit = 0;   // preemptions within the window
  Duration window;
  std::int64_t again_unix = 0;  // seconds since 1970; it, or one of them, may be preempted then
  static constexpr Traits kTraits{"PreemptionLimit", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const PreemptionLimit&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("free", self.free), at("job", self.job, kIdentity),
        at("limit", self.limit, kIdentity);
    at("window_s", self.window), at("again_unix", self.again_unix, kIdentity);
  }
};

// A job that could be preempted for it has refused to leave.
struct PreemptionRefused {
  int needed = 0;
  int free = 0;
  JobId job = {};
  std::int64_t again_unix = 0;  // seconds since 1970; that one may be asked again then
  static constexpr Traits kTraits{"PreemptionRefused", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const PreemptionRefused&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("free", self.free), at("job", self.job, kIdentity);
    at("again_unix", self.again_unix, kIdentity);
  }
};

// Slots enough are free, but on too few nodes as many as each of its workers, or groups of workers, needs, or too few
// in one domain: other jobs leave nodes for it.
struct NodesBeingCleared {
  int workers = 0;                // or groups
  int slots_each = 0;             // of one of these
  std::optional<int> group = {};  // workers of a group
  std::string word = {};          // the domain that has to hold all of them: "rack r1"; empty = they may be apart
  static constexpr Traits kTraits{"NodesBeingCleared", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const NodesBeingCleared&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("workers", self.workers), at("slots_each", self.slots_each), at("group", self.group);
  }
};

// It needs more than the whole cluster has.
struct NeverFits {
  int needed = 0;
  int cluster = 0;
  bool typed = false;                  // of slots of the types that it asks for
  std::optional<int> with_pools = {};  // slots that it could have with all nodes that its pools may have
  std::optional<int> each = {};        // slots of a worker, if no node is large enough for one, and
  std::optional<int> largest = {};     // those of the largest node
  std::string word = {};  // the type with most room, where its workers are to be on one; empty = all are alike
  static constexpr Traits kTraits{"NeverFits", ReasonCategory::kWaiting};
  bool operator==(const NeverFits&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("cluster", self.cluster), at("typed", self.typed);
    at("with_pools", self.with_pools), at("each", self.each), at("largest", self.largest);
  }
};

// It asks for nodes by their labels or their memory, and those that are up would not hold it if they were empty.
struct NoNodeMatches {
  int needed = 0;
  int nodes = 0;                            // that match
  int cluster = 0;                          // slots of them that it could have
  bool typed = false;                       // of the types that it asks for, too
  std::optional<std::int64_t> memory = {};  // bytes a slot that it asks for; none = any will do
  std::string word = {};                    // the labels that it asks for; empty = any will do
  static constexpr Traits kTraits{"NoNodeMatches", ReasonCategory::kWaiting};
  bool operator==(const NoNodeMatches&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("nodes", self.nodes), at("cluster", self.cluster), at("typed", self.typed);
    at("memory", self.memory);
  }
};

// It asks for nodes by their labels or their memory, and waits for slots there (place/node_wait.hpp).
struct WaitingForNodes {
  int needed = 0;
  int free = 0;   // on the nodes that match
  int nodes = 0;  // so many
  int slots = 0;  // all of theirs
  int holders = 0;
  JobId holder = {};
  JobId holder_after = {};
  int movers = 0;                           // likewise as in TypeWait
  double cost_s = 0;                        // of all of them, in slot-seconds
  int looks = 0;                            // how often its waiting has doubled
  std::optional<std::int64_t> memory = {};  // likewise as in NoNodeMatches
  std::string word = {};
  static constexpr Traits kTraits{"WaitingForNodes", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const WaitingForNodes&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("free", self.free), at("nodes", self.nodes), at("slots", self.slots);
    at("holders", self.holders), at("holder", self.holder), at("holder_after", self.holder_after);
    at("movers", self.movers), at("cost_s", self.cost_s), at("looks", self.looks, kIdentity);
    at("memory", self.memory);
  }
};

// Its workers have to be in one domain, or each in one of its own (PlacementSpec), and no empty cluster of these nodes
// would hold it.
struct DomainsTooSmall {
  int needed = 0;                      // slots of one domain, or domains
  int room = 0;                        // that the largest domain has, or how many domains hold a worker
  bool apart = false;                  // each worker in a domain of its own
  std::optional<int> group = {};       // slots of a group of workers, each of which has to be in one domain
  std::optional<int> with_pools = {};  // of groups, room with all nodes that its pools may have
  std::string word = {};               // the label; where it is told to people, the largest domain: "rack r1"
  static constexpr Traits kTraits{"DomainsTooSmall", ReasonCategory::kWaiting};
  bool operator==(const DomainsTooSmall&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("room", self.room), at("apart", self.apart), at("group", self.group);
    at("with_pools", self.with_pools);
  }
};

// Its workers have rules together (place/gang_rules.hpp), and it waits for slots that suit them.
struct WaitingForDomains {
  int needed = 0;                 // slots, or domains where each worker has to have one of its own
  int room = 0;                   // of these there are now, in the domain with most
  bool apart = false;             // likewise
  bool exclusive = false;         // on nodes without other jobs
  JobId holder = {};              // holds most slots there
  std::optional<int> group = {};  // as in DomainsTooSmall
  std::string word = {};          // likewise; empty = any nodes do
  static constexpr Traits kTraits{"WaitingForDomains", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const WaitingForDomains&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("room", self.room), at("apart", self.apart), at("exclusive", self.exclusive);
    at("holder", self.holder), at("group", self.group);
  }
};

// What it would hold for good is more than its tenant, or one above it, is guaranteed (decide/tenant_planner.hpp).
struct BeyondGuarantee {
  int needed = 0;
  int held = 0;  // for good by other jobs of that tenant
  int guarantee = 0;
  std::string word = {};  // the tenant
  static constexpr Traits kTraits{"BeyondGuarantee", ReasonCategory::kWaiting};
  bool operator==(const BeyondGuarantee&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("held", self.held), at("guarantee", self.guarantee);
  }
};

// The budget of its tenant, or of one above it, is spent.
struct BudgetSpent : OfBudget {
  static constexpr Traits kTraits{"BudgetSpent", ReasonCategory::kWaiting};
};
// The same, where its threshold says that jobs are stopped: it ends.
struct BudgetStopped : OfBudget {
  static constexpr Traits kTraits{"BudgetStopped", ReasonCategory::kEnding};
};

struct BehindOlderJob {
  int ahead = 0;  // jobs
  int needed = 0;
  int free = 0;
  static constexpr Traits kTraits{"BehindOlderJob", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const BehindOlderJob&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("ahead", self.ahead), at("needed", self.needed), at("free", self.free);
  }
};

struct SuspendedByUser {
  bool resumes = false;  // it still leaves its slots, and was resumed since
  static constexpr Traits kTraits{"SuspendedByUser", ReasonCategory::kWaiting};
  bool operator==(const SuspendedByUser&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("resumes", self.resumes); }
};
struct NoNodes {
  std::optional<int> coming = {};  // nodes of a pool that are on their way; 0: it has failed to make one
  std::string word = {};           // that pool
  static constexpr Traits kTraits{"NoNodes", ReasonCategory::kWaiting};
  bool operator==(const NoNodes&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("coming", self.coming); }
};
// The policy's answer was dropped before it named the job.
struct PolicyFailed : Bare {
  static constexpr Traits kTraits{"PolicyFailed", ReasonCategory::kWaiting};
};

// Its newest state lies on a node without room.
struct WaitsForState {
  std::int64_t step = 0;
  NodeId node;
  Duration left;  // so long it waits at most
  Duration redo;  // training that would be done again elsewhere
  static constexpr Traits kTraits{"WaitsForState", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const WaitsForState&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("step", self.step), at("node", self.node), at("seconds_left", self.left), at("redo_s", self.redo);
  }
};

struct PriceWait {
  int needed = 0;
  std::optional<int> free = {};
  Market market = {};
  static constexpr Traits kTraits{"PriceWait", ReasonCategory::kWaiting};
  bool operator==(const PriceWait&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("free", self.free), at("market", self.market);
  }
};

struct MeritWait {
  int needed = 0;
  std::optional<int> free = {};
  Judgement by = {};
  static constexpr Traits kTraits{"MeritWait", ReasonCategory::kWaiting};
  bool operator==(const MeritWait&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("free", self.free), at("by", self.by);
  }
};

// It cannot end by its deadline, but so many seconds later.
struct DeadlineLost {
  int needed = 0;
  std::optional<double> late_s = {};        // beside what others were promised; 0 = in time, -1 = not known
  std::optional<double> alone_late_s = {};  // with all slots
  static constexpr Traits kTraits{"DeadlineLost", ReasonCategory::kWaiting};
  bool operator==(const DeadlineLost&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("late_s", self.late_s), at("alone_late_s", self.alone_late_s);
  }
};

// Others come first by the measure of its policy.
struct TurnWait {
  int needed = 0;
  int free = 0;
  std::optional<int> ahead = {};  // jobs that take their turns before it
  Judgement by = {};
  static constexpr Traits kTraits{"TurnWait", ReasonCategory::kWaiting};
  bool operator==(const TurnWait&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("free", self.free), at("ahead", self.ahead), at("by", self.by);
  }
};

// The policy file has not been asked about it yet, or its answer is on its way.
struct AwaitsPolicy : OfSize {
  static constexpr Traits kTraits{"AwaitsPolicy", ReasonCategory::kPolicy};
};

// What a policy file says, in a word and numbers of its own.
struct PolicyWord {
  int from = 0;
  int to = 0;
  std::string word = {};  // letters and digits
  std::vector<ReasonNumber> numbers = {};
  std::optional<JobId> for_job = {};  // as in Claimants
  std::optional<int> for_others = {};
  ShareRule rule = {};
  static constexpr Traits kTraits{"PolicyWord", ReasonCategory::kPolicy};
  bool operator==(const PolicyWord&) const = default;
  static constexpr void fields(auto& self, auto&& at) { Change::fields(self, at), Claimants::fields(self, at); }
};

}  // namespace reason
}  // namespace tidepool::core
