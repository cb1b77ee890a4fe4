// What the structs of reasons are made of. A reason's struct says once: its name in the API, its category, whether a
// lack of slots blocks the job (kTraits); and in fields() each number's name in the API, in the order in which numbers
// are shown, and what it is used for. Everything else (codec, equality, news, sentences) visits these.
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

// What kind of thing a reason tells.
enum class ReasonCategory {
  kWaiting,    // why a job holds nothing
  kPolicy,     // what a policy file says, of a job that waits or runs
  kHolding,    // why a size is held; as the reason of a change it would read wrong
  kStarting,   // why a job starts
  kGrowing,    // why it grows
  kShrinking,  // why it shrinks
  kResizing,   // why it goes to another size, smaller or larger
  kWorker,     // what becomes of one worker, or happened to it
  kEnding,     // why a job ended
  kNode,       // why a node comes or goes
};

enum class Blocks { kNo, kForLackOfSlots };

// By what a policy judges; core/words/measure.hpp has the words and the numbers of each.
enum class Measure {
  kOwn,  // by one of its own, which says nothing to people
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

// A number that a policy file tells, under a name of its own.
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
inline constexpr unsigned kIdentity = 1;  // part of what makes the reason news: it names a goal, a worker or a turn
inline constexpr unsigned kSize = 2;      // a size of the job: a policy's is in slots, the engine's in workers
inline constexpr unsigned kOfRival = 4;   // of the job `rival` beside it: told to those who may see that job

// What a slot is worth to the job in the market of its policy, and what it costs.
struct Market {
  double worth = 0;  // of each slot that the reason is about
  double price = 0;
  std::optional<JobId> rival = {};  // of the jobs whose slots it would need, the one that gains least from them
  std::optional<double> rival_worth = {};
  bool operator==(const Market&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("worth", self.worth), at("price", self.price);
    at("rival", self.rival), at("rival_worth", self.rival_worth, kOfRival);
  }
};

// Sizes are weighed.
struct ByMerit {
  Measure measure = Measure::kOwn;
  double merit = 0;                         // what each slot of a change, or of the next size, brings
  double asked = 0;                         // the least or most that one brings another, or a bar of the policy's
  std::optional<JobId> rival = {};          // that other job
  std::optional<double> goodput = {};       // as a multiple of its fair share's
  std::optional<double> next_goodput = {};  // at the next size
  bool operator==(const ByMerit&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("merit", self.merit), at("asked", self.asked, kOfRival), at("rival", self.rival);
    at("goodput", self.goodput), at("next_goodput", self.next_goodput);
  }
};

// Shares of the time that a job is to run, and has run.
struct TimeShare {
  double target = 0;
  double received = 0;
  bool operator==(const TimeShare&) const = default;
  static constexpr void fields(auto& self, auto&& at) { at("target", self.target), at("received", self.received); }
};

// Jobs stand in line.
struct ByTurn {
  Measure measure = Measure::kArrival;
  std::optional<double> own = {};   // what the job's place goes by
  std::optional<JobId> rival = {};  // the next one on the other side of the line between served and waiting jobs
  std::optional<double> bar = {};   // the rival's own
  std::optional<TimeShare> share = {};
  bool operator==(const ByTurn&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("own", self.own), at("rival", self.rival), at("bar", self.bar, kOfRival), at("share", self.share);
  }
};

// A plan up to a deadline, or without one. In seconds, because a plan may reach further than a Duration.
struct ByPromise {
  std::optional<double> starts_s = {};  // of a job that waits; 0 = not planned
  double ends_s = 0;
  std::optional<double> spare_s = {};  // until the deadline; below 0 = late
  bool operator==(const ByPromise&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("starts_s", self.starts_s), at("ends_s", self.ends_s), at("spare_s", self.spare_s);
  }
};

// By what its policy has judged, where that has numbers.
using Judgement = std::variant<std::monostate, ByMerit, ByTurn, ByPromise>;

// What the last workers added, or the next would.
struct Efficiency {
  double efficiency = 0;                  // of a worker's throughput
  double threshold = 0;                   // what its user asks for
  std::optional<double> margin = {};      // by which more it has to bring, against measurement noise
  std::optional<double> throughput = {};  // samples/s at the smaller and the larger size, where that one is slower
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
// By which rule between tenants a job gives up slots for one of another tenant (docs/fairness.md); none of them: by no
// such rule, or it is not known.
struct ShareRule {
  bool by_guarantee = false;  // of the other tenant, or of one above it
  bool by_weight = false;     // of what is beyond guarantees
  bool by_borrow = false;     // its own tenant, or one above it, holds more than it may borrow
  bool operator==(const ShareRule&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("by_guarantee", self.by_guarantee), at("by_weight", self.by_weight), at("by_borrow", self.by_borrow);
  }
};
// Of a job that gives up slots and goes on: the first in line of the jobs that are to have them, and how many share
// them with it.
struct Claimants {
  std::optional<JobId> for_job = {};  // none = no job in particular
  std::optional<int> for_others = {};
  ShareRule rule = {};
  bool operator==(const Claimants&) const = default;
  static constexpr void fields(auto& self, auto&& at) {
    at("for_job", self.for_job), at("for_others", self.for_others), at("rule", self.rule);
  }
};
// Of a budget that is spent until its window ends.
struct OfBudget {
  Money limit;
  int percent = 100;           // of it that had to be spent for this
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
