#include "core/words/worker_words.hpp"

#include "core/words/placement_words.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core::reason {
namespace {

std::string where_of(const MovedForRoom& why) {
  if (!why.word.empty()) return in_domain(why.word);
  if (why.group == why.size) return "on one node";
  return std::string("on one node for a ") + (why.group ? "group" : "worker");
}

}  // namespace

std::string text_of(const SharesRegained& why) {
  const Compared shares = compared(why.share, why.was, NumberStyle::kPercent);
  return "giving " + why.worker.text() + " " + shares.left + " of a full share" +
         (shares.alike || why.share < why.was ? "" : " instead of " + shares.right) + ": it waits for the others";
}
std::string text_of(const WorkerLost& why) {
  const std::string lost = why.others ? " and " + grouped(*why.others) + " more of its workers were" : " was";
  return why.worker.text() + lost + " lost; " + counted(why.survivors, "worker") +
         (why.survivors == 1 ? " goes on" : " go on");
}
std::string text_of(const ProgramFailed& why) {
  const std::string again = why.size == 1 ? "it starts" : "all " + counted(why.size, "worker") + " start";
  return "the program of " + why.worker.text() + " failed; " + again + " again (" + grouped(why.restarts) + " of " +
         grouped(why.limit) + " restarts used)";
}
std::string text_of(const BelowMinimum& why) {
  return "returns to the queue: " + counted(why.survivors, "worker") + " left, and it needs " + grouped(why.min);
}
std::string text_of(const StartTimeout& why) {
  return why.worker.text() + " was not ready within " + waiting_time(why.lasted.to_seconds());
}
std::string text_of(const LeftBehind& why) {
  return why.worker.text() + " no longer belongs to the job and has not left on its own";
}
std::string text_of(const WorkerStuck& why) {
  return why.worker.text() + " has made no progress at step " + grouped(static_cast<double>(why.step)) + " for " +
         waiting_time(why.lasted.to_seconds()) + " and is ended";
}
std::string text_of(const SwitchTimeout& why) {
  return why.worker.text() + " holds up generation " + grouped(static_cast<double>(why.generation)) + " for " +
         waiting_time(why.lasted.to_seconds()) + " and is ended";
}
std::string text_of(const ParkTimeout& why) {
  return why.worker.text() + " did not save its state within " + waiting_time(why.grace.to_seconds()) +
         " and is ended; " +
         (why.steps == 0 ? "no step is lost"
                         : counted(static_cast<double>(why.steps), "step") + " since the last saved state are lost");
}
std::string text_of(const EndTimeout& why) {
  return why.worker.text() + " did not end within " + waiting_time(why.grace.to_seconds()) +
         " and is killed; what it has done since its newest checkpoint is lost";
}
std::string text_of(const Preempted& why) {
  if (why.restarts) {
    return "leaves its nodes, so that " + why.for_job.text() + " finds room on them, and starts again on others";
  }
  return why.for_job ? "preempted for " + why.for_job.text() + by_rule(why.rule) : "preempted by its policy";
}
std::string text_of(const OverTenantLimit& why) {
  return "preempted: tenant " + why.word + " may hold " + counted(why.most, "slot") +
         ", and the plan gives these to other jobs";
}
std::string text_of(const MovedForType& why) {
  return "moving " + why.worker.text() + " to slots of another type for " + why.for_job.text() + ", which has waited " +
         waiting_time(why.waited.to_seconds()) + "; the moves cost " + decimal(why.cost_s) + " slot-seconds";
}
std::string text_of(const MovedTogether& why) {
  return "moving " + counted(why.workers, "worker") + " so that the job is on " + counted(why.to_nodes, "node") +
         " and not on " + grouped(why.from_nodes) + "; the move costs " + decimal(why.cost_s) + " slot-seconds";
}
std::string text_of(const MovedForRoom& why) {
  const std::string room = why.slots_each ? " finds " + counted(*why.slots_each, "slot") + " " + where_of(why)
                                          : " has room for " + counted(why.size, "worker") + " together";
  return "moving away from " + why.node.text() + ", so that " + why.for_job.text() + room + "; the move costs " +
         decimal(why.cost_s) + " slot-seconds";
}

}  // namespace tidepool::core::reason
