// A daemon's turn with a storage in memory, and words to look into what a turn leaves.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "schedulerd/leader/daemon_turn.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::leader {

inline const std::string kVersion(64, 'a');

// What the storage holds from before.
class Stored final : public TurnReads {
 public:
  Result<std::optional<StoredReceipt>> receipt_for(const Idempotency& request) override {
    if (fails) return io_error("the disk is gone");
    return request.key == "before" ? std::optional(receipt) : std::nullopt;
  }
  Result<std::optional<EndedNote>> ended(JobId job) override {
    if (fails) return io_error("the disk is gone");
    const auto found = jobs.find(job);
    return found == jobs.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::vector<TokenRecord>> tokens() override {
    if (fails) return io_error("the disk is gone");
    return token_records;
  }
  Result<std::optional<NodeToken>> node_token(const std::string& id) override {
    if (fails) return io_error("the disk is gone");
    const auto found = node_tokens.find(id);
    return found == node_tokens.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::optional<NodeCredential>> node_credential(const std::string& node) override {
    if (fails) return io_error("the disk is gone");
    const auto found = node_credentials.find(node);
    return found == node_credentials.end() ? std::nullopt : std::optional(found->second);
  }
  Result<std::optional<PolicyVersion>> policy_version(const std::string&, const std::string&) override {
    return std::optional<PolicyVersion>();
  }
  Status can_run(const PolicyVersion& version, const std::string&) override {
    return version.source == "good" ? ok_status() : Status(invalid_argument("its source cannot be read"));
  }

  bool fails = false;
  StoredReceipt receipt{.request_hash = "h", .job = JobId(7), .token_id = {}};
  std::vector<TokenRecord> token_records = {{.id = "old", .role = "viewer"}};
  std::map<JobId, EndedNote> jobs;
  std::map<std::string, NodeToken> node_tokens;
  std::map<std::string, NodeCredential> node_credentials;
};

inline core::JobSpec two_workers() {
  core::JobSpec spec = test::job_spec({.min = 2, .max = 2, .preferred = 2});
  spec.run = core::RunSpec{.trainer = "charlm"};
  return spec;
}

inline api::AgentHello hello_of(const std::string& node) {
  return {.token = "", .node = node, .slots = 4, .slot_type = "cpu", .price_per_slot_hour = "1.00", .running = {}};
}

inline Command command(CommandBody body, const std::string& key = "", const std::string& hash = "h") {
  Command made{.body = std::move(body), .actor = "t", .idempotency = {}};
  if (!key.empty()) made.idempotency = {.key = key, .token_id = "t", .request_hash = hash};
  return made;
}

template <class Wanted, class Variant>
std::vector<Wanted> all(const std::vector<Variant>& from) {
  std::vector<Wanted> found;
  for (const auto& each : from) {
    if (const auto* wanted = std::get_if<Wanted>(&each)) found.push_back(*wanted);
  }
  return found;
}

template <class Fact>
std::vector<Fact> facts(const TurnResult& result) {
  std::vector<Fact> found;
  for (const auto& row : all<FactRow>(result.rows)) {
    if (const auto* fact = std::get_if<Fact>(&row.fact.fact)) found.push_back(*fact);
  }
  return found;
}

template <class Message>
std::vector<Message> messages(const TurnResult& result) {
  std::vector<Message> found;
  for (const auto& order : all<NodeMessage>(result.orders)) {
    if (const auto* message = std::get_if<Message>(&order.message)) found.push_back(*message);
  }
  return found;
}

// A turn of a daemon each second.
struct Daemon {
  Stored stored;
  std::shared_ptr<test::WishPolicy::Wishes> job_answers = std::make_shared<test::WishPolicy::Wishes>();
  DaemonTurn turn{core::Engine(test::plain_parts(job_answers))};
  Instant now = Instant::from_micros(1'000'000);

  template <class... Items>
  TurnResult take(Items... item) {
    now = now + Duration::seconds(1);
    std::vector<TurnItem> items;
    (items.emplace_back(std::move(item)), ...);
    auto result = turn.run(std::move(items), now, stored);
    REQUIRE(result.ok());
    return *std::move(result);
  }
  TurnResult say(WorkerId worker, api::FromWorker message, NodeId node = NodeId(1)) {
    return take(FromWorkerItem{node, {.worker = worker, .message = std::move(message)}});
  }
  // Job 1 with workers 1 and 2 on node 1, in generation 1.
  void start() {
    (void)take(AgentHelloItem{1, hello_of("n1")}, command(SubmitJob{two_workers()}));
    (void)say(WorkerId(1), api::ReadyMessage{});
    (void)say(WorkerId(2), api::ReadyMessage{});
    REQUIRE(turn.state().find_job(JobId(1))->membership.generation == 1);
  }
};

inline api::StepsMessage steps() {
  return {.generation = 1,
          .last_step = 1,
          .steps = 1,
          .elapsed_us = 50'000,
          .samples = 64,
          .compute_us = {20'000, 30'000},
          .samples_total = 64};
}

inline void check_nothing(const TurnResult& result) {
  CHECK(result.rows.empty());
  CHECK(result.orders.empty());
  CHECK_FALSE(result.changed);
}

}  // namespace tidepool::leader
