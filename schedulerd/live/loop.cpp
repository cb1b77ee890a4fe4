#include "schedulerd/live/loop.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/overloaded.hpp"
#include "core/codec/reason_numbers.hpp"
#include "schedulerd/live/store/journal_rows.hpp"
#include "schedulerd/live/turn_log.hpp"

namespace tidepool::live {
namespace {

constexpr std::size_t kItemsPerTurn = 1'000;  // one fsync for at most so many acknowledgements
constexpr std::chrono::microseconds kIdleWait = std::chrono::seconds(1);
constexpr Duration kFreshness = Duration::seconds(1);  // of the time that readers see
constexpr std::chrono::microseconds kShortestWait = std::chrono::milliseconds(10);

void log_intents(const core::Decision& decision) {
  for (const auto& planned : decision.plan) {
    spdlog::info("event=intent decision={} kind={} job={} reason={}", decision.id.text(), core::name_of(planned.intent),
                 core::job_of(planned.intent).text(), core::name_of(planned.reason));
  }
  for (const auto& planned : decision.nodes) {
    spdlog::info("event=intent decision={} kind={} node={} reason={}", decision.id.text(),
                 core::name_of(planned.intent), core::node_name_of(planned.intent), core::name_of(planned.reason));
  }
}

}  // namespace

Loop::Loop(Recovered recovered, std::string policy, const Links& links)
    : turn_(std::move(recovered.engine)),
      policy_(std::move(policy)),
      links_(links),
      reads_(links.journal),
      shadow_(std::move(recovered.shadow)) {
  publish(links_.clock.now());
}

Status Loop::run() {
  while (!links_.inbox.drained()) TP_TRY(turn(time_to_wait(kIdleWait)));
  TP_TRY(links_.journal.snapshot(state(), links_.clock.stored()));
  spdlog::info("event=loop_stopped journal_row={}", links_.journal.last_seq());
  return ok_status();
}

std::chrono::microseconds Loop::time_to_wait(std::chrono::microseconds patience) const {
  if (turn_.has_more_to_decide() || links_.journal.has_upkeep()) return std::chrono::microseconds(0);
  const auto due = turn_.next_due();
  if (!due) return patience;
  const std::chrono::microseconds until((*due - links_.clock.now()).count_us());
  return std::clamp(until, std::min(kShortestWait, patience), patience);
}

// Clients that were answered together send again within moments of one another; sharing the next commit saves them more
// than the wait costs. After a turn that answered one client alone there is no wait.
Inbox::Gathering Loop::gathering() const {
  if (answered_ < 2) return {};
  const std::chrono::microseconds commit(commit_took_.count_us());
  return {.gap = commit / 16, .most = commit / 4};
}

Status Loop::turn(std::chrono::microseconds patience) {
  Taken taken = sorted(links_.inbox.take(kItemsPerTurn, patience, gathering()));
  Owed owed{.now = links_.clock.now(), .answers = std::move(taken.answers), .result = {}, .events = {}};
  bool compared = false;
  for (const auto& item : taken.comparisons) {
    const auto added = add_comparison(item, owed.now);
    if (!added.ok()) return added.error();
    compared = compared || *added;
  }
  stages_.clear();
  turn_.set_utc(links_.clock.wall().unix_us_at_zero);
  auto result = turn_.run(std::move(taken.items), owed.now, reads_, &stages_);
  if (!result.ok()) return result.error();
  owed.result = *std::move(result);
  owed.result.changed = owed.result.changed || compared;
  for (const auto& note : owed.result.notes) log_note(note);
  TP_TRY(write(owed.result.rows, owed));
  TP_TRY(commit(owed));
  tell(owed);
  ask_policies(owed);
  return links_.journal.checkpoint_if_due();
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

Status Loop::write(std::vector<leader::TurnRow>& rows, Owed& owed) {
  const RowTime time{.now = owed.now, .wall = links_.clock.wall()};
  const auto announce = [&](std::vector<core::Event>& events) {
    std::move(events.begin(), events.end(), std::back_inserter(owed.events));
  };
  for (auto& row : rows) {
    TP_TRY(append_row(links_.journal, row, time));
    if (auto* learnt = std::get_if<leader::FactRow>(&row)) {
      announce(learnt->events);
      if (std::holds_alternative<core::CheckpointFailed>(learnt->fact.fact)) ++owed.checkpoint_failures;
    } else if (auto* decided = std::get_if<leader::DecisionRow>(&row)) {
      announce(decided->events);
      log_intents(decided->decision);
    } else if (const auto* shadow = std::get_if<leader::ShadowRow>(&row)) {
      TP_TRY(begin_shadow(shadow->file, owed.now));
    }
  }
  return ok_status();
}

Status Loop::commit(const Owed& owed) {
  const Instant decided_at = links_.clock.now();
  const bool writes = links_.journal.in_batch();
  TP_TRY(links_.journal.add_upkeep(state(), links_.clock.stored()));
  TP_TRY(links_.journal.commit(links_.clock.stored()));
  if (writes) {
    commit_took_ = links_.clock.now() - decided_at;
    answered_ = owed.result.answers.size();
    on_turn_({.round = decided_at - owed.now,
              .commit = commit_took_,
              .stages = stages_,
              .checkpoint_failures = owed.checkpoint_failures});
  }
  return ok_status();
}

void Loop::tell(Owed& owed) {
  if (owed.result.changed || owed.now - published_at_ >= kFreshness) publish(owed.now);
  for (const auto& answer : owed.result.answers) owed.answers.at(answer.item)(answer.receipt);
  if (!owed.result.orders.empty()) links_.outbox.post(std::move(owed.result.orders));
  links_.publisher.announce(owed.events);
}

void Loop::publish(Instant now) {
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
  links_.publisher.publish(std::move(picture));
}

}  // namespace tidepool::live
