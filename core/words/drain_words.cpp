#include "core/words/drain_words.hpp"

#include "core/words/wording.hpp"

namespace tidepool::core::reason {
namespace {

// "node-2 is being drained and must be empty in 8 min", "node-2 will be reclaimed by its provider in 2 min"
std::string drain(const OfDrain& why) {
  const double left = why.left.to_seconds();
  if (why.reclaimed) {
    return why.node.text() + " will be reclaimed by its provider " + (left > 0 ? "in " + waiting_time(left) : "now");
  }
  if (why.window) {
    return why.node.text() + " must be empty for maintenance " + (left > 0 ? "in " + waiting_time(left) : "now");
  }
  return why.node.text() + " is being drained" +
         (left > 0 ? " and must be empty in " + waiting_time(left) : ", and its deadline has passed");
}

}  // namespace

std::string text_of(const DrainMove& why) {
  return "moving " + why.worker.text() + " to " + why.target.text() + ": " + drain(why);
}
std::string text_of(const DrainShrink& why) {
  return "shrinking " + grouped(why.from) + " -> " + grouped(why.to) + ": " + drain(why.drain) +
         ", and there is no room or no time to start all of its workers elsewhere";
}
std::string text_of(const DrainGrow& why) {
  return "growing " + grouped(why.from) + " -> " + grouped(why.to) + " to hand its state on: " + drain(why.drain);
}
std::string text_of(const DrainSuspend& why) {
  return "saving its state and releasing its slots: " + drain(why);
}
std::string text_of(const DrainHold& why) {
  return "waits for " + counted(why.wanted, "free slot") + " elsewhere, else saves its state in time: " + drain(why);
}
std::string text_of(const DrainStop& why) {
  return why.worker.text() + " may not stay: " + drain(why);
}
std::string text_of(const NodesDrain& why) {
  const std::string left_out = why.reclaimed ? "to be reclaimed" : why.window ? "in maintenance" : "being drained";
  return "needs " + counted(why.needed, "slot") + ", and without the nodes that are " + left_out + ", such as " +
         why.node.text() + ", there are " + grouped(why.cluster);
}
std::string text_of(const NodesUnsteady& why) {
  return "needs " + counted(why.needed, "slot") + ", and without the nodes that fail again and again, such as " +
         why.node.text() + ", there are " + grouped(why.cluster);
}

}  // namespace tidepool::core::reason
