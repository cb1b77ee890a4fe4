// Why a job waits, and the word of a policy file about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/state/reasons/parts.hpp"

namespace tidepool::core {

namespace reason {

// For a job that requests a slot type: what keeps it from slots of that type (type_moves.hpp).
struct TypeWait {
  bool typed = true;  // always: shows the API that the wait is for a type
  int movers = 0;     // workers that may use other types and would have to move
  double cost_s = 0;  // cost of all these moves, in slot-seconds
  JobId holder = {};  // the job that holds most slots of these types; none = no job does
  int looks = 0;      // how often its waiting time has doubled
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

// Jobs could be preempted for it, but not before it has waited for long enough (preempt_after).
struct PreemptsLater {
  int needed = 0;
  int free = 0;
  std::int64_t since_unix = 0;  // seconds since 1970; start of its wait
  std::int64_t from_unix = 0;   // seconds since 1970; from then on they may be preempted for it
  static constexpr Traits kTraits{"PreemptsLater", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const PreemptsLater&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("free", self.free);
    at("since_unix", self.since_unix, kIdentity), at("from_unix", self.from_unix, kIdentity);
  }
};

// The jobs that could be preempted for it were preempted as often as is allowed (churn).
struct PreemptionLimit {
  int needed = 0;
  int free = 0;
  JobId job = {};  // the job that reached its limit and whose slots are needed; none = the pool's jobs together
  int limit = 0;   // preemptions within the window
  Duration window;
  std::int64_t again_unix = 0;  // seconds since 1970; then it, or a job of the pool's, may be preempted
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
  std::int64_t again_unix = 0;  // seconds since 1970; from then on that job may be asked again
  static constexpr Traits kTraits{"PreemptionRefused", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const PreemptionRefused&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("free", self.free), at("job", self.job, kIdentity);
    at("again_unix", self.again_unix, kIdentity);
  }
};

// Enough slots are free, but too few nodes have as many as each of its workers, or groups of workers, needs, or one
// domain has too few: other jobs leave nodes for it.
struct NodesBeingCleared {
  int workers = 0;                // or groups
  int slots_each = 0;             // slots of one worker or group
  std::optional<int> group = {};  // workers of a group
  std::string word = {};          // the domain that must hold all of them: "rack r1"; empty = they may be apart
  static constexpr Traits kTraits{"NodesBeingCleared", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const NodesBeingCleared&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("workers", self.workers), at("slots_each", self.slots_each), at("group", self.group);
  }
};

// The job needs more than the whole cluster has.
struct NeverFits {
  int needed = 0;
  int cluster = 0;
  bool typed = false;                  // counts slots of the types that it requests
  std::optional<int> with_pools = {};  // slots that it could have if its pools had all nodes that they may have
  std::optional<int> each = {};     // slots of one worker, if no node is large enough for it; then `largest` is set too
  std::optional<int> largest = {};  // slots of the largest node
  std::string word = {};  // the type with most room, if its workers must be on one type; empty = all types are alike
  static constexpr Traits kTraits{"NeverFits", ReasonCategory::kWaiting};
  bool operator==(const NeverFits&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("cluster", self.cluster), at("typed", self.typed);
    at("with_pools", self.with_pools), at("each", self.each), at("largest", self.largest);
  }
};

// The job requests nodes by their labels or memory, and the matching nodes that are up would not hold it even if they
// were empty.
struct NoNodeMatches {
  int needed = 0;
  int nodes = 0;                            // matching nodes
  int cluster = 0;                          // slots of these nodes that it could have
  bool typed = false;                       // counts only the types that it requests
  std::optional<std::int64_t> memory = {};  // bytes per slot that it requests; none = any
  std::string word = {};                    // the labels that it requests; empty = any
  static constexpr Traits kTraits{"NoNodeMatches", ReasonCategory::kWaiting};
  bool operator==(const NoNodeMatches&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("nodes", self.nodes), at("cluster", self.cluster), at("typed", self.typed);
    at("memory", self.memory);
  }
};

// The job requests nodes by their labels or memory, and waits for slots there (place/node_wait.hpp).
struct WaitingForNodes {
  int needed = 0;
  int free = 0;   // free slots on the matching nodes
  int nodes = 0;  // matching nodes
  int slots = 0;  // all their slots
  int holders = 0;
  JobId holder = {};
  JobId holder_after = {};
  int movers = 0;                           // as in TypeWait
  double cost_s = 0;                        // cost of all moves, in slot-seconds
  int looks = 0;                            // how often its waiting time has doubled
  std::optional<std::int64_t> memory = {};  // as in NoNodeMatches
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

// The job's workers must be in one domain, or each in a domain of its own (PlacementSpec), and these nodes would not
// hold the job even if they were empty.
struct DomainsTooSmall {
  int needed = 0;                      // slots in one domain, or number of domains
  int room = 0;                        // slots of the largest domain, or number of domains that hold a worker
  bool apart = false;                  // each worker in a domain of its own
  std::optional<int> group = {};       // slots of a group of workers, each of which must be in one domain
  std::optional<int> with_pools = {};  // of groups: room if its pools had all nodes that they may have
  std::string word = {};               // the label; in the text for people the largest domain: "rack r1"
  static constexpr Traits kTraits{"DomainsTooSmall", ReasonCategory::kWaiting};
  bool operator==(const DomainsTooSmall&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("room", self.room), at("apart", self.apart), at("group", self.group);
    at("with_pools", self.with_pools);
  }
};

// There are rules for its workers together (place/gang_rules.hpp), and it waits for slots that meet them.
struct WaitingForDomains {
  int needed = 0;                 // slots, or domains if each worker must have one of its own
  int room = 0;                   // how many of these there are now, in the domain with most
  bool apart = false;             // as in DomainsTooSmall
  bool exclusive = false;         // on nodes without other jobs
  JobId holder = {};              // the job that holds most slots there
  std::optional<int> group = {};  // as in DomainsTooSmall
  std::string word = {};          // as in DomainsTooSmall; empty = any nodes
  static constexpr Traits kTraits{"WaitingForDomains", ReasonCategory::kWaiting, Blocks::kForLackOfSlots};
  bool operator==(const WaitingForDomains&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("room", self.room), at("apart", self.apart), at("exclusive", self.exclusive);
    at("holder", self.holder), at("group", self.group);
  }
};

// The job's permanent slots would exceed the guarantee of its tenant, or of a tenant above it
// (decide/tenant_planner.hpp).
struct BeyondGuarantee {
  int needed = 0;
  int held = 0;  // held permanently by other jobs of that tenant
  int guarantee = 0;
  std::string word = {};  // the tenant
  static constexpr Traits kTraits{"BeyondGuarantee", ReasonCategory::kWaiting};
  bool operator==(const BeyondGuarantee&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("held", self.held), at("guarantee", self.guarantee);
  }
};

// The budget of its tenant, or of a tenant above it, is spent.
struct BudgetSpent : OfBudget {
  static constexpr Traits kTraits{"BudgetSpent", ReasonCategory::kWaiting};
};
// Like BudgetSpent, if the budget's threshold stops jobs: the job ends.
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
  bool resumes = false;  // it is still leaving its slots, and was resumed since
  static constexpr Traits kTraits{"SuspendedByUser", ReasonCategory::kWaiting};
  bool operator==(const SuspendedByUser&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("resumes", self.resumes); }
};
struct NoNodes {
  std::optional<int> coming = {};  // nodes of a pool that are coming; 0: the pool failed to create one
  std::string word = {};           // that pool
  static constexpr Traits kTraits{"NoNodes", ReasonCategory::kWaiting};
  bool operator==(const NoNodes&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("coming", self.coming); }
};
// The policy's answer was dropped before it named the job.
struct PolicyFailed : Bare {
  static constexpr Traits kTraits{"PolicyFailed", ReasonCategory::kWaiting};
};

// The job's newest state is on a node without room.
struct WaitsForState {
  std::int64_t step = 0;
  NodeId node;
  Duration left;  // the longest time that it still waits
  Duration redo;  // training time that would be repeated elsewhere
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

// The job cannot meet its deadline, and will end this much later.
struct DeadlineLost {
  int needed = 0;
  std::optional<double> late_s = {};        // given what others were promised; 0 = in time, -1 = unknown
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
  std::optional<int> ahead = {};  // jobs that have their turns before it
  Judgement by = {};
  static constexpr Traits kTraits{"TurnWait", ReasonCategory::kWaiting};
  bool operator==(const TurnWait&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("needed", self.needed), at("free", self.free), at("ahead", self.ahead), at("by", self.by);
  }
};

// The policy file was not asked about it yet, or its answer has not arrived.
struct AwaitsPolicy : OfSize {
  static constexpr Traits kTraits{"AwaitsPolicy", ReasonCategory::kPolicy};
};

// A reason of a policy file, in its own word and numbers.
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
