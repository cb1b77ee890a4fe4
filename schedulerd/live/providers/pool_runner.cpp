#include "schedulerd/live/providers/pool_runner.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/number_text.hpp"
#include "core/facts/pool_facts.hpp"

namespace tidepool::live {
namespace {

// How long what comes due by time alone may wait: nothing tells of it.
constexpr std::chrono::milliseconds kLookEvery{500};

std::string level_of(const core::PoolNode& node) {
  return node.name + " request=" + std::to_string(node.request);
}

}  // namespace

PoolRunner::PoolRunner(Setup setup, Publisher& publisher, Inbox& inbox)
    : setup_(std::move(setup)), publisher_(publisher), inbox_(inbox) {}

PoolRunner::~PoolRunner() {
  stop();
}

void PoolRunner::start() {
  subscription_ = publisher_.subscribe([this](const std::vector<core::Event>& events) {
    const bool is_ours = std::any_of(events.begin(), events.end(),
                                     [](const core::Event& event) { return event.type.starts_with("pool."); });
    if (!is_ours) return;
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    changed_.notify_one();
  });
  thread_ = std::thread([this] { run(); });
}

void PoolRunner::begin_stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
}

void PoolRunner::stop() {
  begin_stop();
  if (thread_.joinable()) thread_.join();
  subscription_.reset();
}

bool PoolRunner::is_stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void PoolRunner::run() {
  while (true) {
    const auto picture = publisher_.picture();
    if (act(picture->state, picture->now)) list_is_due_ = true;
    if (is_stopping()) return;
    if (list_is_due_ || Clock::now() - listed_at_ >= setup_.list_every) list(picture->state, picture->now);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLookEvery, [this] { return stopping_ || woken_; });
    woken_ = false;
    if (stopping_) return;
  }
}

bool PoolRunner::act(const core::ClusterState& state, Instant now) {
  std::erase_if(created_, [&](core::NodeRequest request) {
    const core::PoolNode* node = state.pools.find_node(request);
    return node == nullptr || node->state != core::PoolNodeState::kAsked;
  });
  std::erase_if(ended_, [&](const auto& any) { return state.pools.find_node(any.first) == nullptr; });
  bool any = false;
  for (const auto& [request, node] : state.pools.nodes) {
    if (node.pool != setup_.pool || is_stopping()) continue;
    if (node.state == core::PoolNodeState::kAsked && !created_.contains(request)) any = create(request) || any;
    const bool ends =
        node.state == core::PoolNodeState::kReleasing && !node.delete_answered && !node.backoff.holds(now);
    const auto known = ended_.find(request);
    if (ends && (known == ended_.end() || known->second != node.backoff.failures)) {
      end(node);
      any = true;
    }
  }
  return any;
}

// By the newest picture: while the calls before this one took their time, the node may have been given up.
bool PoolRunner::create(core::NodeRequest request) {
  const auto newest = publisher_.picture();
  const core::PoolNode* node = newest->state.pools.find_node(request);
  if (node == nullptr || node->state != core::PoolNodeState::kAsked) return false;
  const core::PoolSpec& spec = newest->state.pools.find(setup_.pool)->spec;
  const auto made = setup_.provider->create(
      {.request = text_of(request), .name = node->name, .slots = spec.slots_per_node, .slot_type = spec.slot_type});
  created_.insert(request);
  if (made.value) {
    spdlog::info("event=node_created pool={} node={} id={}", setup_.pool, level_of(*node), made.value->id);
    report(core::PoolNodeCreated{request, made.value->id, made.value->lifetime});
  } else {
    spdlog::warn("event=node_create_failed pool={} node={} fault={} why={:?}", setup_.pool, level_of(*node),
                 core::to_text(made.fault), made.detail);
    report(core::PoolNodeCreateFailed{request, made.fault, made.detail});
  }
  return true;
}

void PoolRunner::end(const core::PoolNode& node) {
  const auto ended = setup_.provider->end({.request = text_of(node.request), .id = node.provider_id});
  ended_[node.request] = node.backoff.failures;
  if (ended.value) {
    spdlog::info("event=node_ended pool={} node={}", setup_.pool, level_of(node));
    return report(core::PoolNodeDeleted{node.request});
  }
  spdlog::warn("event=node_end_failed pool={} node={} fault={} why={:?}", setup_.pool, level_of(node),
               core::to_text(ended.fault), ended.detail);
  report(core::PoolNodeDeleteFailed{node.request, ended.fault, ended.detail});
}

// What was asked for since the picture may be missing from it.
void PoolRunner::list(const core::ClusterState& state, Instant now) {
  list_is_due_ = false;
  core::PoolListed listed{.pool = setup_.pool, .asked_before = state.pools.next_request, .nodes = {}, .begun_at = now};
  const auto found = setup_.provider->list();
  listed_at_ = Clock::now();
  if (!found.value) {
    core::PoolListFailed failed{setup_.pool, found.fault, found.detail};
    const auto picture = publisher_.picture();
    if (!core::is_news(picture->state, failed, picture->now)) return;
    spdlog::warn("event=pool_list_failed pool={} fault={} why={:?}", setup_.pool, core::to_text(found.fault),
                 found.detail);
    return report(std::move(failed));
  }
  const std::string prefix = setup_.cluster + "-";
  std::set<std::string> unnumbered;
  for (const ProvidedNode& node : *found.value) {
    if (!node.request.starts_with(prefix)) continue;  // another daemon's
    if (const auto request = parse_number<core::NodeRequest>(node.request.substr(prefix.size()))) {
      listed.nodes.push_back({*request, node.id, node.lifetime});
    } else {
      unnumbered.insert(node.request);
    }
  }
  warn_of_unnumbered(std::move(unnumbered));
  const auto picture = publisher_.picture();  // lifetimes count from the answer
  if (core::is_news(picture->state, listed, picture->now)) report(std::move(listed));
}

// They may cost money, and no request of this daemon would ever end them.
void PoolRunner::warn_of_unnumbered(std::set<std::string> requests) {
  for (const std::string& request : requests) {
    if (unnumbered_.contains(request)) continue;
    spdlog::warn(
        "event=pool_node_not_ours pool={} request={:?} text=\"its provider lists it with this cluster's id and "
        "no number after it, so it is neither used nor ended: end it at the provider, or let list answer with "
        "the request that create was told\"",
        setup_.pool, request);
  }
  unnumbered_ = std::move(requests);
}

// Refused where the queue is full: what the state asks for is then looked at again.
void PoolRunner::report(leader::PoolReport report) {
  const Status taken = inbox_.try_push(leader::PoolReportItem{std::move(report)});
  if (taken.ok()) return;
  created_.clear();
  ended_.clear();
  list_is_due_ = true;
}

std::string PoolRunner::text_of(core::NodeRequest request) const {
  return setup_.cluster + "-" + std::to_string(request);
}

}  // namespace tidepool::live
