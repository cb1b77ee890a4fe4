#include "schedulerd/live/turn_writer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "schedulerd/live/turn_log.hpp"

namespace tidepool::live {
namespace {

constexpr std::size_t kTurnsWaiting = 4;  // turns: what they hold in memory is bounded, and one commit serves them all

}  // namespace

TurnWriter::TurnWriter(const Links& links, std::function<void()> on_failure)
    : links_(links), on_failure_(std::move(on_failure)), thread_([this] { run(); }) {}

TurnWriter::~TurnWriter() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  put_.notify_one();
  thread_.join();
}

Status TurnWriter::put(Turn turn) {
  {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [this] { return waiting_.size() < kTurnsWaiting || !outcome_.ok(); });
    TP_TRY(outcome_);
    waiting_.push_back(std::move(turn));
  }
  put_.notify_one();
  return ok_status();
}

Status TurnWriter::settle() {
  std::unique_lock lock(mutex_);
  rests_.wait(lock, [this] { return (waiting_.empty() && !busy_) || !outcome_.ok(); });
  return outcome_;
}

TurnWriter::Written TurnWriter::written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

void TurnWriter::run() {
  while (auto turns = next()) {
    const Status outcome = write(*turns);
    if (outcome.ok()) continue;
    {
      const std::lock_guard lock(mutex_);
      outcome_ = outcome;
      waiting_.clear();
    }
    taken_.notify_all();
    rests_.notify_all();
    return on_failure_();
  }
}

// Upkeep begins with the first turn: before that the journal is not this thread's.
std::optional<std::vector<TurnWriter::Turn>> TurnWriter::next() {
  std::unique_lock lock(mutex_);
  const bool has_upkeep = busy_ && !closing_ && links_.journal.has_upkeep();
  if (waiting_.empty() && !has_upkeep) {
    busy_ = false;
    rests_.notify_all();
    put_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return std::nullopt;
  }
  busy_ = true;
  auto turns = std::exchange(waiting_, {});
  lock.unlock();
  taken_.notify_all();
  return turns;
}

// Without turns: a piece of upkeep.
Status TurnWriter::write(std::vector<Turn>& turns) {
  using Clock = std::chrono::steady_clock;
  for (Turn& turn : turns) TP_TRY(write_rows(turn));
  const bool writes = links_.journal.in_batch();
  if (!turns.empty()) {
    state_ = std::move(turns.back().state);
    clock_ = turns.back().clock;
  }
  const auto began = Clock::now();
  TP_TRY(links_.journal.add_upkeep(state_, clock_));
  TP_TRY(links_.journal.commit(clock_));
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began).count();
  {
    const std::lock_guard lock(mutex_);
    written_.turns += turns.size();
    if (writes) {
      written_.took = Duration::micros(us);
      written_.answered = 0;
      for (const Turn& turn : turns) written_.answered += turn.result.answers.size();
      turns.front().took.commit = written_.took;
    }
  }
  tell(turns);
  return links_.journal.checkpoint_if_due();
}

Status TurnWriter::write_rows(Turn& turn) {
  for (const auto& row : turn.result.rows) {
    TP_TRY(append_row(links_.journal, row, turn.time));
    if (const auto* learnt = std::get_if<leader::FactRow>(&row)) {
      if (std::holds_alternative<core::CheckpointFailed>(learnt->fact.fact)) ++turn.took.checkpoint_failures;
    } else if (const auto* decided = std::get_if<leader::DecisionRow>(&row)) {
      log_intents(decided->decision);
    }
  }
  return turn.shadow ? links_.journal.set_shadow_report(turn.shadow->get()) : ok_status();
}

void TurnWriter::tell(std::vector<Turn>& turns) {
  const auto newest = std::find_if(turns.rbegin(), turns.rend(), [](const Turn& turn) { return turn.picture; });
  if (newest != turns.rend()) links_.publisher.publish(newest->picture);
  for (Turn& turn : turns) {
    if (!turn.result.rows.empty() || turn.took.commit) on_turn_(turn.took);
    for (const auto& answer : turn.result.answers) turn.answers.at(answer.item)(answer.receipt);
    if (!turn.result.orders.empty()) links_.outbox.post(std::move(turn.result.orders));
    std::vector<core::Event> events;
    const auto add = [&](std::vector<core::Event>& more) {
      std::move(more.begin(), more.end(), std::back_inserter(events));
    };
    for (auto& row : turn.result.rows) {
      if (auto* learnt = std::get_if<leader::FactRow>(&row)) add(learnt->events);
      if (auto* decided = std::get_if<leader::DecisionRow>(&row)) add(decided->events);
    }
    for (const core::Event& event : events) log_event(event);
    links_.publisher.announce(events);
  }
}

}  // namespace tidepool::live
