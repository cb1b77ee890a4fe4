// Why: a closed set of codes, each with numbers. A decision stores codes and numbers; the sentence is
// rendered from them (explain.hpp), so the CLI, the API, the dashboard and the goldens agree.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidepool::core {

enum class ReasonCode {
  // why a job waits
  kWaitingForSlots,  // needed, free, and of a job that asks for a type of slot: typed = 1, movers, cost_s, holder
                     // (type_moves.hpp)
  kNeverFits,        // needed, cluster: more than the whole cluster has; typed = 1: of slots of the types it asks for
  kBehindOlderJob,   // ahead (count), needed, free
  kSuspendedByUser,
  kNoNodes,
  kWaitsForState,  // step, node, seconds_left, redo_s: its newest state lies on a node without room
  kPriceWait,      // needed, worth, price, and perhaps rival, rival_worth: what a slot is worth to it, and the price
  kPolicyFailed,   // the policy's answer was dropped before it named the job
  kMeritWait,      // needed, free, merit, asked: what a size brings by its policy's measure, and what would be enough
  kDeadlineLost,   // needed, late_s, alone_late_s: it cannot end by its deadline, but so much later beside what others
                   // were promised, and so much later with all slots (0 = in time; -1 = not known)
  kTurnWait,       // needed, free, and the numbers of its measure (measure.hpp): others come first by it
  // what a policy file says
  kAwaitsPolicy,  // size: the policy file has not been asked about it yet, or its answer is on its way
  kPolicyWord,    // from, to, and the policy's own numbers: it says `word`
  // why a size is held
  kMeasuring,             // steps, of: not enough steps at this size yet
  kCooldown,              // seconds_left
  kMinRuntime,            // seconds_left
  kEndsSoon,              // seconds_left: it ends sooner than it could be started again
  kTransitionInProgress,  // from, to
  kFixedSize,             // size
  kPinnedByUser,          // size
  kEfficiencySettled,     // size, next, efficiency, threshold: the next size is not worth it
  kUtilitySettled,        // size, next, utility_gain, cost_gain
  kAtMax,                 // size
  kAtMin,                 // size
  kNoSlotsToGrow,         // wanted, free
  kPriceCap,              // cap, price
  kBatchTooSmall,         // size, global: fewer than one sample a worker
  kNoMeasurements,        // size: its program reports no steps, so there is nothing to judge sizes by
  kTransitionTooDear,     // from, to, gain_s, stall_s: the change costs more time than it would bring
  kStragglerWatched,      // and by_share: a worker is slow; waiting for it has cost less so far than an action would
  kStragglerInData,       // a worker is slow for no fault of its own or its node's: no action helps
  kStragglerEased,        // and share: a slow worker has a smaller share, and no better is to be had
  kPriceHold,             // size, next (0 = may not change yet), worth of each slot more, price, perhaps as PriceWait
  kUnclaimed,             // size: its policy gives it nothing, and nobody needs its slots
  kMeritHold,             // size, next, merit, asked: what the next size brings by its policy's measure, and the bar
  kNoRoomTogether,        // size, next: it is to have more, and no nodes have so many slots together
  kTurnHold,              // size, and the numbers of its measure (measure.hpp): it comes before others by it
  // why a job starts, grows, shrinks, is replaced
  kStarted,          // size
  kExploreUp,        // from, to: only one size measured
  kExploreDown,      // from, to, efficiency, threshold
  kEfficientUp,      // from, to, efficiency, threshold
  kInefficientDown,  // from, to, efficiency, threshold
  kUtilityUp,        // from, to, utility_gain, cost_gain
  kUtilityDown,      // from, to, utility_gain, cost_gain
  kGatherEvidence,   // from, to, steps
  kPriceGrow,        // from, to, worth, price: what each added slot is worth to it, and the price
  kPriceShrink,      // from, to, worth, price: what each slot given up is worth to it, and the price
  kMeritGrow,        // from, to, merit, asked: what the change brings by its policy's measure, and what was enough
  kMeritShrink,      // from, to, merit, asked
  kResizedByUser,    // from, to
  kBackToSize,       // from, to: the size that the policy holds, after a loss or a cleared wish
  // Of a slow worker all say: worker, score, threshold, waited_s, cost_s, follows, node_peers, node_slow, node,
  // node_speed
  // (straggler_planner.hpp).
  kStragglerRebalanced,  // and share, was: it gets a smaller share of each step; of a full one
  kSharesRegained,       // worker, share, was: it is faster again, and so its share larger
  kStragglerReplaced,
  kStragglerShrunk,   // given up: no slot is free, and the others are faster without it
  kStragglerNoSpare,  // it should be replaced, and no slot is free
  kWorkerLost,        // worker, survivors
  kProgramFailed,     // worker, size, restarts, limit: its program ended badly; all of them are started anew
  kBelowMinimum,      // survivors, min
  kStartTimeout,      // worker, seconds: not ready in time
  kLeftBehind,        // worker: no longer in the job's generation, still running
  kWorkerStuck,       // worker, step, seconds: no progress for so long
  kSwitchTimeout,     // worker, generation, seconds: did not answer in a switch, or was the last to join one that hung
  kParkTimeout,       // worker, seconds, steps: did not park within its grace; so many steps are not kept
  kPreempted,         // for_job
  kResumed,           // size
  kResumedElsewhere,  // size, node, step, redo_s: without the state that lies on a node without room
  kMovedForType,  // worker, for_job, waited_s, cost_s: that job waits for a type of slot, this one takes others, too
  // why a job ended
  kFinished,  // steps
  kCancelledByUser,
  kWorkersFailed,  // restarts, limit
  kMaxDuration,    // limit_s
};

// A name and a value; names are those in the comments above, their order means nothing.
struct ReasonNumber {
  std::string name;
  double value = 0;
  bool operator==(const ReasonNumber&) const = default;
};

struct Reason {
  ReasonCode code = ReasonCode::kMeasuring;
  std::vector<ReasonNumber> numbers;
  // Letters and digits. Of kPolicyWord: the policy's own. Of a reason of the kinds Merit and Turn, and of kStarted: by
  // which measure its policy judges (measure.hpp); empty = by one of its own.
  std::string word = {};

  // The number called `name`, or `fallback`.
  [[nodiscard]] double number(std::string_view name, double fallback = 0) const {
    for (const auto& entry : numbers) {
      if (entry.name == name) return entry.value;
    }
    return fallback;
  }
  // Equal codes, words and the same numbers, in any order.
  bool operator==(const Reason& other) const;
};

// What kind of thing a reason tells.
enum class ReasonCategory {
  kWaiting,   // why a job holds nothing
  kPolicy,    // what a policy file says, of a job that waits or runs
  kHolding,   // why a size is held; as the reason of a change it would read wrong
  kChanging,  // why a job starts, grows or shrinks
  kWorker,    // what becomes of one worker, or happened to it
  kEnding,    // why a job ended
};
[[nodiscard]] ReasonCategory category_of(ReasonCode code);
// It is about a slow worker, and carries the numbers of straggler_planner.hpp.
[[nodiscard]] bool speaks_of_straggler(ReasonCode code);

// What makes a reason news: its code, its word, and those of its numbers that name a goal, a worker or a turn. When a
// measurement moves, the same is said as before.
[[nodiscard]] bool says_the_same(const Reason& one, const Reason& other);

// "WaitingForSlots": the code as the API writes it; parse is its inverse.
[[nodiscard]] std::string_view to_text(ReasonCode code);
[[nodiscard]] bool parse_reason_code(std::string_view text, ReasonCode& code);

}  // namespace tidepool::core
