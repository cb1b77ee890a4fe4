// Why a size is held.
#pragma once

#include "core/state/reasons/parts.hpp"

namespace tidepool::core::reason {

// Not enough steps at this size yet.
struct Measuring {
  std::optional<std::int64_t> steps = {};  // none = no reason was given for the job so far
  std::optional<std::int64_t> of = {};
  static constexpr Traits kTraits{"Measuring", ReasonCategory::kHolding};
  bool operator==(const Measuring&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("steps", self.steps), at("of", self.of, kIdentity); }
};

struct Cooldown : Left {
  static constexpr Traits kTraits{"Cooldown", ReasonCategory::kHolding};
};
struct MinRuntime : Left {
  static constexpr Traits kTraits{"MinRuntime", ReasonCategory::kHolding};
};
// The job ends sooner than it could be restarted.
struct EndsSoon : Left {
  static constexpr Traits kTraits{"EndsSoon", ReasonCategory::kHolding};
};
// Other jobs come first, and the job, or the pool's jobs together, were preempted as often as is allowed (churn).
struct PreemptedOften {
  bool pool = false;
  int limit = 0;  // preemptions within the window
  Duration window;
  std::int64_t again_unix = 0;  // seconds since 1970; from then on it may be preempted again
  static constexpr Traits kTraits{"PreemptedOften", ReasonCategory::kHolding};
  bool operator==(const PreemptedOften&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("pool", self.pool, kIdentity), at("limit", self.limit, kIdentity), at("window_s", self.window);
    at("again_unix", self.again_unix, kIdentity);
  }
};

// Another job needs its slots: its program is asked first, and may refuse.
struct AskedToLeave {
  JobId for_job = {};
  std::int64_t until_unix = 0;  // seconds since 1970; it leaves if it has not refused by then
  static constexpr Traits kTraits{"AskedToLeave", ReasonCategory::kHolding};
  bool operator==(const AskedToLeave&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("for_job", self.for_job, kIdentity), at("until_unix", self.until_unix, kIdentity);
  }
};
// The job's program has refused, and the refusal is still in force.
struct RefusesToLeave {
  std::int64_t again_unix = 0;  // seconds since 1970; from then on it may be asked again
  static constexpr Traits kTraits{"RefusesToLeave", ReasonCategory::kHolding};
  bool operator==(const RefusesToLeave&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("again_unix", self.again_unix, kIdentity); }
};

struct TransitionInProgress : Change {
  static constexpr Traits kTraits{"TransitionInProgress", ReasonCategory::kHolding};
};
struct FixedSize : OfSize {
  static constexpr Traits kTraits{"FixedSize", ReasonCategory::kHolding};
};
struct PinnedByUser : OfSize {
  static constexpr Traits kTraits{"PinnedByUser", ReasonCategory::kHolding};
};
struct AtMax : OfSize {
  static constexpr Traits kTraits{"AtMax", ReasonCategory::kHolding};
};
struct AtMin : OfSize {
  static constexpr Traits kTraits{"AtMin", ReasonCategory::kHolding};
};
// The job's tenant may have no more slots than its jobs hold. Used in place of AtMax if the share is the binding limit.
struct ShareHold {
  int size = 0;
  int share = 0;          // the tenant's slot limit
  std::string word = {};  // the tenant
  std::string type = {};  // slot type to which the limit applies; empty = all types together
  static constexpr Traits kTraits{"ShareHold", ReasonCategory::kHolding};
  bool operator==(const ShareHold&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("size", self.size, kIdentity | kSize), at("share", self.share);
  }
};
// The job's policy gives it no slots, but no other job takes the slots it has: none needs them, or one that does may
// not take them yet, or the job ends soon.
struct Unclaimed : OfSize {
  static constexpr Traits kTraits{"Unclaimed", ReasonCategory::kHolding};
};
// The job's program reports no steps, so sizes cannot be judged.
struct NoMeasurements : OfSize {
  static constexpr Traits kTraits{"NoMeasurements", ReasonCategory::kHolding};
};

// The shape of a size compared with the next one.
struct WithNext {
  int size = 0;
  int next = 0;
  bool operator==(const WithNext&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("size", self.size, kIdentity | kSize), at("next", self.next, kIdentity | kSize);
  }
};

// The next size is not worth the additional workers.
struct EfficiencySettled : WithNext {
  Efficiency by = {};
  static constexpr Traits kTraits{"EfficiencySettled", ReasonCategory::kHolding};
  bool operator==(const EfficiencySettled&) const = default;
  static constexpr void fields(auto& self, auto&& at) { WithNext::fields(self, at), at("by", self.by); }
};
struct UtilitySettled : WithNext {
  Utility by = {};
  static constexpr Traits kTraits{"UtilitySettled", ReasonCategory::kHolding};
  bool operator==(const UtilitySettled&) const = default;
  static constexpr void fields(auto& self, auto&& at) { WithNext::fields(self, at), at("by", self.by); }
};

struct NoSlotsToGrow {
  int wanted = 0;
  int free = 0;
  bool queue = false;                 // jobs in the queue come first
  std::optional<int> all = {};        // slots that it may use, held or free, if these are too few
  std::optional<int> of_others = {};  // free slots of types that it does not accept
  std::optional<JobId> first = {};    // the first job in the queue; none = not recorded
  std::optional<JobId> for_job = {};  // it released slots for this job, which has not received them yet
  std::string word = {};              // the types that it accepts; empty = any, or not recorded
  static constexpr Traits kTraits{"NoSlotsToGrow", ReasonCategory::kHolding, Blocks::kForLackOfSlots};
  bool operator==(const NoSlotsToGrow&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("wanted", self.wanted), at("free", self.free), at("queue", self.queue), at("all", self.all);
    at("of_others", self.of_others), at("first", self.first), at("for_job", self.for_job, kIdentity);
  }
};

struct PriceCap {
  Money cap;                      // per hour
  Money price;                    // of the next size, per hour
  std::optional<int> slots = {};  // the job holds no slots: this many of the cheapest suitable slots cost that
  static constexpr Traits kTraits{"PriceCap", ReasonCategory::kHolding};
  bool operator==(const PriceCap&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("cap", self.cap), at("price", self.price), at("slots", self.slots);
  }
};

// Fewer than one sample per worker.
struct BatchTooSmall {
  int size = 0;
  std::int64_t global = 0;
  static constexpr Traits kTraits{"BatchTooSmall", ReasonCategory::kHolding};
  bool operator==(const BatchTooSmall&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("size", self.size, kIdentity | kSize), at("global", self.global);
  }
};

// The change costs more time than it would gain. Estimates, which may exceed any Duration.
struct TransitionTooDear : Change {
  double gain_s = 0;
  double stall_s = 0;
  static constexpr Traits kTraits{"TransitionTooDear", ReasonCategory::kHolding};
  bool operator==(const TransitionTooDear&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    Change::fields(self, at), at("gain_s", self.gain_s), at("stall_s", self.stall_s);
  }
};

struct PriceHold : WithNext {  // next: 0 = its size may not change yet
  std::optional<Market> market = {};
  static constexpr Traits kTraits{"PriceHold", ReasonCategory::kHolding};
  bool operator==(const PriceHold&) const = default;
  static constexpr void fields(auto& self, auto&& at) { WithNext::fields(self, at), at("market", self.market); }
};

// The gain of the next size by its policy's measure is not enough, or too few slots are free.
struct MeritHold {
  int size = 0;
  std::optional<int> next = {};
  std::optional<int> free = {};
  Judgement by = {};
  static constexpr Traits kTraits{"MeritHold", ReasonCategory::kHolding};
  bool operator==(const MeritHold&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    WithNext::fields(self, at), at("free", self.free), at("by", self.by);
  }
};

// The job should have more slots, and no nodes have that many together.
struct NoRoomTogether : WithNext {
  std::optional<Market> market = {};
  static constexpr Traits kTraits{"NoRoomTogether", ReasonCategory::kHolding};
  bool operator==(const NoRoomTogether&) const = default;
  static constexpr void fields(auto& self, auto&& at) { WithNext::fields(self, at), at("market", self.market); }
};

// The job should have more slots, and no slots meet the rules for its workers together.
struct NoRoomByRules : WithNext {
  bool apart = false;             // each worker in a domain of its own, not all in one
  bool exclusive = false;         // on nodes without other jobs
  std::optional<int> group = {};  // workers of a group, each of which must be in one domain
  std::string word = {};          // the label of the domains; empty = any nodes
  static constexpr Traits kTraits{"NoRoomByRules", ReasonCategory::kHolding};
  bool operator==(const NoRoomByRules&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    WithNext::fields(self, at), at("apart", self.apart), at("exclusive", self.exclusive), at("group", self.group);
  }
};

// The job comes before others by the measure of its policy.
struct TurnHold : OfSize {
  Judgement by = {};
  static constexpr Traits kTraits{"TurnHold", ReasonCategory::kHolding};
  bool operator==(const TurnHold&) const = default;
  static constexpr void fields(auto& self, auto&& at) { OfSize::fields(self, at), at("by", self.by); }
};

}  // namespace tidepool::core::reason
