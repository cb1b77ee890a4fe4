#include "core/words/straggler_words.hpp"

#include "core/state/measured/node_speed.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core::reason {
namespace {

// "none of the 3 other workers on its node is slow", "2 of the 3 other workers on its node are slow"
std::string neighbours(const SlowWorker& why) {
  const int slow = why.node_slow;
  if (why.node_peers == 1) return slow == 0 ? "the other worker on its node is not slow" : "so is the other worker";
  const std::string all = " of the " + grouped(why.node_peers) + " other workers on its node ";
  return slow == 0 ? "none" + all + "is slow" : grouped(slow) + all + (slow == 1 ? "is slow" : "are slow");
}

std::string measured(const SlowWorker& why) {
  return "its node does " + percent(why.node_speed) + " of what may be expected of it";
}

std::string node_evidence(const SlowWorker& why) {
  if (why.node_speed > 0 && why.node_speed < kSlowNode) {
    return measured(why) + "; schedctl cordon " + why.node.text() + " keeps new workers away";
  }
  return why.node_slow > 0 ? neighbours(why) : "the worker before it there was slow, too";
}

// The cause of its slowness, as a clause; empty if it is unknown.
std::string cause(const SlowWorker& why) {
  switch (why.follows) {
    case Follows::kWorker: return "; the cause is its own: " + (why.node_peers > 0 ? neighbours(why) : measured(why));
    case Follows::kNode: return "; the cause is its node: " + node_evidence(why);
    case Follows::kData: return "; it replaced a slow worker of another node: the slowness stays with the data";
    case Follows::kUnknown: break;
  }
  return "";
}

// " computes at 47 % of the others' speed, below 70 %"
std::string slow(const SlowWorker& why) {
  const Compared speed = compared(why.score, why.threshold, NumberStyle::kPercent);
  const bool below = !speed.alike && why.score < why.threshold;
  return " computes at " + speed.left + " of the others' speed" + (below ? ", below " + speed.right : "");
}

std::string against(const SlowWorker& why) {
  const Compared cost = compared(why.waited_s, why.cost_s, NumberStyle::kDecimal);
  return cost.alike ? "; waiting for it has cost as much as an action, " + cost.left + " slot-seconds"
                    : "; waiting for it has cost " + cost.left + " slot-seconds, an action costs " + cost.right;
}

}  // namespace

std::string text_of(const StragglerWatched& why) {
  return why.worker.text() + slow(why) + "; no action is taken yet" + against(why) + cause(why);
}
std::string text_of(const StragglerInData& why) {
  return why.worker.text() + slow(why) + "; waiting for it has cost " + decimal(why.waited_s) + " slot-seconds" +
         cause(why) + ", and no other worker helps";
}
std::string text_of(const StragglerEased& why) {
  const Compared cost = compared(why.waited_s, why.cost_s, NumberStyle::kDecimal);
  return why.worker.text() + " computes at " + percent(why.score) + " of the others' speed and has " +
         percent(why.share) + " of a full share; " +
         (cost.alike ? "its slowness has cost as much as a replacement, " + cost.left + " slot-seconds"
                     : "its slowness has cost " + cost.left + " slot-seconds, a replacement costs " + cost.right);
}
std::string text_of(const StragglerRebalanced& why) {
  return "giving " + why.worker.text() + " " + percent(why.share) + " of a full share: it" + slow(why) + against(why) +
         cause(why);
}
std::string text_of(const StragglerReplaced& why) {
  return "replacing " + why.worker.text() + ": it" + slow(why) + against(why) + cause(why);
}
std::string text_of(const StragglerShrunk& why) {
  return "removing " + why.worker.text() + ": it" + slow(why) + against(why) + cause(why) +
         "; no slot is free, and the others are faster without it";
}
std::string text_of(const StragglerNoSpare& why) {
  return why.worker.text() + slow(why) + "; its slowness has cost " + decimal(why.waited_s) + " slot-seconds" +
         cause(why) + "; no slot is free " + (why.follows == Follows::kNode ? "on another node " : "") +
         "for a replacement";
}

}  // namespace tidepool::core::reason
