// What the structs of reasons consist of. A reason's struct defines once: its name in the API, its category, whether a
// lack of slots blocks the job (kTraits); and in fields() each number's name in the API, in display order, and its use.
// Everything else (codec, equality, news, sentences) is derived by visiting these.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/money.hpp"
#include "base/time.hpp"

namespace tidepool::core {

// The kind of a reason.
enum class ReasonCategory {
  kWaiting,    // why a job holds nothing
  kPolicy,     // the word of a policy file, for a job that waits or runs
  kHolding,    // why a size is held; not suited as the reason of a change
  kStarting,   // why a job starts
  kGrowing,    // why it grows
  kShrinking,  // why it shrinks
  kResizing,   // why it changes to another size, smaller or larger
  kWorker,     // what is done with one worker, or happened to it
  kEnding,     // why a job ended
  kNode,       // why a node is created or removed
};

enum class Blocks { kNo, kForLackOfSlots };

// The measure by which a policy judges; core/words/measure.hpp has the words and the numbers of each.
enum class Measure {
  kOwn,  // a measure of the policy that has no words for people
  kArrival,
  kService,
  kTimeLeft,
  kQueue,
  kIndex,
  kDeadline,
  kTimeShare,
  kSlices,
  kRounds,
  kLease,
  kSpeedup,
  kShortening,
  kTimeSaved,
  kFairness,
  kGoodput,
  kFitness,
  kPromise,
};

// A number from a policy file, under a name of its own.
struct ReasonNumber {
  std::string name;
  double value = 0;
  bool operator==(const ReasonNumber&) const = default;
};

namespace reason {

struct Traits {
  std::string_view name;
  ReasonCategory category;
  Blocks blocks = Blocks::kNo;
};

// Uses of a number; flags.
inline constexpr unsigned kPlain = 0;
inline constexpr unsigned kIdentity = 1;  // a change of it makes the reason news: it names a goal, a worker or a turn
inline constexpr unsigned kSize = 2;      // a size of the job: a policy's is in slots, the engine's in workers
inline constexpr unsigned kOfRival = 4;   // of the job `rival` next to it: shown to those who may see that job

// What a slot is worth to the job in the market of its policy, and its cost.
struct Market {
  double worth = 0;  // per slot that the reason is about
  double price = 0;
  std::optional<JobId> rival = {};  // of the jobs whose slots it would need, the one that gains least from them
  std::optional<double> rival_worth = {};
  bool operator==(const Market&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("worth", self.worth), at("price", self.price);
    at("rival", self.rival), at("rival_worth", self.rival_worth, kOfRival);
  }
};

// Sizes are compared by merit.
struct ByMerit {
  Measure measure = Measure::kOwn;
  double merit = 0;  // gain per slot of a change, or of the next size
  double asked = 0;  // the smallest or largest gain per slot of another job, or a threshold of the policy
  std::optional<JobId> rival = {};          // that other job
  std::optional<double> goodput = {};       // as a multiple of its fair share's goodput
  std::optional<double> next_goodput = {};  // at the next size
  bool operator==(const ByMerit&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("merit", self.merit), at("asked", self.asked, kOfRival), at("rival", self.rival);
    at("goodput", self.goodput), at("next_goodput", self.next_goodput);
  }
};

// The shares of time that a job should run, and has run.
struct TimeShare {
  double target = 0;
  double received = 0;
  bool operator==(const TimeShare&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("target", self.target), at("received", self.received); }
};

// Jobs wait in line.
struct ByTurn {
  Measure measure = Measure::kArrival;
  std::optional<double> own = {};   // the value that determines the job's place
  std::optional<JobId> rival = {};  // the next job on the other side of the line between served and waiting jobs
  std::optional<double> bar = {};   // the value of the rival
  std::optional<TimeShare> share = {};
  bool operator==(const ByTurn&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("own", self.own), at("rival", self.rival), at("bar", self.bar, kOfRival), at("share", self.share);
  }
};

// A plan up to a deadline, or without one. In seconds, because a plan may extend beyond a Duration.
struct ByPromise {
  std::optional<double> starts_s = {};  // for a waiting job; 0 = not planned
  double ends_s = 0;
  std::optional<double> spare_s = {};  // until the deadline; below 0 = late
  bool operator==(const ByPromise&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("starts_s", self.starts_s), at("ends_s", self.ends_s), at("spare_s", self.spare_s);
  }
};

// The numbers by which its policy judged, if it has any.
using Judgement = std::variant<std::monostate, ByMerit, ByTurn, ByPromise>;

// The gain of the last added workers, or of the next ones.
struct Efficiency {
  double efficiency = 0;                  // of a worker's throughput
  double threshold = 0;                   // required by its user
  std::optional<double> margin = {};      // additional efficiency required because of measurement noise
  std::optional<double> throughput = {};  // samples/s at the smaller and the larger size, if the larger one is slower
  std::optional<double> next_throughput = {};
  bool operator==(const Efficiency&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("efficiency", self.efficiency), at("threshold", self.threshold), at("margin", self.margin);
    at("throughput", self.throughput), at("next_throughput", self.next_throughput);
  }
};
struct Utility {
  double utility_gain = 0;
  double cost_gain = 0;
  bool operator==(const Utility&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("utility_gain", self.utility_gain), at("cost_gain", self.cost_gain);
  }
};

// Shapes that several reasons share.
struct Bare {
  bool operator==(const Bare&) const = default;
  static constexpr void fields(auto&, auto&&) {}
};
struct OfSize {
  int size = 0;
  bool operator==(const OfSize&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("size", self.size, kIdentity | kSize); }
};
struct Change {
  int from = 0;
  int to = 0;
  bool operator==(const Change&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("from", self.from, kSize), at("to", self.to, kIdentity | kSize);
  }
};
// The rule between tenants by which a job releases slots for a job of another tenant (docs/fairness.md); none set: by
// no such rule, or unknown.
struct ShareRule {
  bool by_guarantee = false;  // of the other tenant, or of a tenant above it
  bool by_weight = false;     // of the slots beyond guarantees
  bool by_borrow = false;     // its own tenant, or a tenant above it, holds more than it may borrow
  bool operator==(const ShareRule&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("by_guarantee", self.by_guarantee), at("by_weight", self.by_weight), at("by_borrow", self.by_borrow);
  }
};
// For a job that releases slots and continues: the first in line of the jobs that will get them, and how many jobs
// share them with it.
struct Claimants {
  std::optional<JobId> for_job = {};  // none = no job in particular
  std::optional<int> for_others = {};
  ShareRule rule = {};
  bool operator==(const Claimants&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("for_job", self.for_job), at("for_others", self.for_others), at("rule", self.rule);
  }
};
// A budget that is spent until its window ends.
struct OfBudget {
  Money limit;
  int percent = 100;           // the percentage of the budget that triggered this
  std::int64_t ends_unix = 0;  // seconds since 1970
  std::string word = {};       // the tenant whose budget it is
  bool operator==(const OfBudget&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("limit", self.limit, kIdentity), at("percent", self.percent, kIdentity);
    at("ends_unix", self.ends_unix, kIdentity);
  }
};
struct Left {
  Duration left;
  bool operator==(const Left&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("seconds_left", self.left); }
};

}  // namespace reason
}  // namespace tidepool::core
