#include "schedulerd/live/loop.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/overloaded.hpp"
#include "schedulerd/live/turn_log.hpp"

namespace tidepool::live {
namespace {

constexpr std::size_t kItemsPerTurn = 2'000;  // by weight; one commit for at most so many acknowledgements
constexpr std::chrono::microseconds kIdleWait = std::chrono::seconds(1);
constexpr Duration kFreshness = Duration::seconds(1);  // of the time that readers see
constexpr std::chrono::microseconds kShortestWait = std::chrono::milliseconds(10);

}  // namespace

Loop::Loop(Recovered recovered, std::string policy, const Links& links)
    : turn_(std::move(recovered.engine)),
      policy_(std::move(policy)),
      links_(links),
      reads_(links.reads),
      shadow_(std::move(recovered.shadow)),
      writer_({links.journal, links.outbox, links.publisher}, [&inbox = links.inbox] { inbox.close(); }) {
  links_.publisher.publish(picture(links_.clock.now()));
}

Status Loop::run() {
  while (!links_.inbox.drained()) TP_TRY(turn(time_to_wait(kIdleWait)));
  TP_TRY(writer_.settle());
  TP_TRY(links_.journal.snapshot(state(), links_.clock.stored()));
  spdlog::info("event=loop_stopped journal_row={}", links_.journal.last_seq());
  return ok_status();
}

std::chrono::microseconds Loop::time_to_wait(std::chrono::microseconds patience) const {
  if (turn_.has_more_to_decide()) return std::chrono::microseconds(0);
  const auto due = turn_.next_due();
  if (!due) return patience;
  const std::chrono::microseconds until((*due - links_.clock.now()).count_us());
  return std::clamp(until, std::min(kShortestWait, patience), patience);
}

// Clients that were answered together send again within moments of one another; sharing the next commit saves them more
// than the wait costs. After a turn that answered one client alone there is no wait.
Inbox::Gathering Loop::gathering() const {
  const TurnWriter::Written newest = writer_.written();
  if (newest.answered < 2) return {};
  const std::chrono::microseconds commit(newest.took.count_us());
  return {.gap = commit / 16, .most = commit / 4};
}

Status Loop::turn(std::chrono::microseconds patience) {
  Taken taken = sorted(links_.inbox.take(kItemsPerTurn, patience, gathering()));
  reads_.forget_until(writer_.written().turns);
  const Instant now = links_.clock.now();
  auto shadow = add_comparisons(taken.comparisons, now);
  stages_.clear();
  turn_.set_utc(links_.clock.wall().unix_us_at_zero);
  auto result = turn_.run(std::move(taken.items), now, reads_, &stages_);
  if (!result.ok()) return result.error();
  for (const auto& note : result->notes) log_note(note);
  if (auto begun = begin_shadow(result->rows, now)) shadow = std::move(begun);
  result->changed = result->changed || shadow;
  const DueRounds due = rounds_due_after(*result, now);
  TP_TRY(hand_over({.time = {.now = now, .wall = links_.clock.wall()},
                    .clock = links_.clock.stored(),
                    .result = *std::move(result),
                    .answers = std::move(taken.answers),
                    .shadow = std::move(shadow),
                    .state = state(),
                    .picture = {},
                    .took = {.round = links_.clock.now() - now, .commit = {}, .stages = stages_}}));
  ask_policies(due);
  return ok_status();
}

Status Loop::hand_over(TurnWriter::Turn turn) {
  reads_.add(std::move(turn.result.keyed));
  const Instant now = turn.time.now;
  if (turn.result.changed || now - published_at_ >= kFreshness) turn.picture = picture(now);
  return writer_.put(std::move(turn));
}

Loop::Taken Loop::sorted(std::vector<InboxItem> items) {
  Taken taken;
  for (auto& item : items) {
    std::visit(Overloaded{
                   [&](CommandItem& command) {
                     taken.items.emplace_back(std::move(command.command));
                     taken.answers.push_back(std::move(command.done));
                   },
                   [&](PolicyComparedItem& compared) { taken.comparisons.push_back(std::move(compared)); },
                   [&](auto& said) {
                     taken.items.emplace_back(std::move(said));
                     taken.answers.emplace_back();
                   },
               },
               item);
  }
  return taken;
}

std::shared_ptr<const Published> Loop::picture(Instant now) {
  published_at_ = now;
  auto picture = std::make_shared<Published>();
  picture->state = state();
  picture->as_of_seq = picture->state.next_event - 1;
  picture->latest_metrics = turn_.newest().jobs();
  picture->compute_ms = turn_.newest().compute_ms();
  picture->clock = links_.clock.wall();
  picture->now = now;
  picture->active_policy = policy_;
  picture->shadow = shadow_;
  return picture;
}

}  // namespace tidepool::live
