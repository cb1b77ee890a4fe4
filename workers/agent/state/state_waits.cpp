#include "workers/agent/state/state_waits.hpp"

#include <algorithm>
#include <utility>

#include "base/first_after.hpp"

namespace tidepool::agent {

StateWaits::Wait* StateWaits::find(JobId job) {
  const auto found = waits_.find(job);
  return found == waits_.end() ? nullptr : &found->second;
}

StateWaits::Steps StateWaits::hold(api::StartWorker order, Instant now) {
  const JobId job = order.job;
  const std::int64_t step = *order.state_step;
  const auto [found, is_new] = waits_.try_emplace(job);
  Wait& wait = found->second;
  Steps steps;
  if (!is_new && wait.step != step) steps.emplace_back(Abandon{job});
  if (is_new || wait.step != step) wait = {.step = step, .orders = std::move(wait.orders), .since = now};
  const bool others_wait = !wait.orders.empty();
  const WorkerId worker = order.worker;
  wait.orders.insert_or_assign(worker, std::move(order));
  wait.drop_at.reset();
  if (others_wait && steps.empty()) return steps;
  wait.heard_at = now;
  if (wait.fetching) return steps;
  wait.ask_at = now + kAskForStateAgain;
  steps.emplace_back(Ask{job, step});
  return steps;
}

StateWaits::Steps StateWaits::on(const api::FetchState& from) {
  Wait* wait = find(from.job);
  if (wait == nullptr || wait->step != from.step || wait->fetching || wait->orders.empty()) return {};
  wait->fetching = true;
  wait->ask_at.reset();
  return {Fetch{from}};
}

StateWaits::Steps StateWaits::on(const api::NoState& none, Instant now) {
  Wait* wait = find(none.job);
  if (wait == nullptr || wait->step != none.step) return {};
  wait->trouble = none.why;
  if (wait->orders.empty()) return {};
  if (none.final) return give_up(none.job, none.why);
  if (!wait->fetching) wait->ask_at = now + kAskForStateAgain;
  return {};
}

void StateWaits::bytes_came(JobId job, Instant now) {
  if (Wait* wait = find(job)) wait->heard_at = now;
}

StateWaits::Steps StateWaits::state_is_here(JobId job, std::int64_t step, std::int64_t bytes, Instant now) {
  Wait* wait = find(job);
  if (wait == nullptr || wait->step != step) return {};
  wait->fetching = false;
  if (wait->orders.empty()) return {};  // it is found here when a worker waits again
  const std::int64_t took_ms = std::max<std::int64_t>(0, (now - wait->since).count_ms());
  return {start(job, api::StateBroughtReport{.job = job, .step = step, .bytes = bytes, .took_ms = took_ms})};
}

void StateWaits::fetch_broke(JobId job, const std::string& why, Instant now) {
  Wait* wait = find(job);
  if (wait == nullptr) return;
  wait->fetching = false;
  wait->trouble = why;
  if (!wait->orders.empty()) wait->ask_at = now + kAskForStateAgain;
}

StateWaits::Steps StateWaits::time_passed(Instant now) {
  Steps steps;
  std::vector<JobId> silent;
  std::vector<JobId> dropped;
  for (auto& [job, wait] : waits_) {
    const auto at = due(wait);
    if (!at || *at > now) continue;
    if (wait.orders.empty()) {
      dropped.push_back(job);
      continue;
    }
    if (wait.heard_at + kStateSilence <= now) {
      silent.push_back(job);
      continue;
    }
    wait.ask_at = now + kAskForStateAgain;
    steps.emplace_back(Ask{job, wait.step});
  }
  for (const JobId job : dropped) {
    waits_.erase(job);
    steps.emplace_back(Abandon{job});
  }
  for (const JobId job : silent) {
    const std::string& trouble = waits_.at(job).trouble;
    const std::string why = "no byte of it has come for " + to_text(kStateSilence);
    for (auto& step : give_up(job, trouble.empty() ? why : why + "; " + trouble)) steps.push_back(std::move(step));
  }
  return steps;
}

void StateWaits::link_up(Instant now) {
  linked_ = true;
  for (auto& [job, wait] : waits_) wait.drop_at = now + kOrdersAgain;
}

void StateWaits::link_down() {
  linked_ = false;
  for (auto& [job, wait] : waits_) {
    wait.orders.clear();
    wait.ask_at.reset();
  }
}

std::vector<api::AgentToDaemon> StateWaits::told() const {
  std::vector<api::AgentToDaemon> reports;
  for (const auto& [job, told] : told_) reports.push_back(told.report);
  return reports;
}

bool StateWaits::holds(WorkerId worker) const {
  return std::any_of(waits_.begin(), waits_.end(),
                     [&](const auto& entry) { return entry.second.orders.contains(worker); });
}

StateWaits::Steps StateWaits::let_go(WorkerId worker) {
  for (auto& [job, wait] : waits_) {
    if (wait.orders.erase(worker) == 0 || !wait.orders.empty()) continue;
    const JobId left = job;
    waits_.erase(left);
    return {Abandon{left}};
  }
  return {};
}

std::vector<WorkerId> StateWaits::held() const {
  std::vector<WorkerId> workers;
  for (const auto& [job, wait] : waits_) {
    for (const auto& [worker, order] : wait.orders) workers.push_back(worker);
  }
  return workers;
}

void StateWaits::worker_ended(WorkerId worker) {
  for (auto& [job, told] : told_) told.workers.erase(worker);
  std::erase_if(told_, [](const auto& entry) { return entry.second.workers.empty(); });
}

void StateWaits::clear() {
  waits_.clear();
  told_.clear();
}

StateWaits::Steps StateWaits::give_up(JobId job, const std::string& why) {
  Start start_without = start(job, api::StateLeftReport{.job = job, .step = waits_.at(job).step, .why = why});
  return {Abandon{job}, std::move(start_without)};
}

StateWaits::Start StateWaits::start(JobId job, api::AgentToDaemon report) {
  Wait wait = std::move(waits_.extract(job).mapped());
  Told& told = told_[job];
  told = {.report = report, .workers = {}};
  Start step{.report = std::move(report), .orders = {}};
  for (auto& [worker, order] : wait.orders) {
    told.workers.insert(worker);
    step.orders.push_back(std::move(order));
  }
  return step;
}

// Without a link no daemon can be asked, and a transfer in progress continues.
std::optional<Instant> StateWaits::due(const Wait& wait) const {
  if (!linked_) return std::nullopt;
  if (wait.orders.empty()) return wait.drop_at;
  const Instant silent = wait.heard_at + kStateSilence;
  return wait.ask_at ? std::min(*wait.ask_at, silent) : silent;
}

std::optional<Instant> StateWaits::deadline() const {
  FirstAfter first;
  for (const auto& [job, wait] : waits_) first.consider(due(wait));
  return first.found();
}

}  // namespace tidepool::agent
