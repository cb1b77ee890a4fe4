#include "core/words/ending_words.hpp"

#include "core/words/wording.hpp"

namespace tidepool::core::reason {

std::string text_of(const Finished& why) {
  if (why.steps == 0) return "finished: its program exited with code 0";
  return "finished after " + counted(static_cast<double>(why.steps), "step");
}
std::string text_of(const Finishing& why) {
  return "its training has finished after " + counted(static_cast<double>(why.steps), "step") + "; its program has " +
         waiting_time(why.most.to_seconds()) + " to save the result and end";
}
std::string text_of(const CancelledByUser&) {
  return "cancelled on request";
}
std::string text_of(const WorkersFailed& why) {
  if (why.restarts <= why.limit) return "failed: its own settings are wrong";
  std::string text =
      "failed: it lost workers " + counted(why.restarts, "time") + ", and " + grouped(why.limit) + " are allowed";
  if (!why.alike) return text;
  const std::string times = *why.alike == why.restarts ? "each time" : "the last " + counted(*why.alike, "time");
  return text + "; " + times +
         (why.step ? " after step " + grouped(static_cast<double>(*why.step)) : " before a step was reported");
}
std::string text_of(const FailedAtEnd&) {
  return "failed: its training finished, and then its program failed, so its result may not be saved";
}
std::string text_of(const FinishTimeout& why) {
  return why.worker.text() + " is ended: it did not exit within " + waiting_time(why.had.to_seconds()) +
         " after the end of training";
}
std::string text_of(const MaxDuration& why) {
  return "ended: it ran longer than " + waiting_time(why.limit.to_seconds());
}

}  // namespace tidepool::core::reason
