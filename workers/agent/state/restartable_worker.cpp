#include "workers/agent/state/restartable_worker.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace tidepool::agent {

RestartableWorker::Steps RestartableWorker::resend() const {
  if (newest_ == 0) return {SendMessage{api::ReadyMessage{}}};
  Steps steps;
  if (offered_) steps.emplace_back(OfferAddress{newest_, rank_});
  if (outdated_ || program_ == Program::kNone) return steps;
  steps.emplace_back(SendMessage{api::StartedMessage{newest_}});
  if (program_ == Program::kEnded) steps.emplace_back(SendMessage{ended_});
  return steps;
}

RestartableWorker::Steps RestartableWorker::on_message(const api::ToWorker& message) {
  if (const auto* generation = std::get_if<api::GenerationMessage>(&message)) return on_generation(*generation);
  if (const auto* addresses = std::get_if<api::AddressesMessage>(&message)) return on_addresses(*addresses);
  return {};  // its program takes checkpoints on its own
}

RestartableWorker::Steps RestartableWorker::on_generation(const api::GenerationMessage& message) {
  if (message.number <= newest_ || leaves_) return {};
  newest_ = message.number;
  offered_ = false;
  const auto self = std::find(message.members.begin(), message.members.end(), order_.worker);
  leaves_ = self == message.members.end();
  rank_ = leaves_ ? 0 : static_cast<int>(self - message.members.begin());
  if (program_ != Program::kRuns) return go_on();
  if (std::exchange(outdated_, true)) return {};
  return {EndProgram{}};
}

RestartableWorker::Steps RestartableWorker::on_addresses(const api::AddressesMessage& message) {
  const bool starts = message.generation == newest_ && offered_ && !leaves_ && program_ == Program::kNone;
  if (!starts || message.blobs.size() <= static_cast<std::size_t>(rank_)) return {};
  program_ = Program::kRuns;
  launched_ = newest_;
  return {StartProgram{newest_, rank_, message.blobs}, SendMessage{api::StartedMessage{newest_}}};
}

RestartableWorker::Steps RestartableWorker::stop() {
  leaves_ = true;
  if (program_ != Program::kRuns) return {Leave{}};
  outdated_ = true;
  return {};
}

RestartableWorker::Steps RestartableWorker::program_ended(int exit_code, int signal, const std::string& detail) {
  const api::EndedMessage end{.generation = launched_, .exit_code = exit_code, .signal = signal, .detail = detail};
  if (outdated_ || leaves_) {
    // Otherwise the end was requested, or the worker's exit reports it.
    const bool is_told = !leaves_ && signal == SIGKILL;
    Steps steps = go_on();
    if (is_told) steps.insert(steps.begin(), SendMessage{end});
    return steps;
  }
  program_ = Program::kEnded;
  ended_ = end;
  return {SendMessage{ended_}};
}

// Nothing of an older generation is running.
RestartableWorker::Steps RestartableWorker::go_on() {
  program_ = Program::kNone;
  outdated_ = false;
  if (leaves_) return {Leave{}};
  offered_ = true;
  return {OfferAddress{newest_, rank_}};
}

}  // namespace tidepool::agent
