// Turns that are decided while those before them are still being written.
#include <catch2/catch.hpp>
#include <future>
#include <map>
#include <optional>
#include <vector>

#include "schedulerd/live/pending_reads.hpp"
#include "tests/support/loop_world.hpp"

namespace tidepool::test {
namespace {

using Receipts = std::vector<live::Receipt>;

// Keeps the writer from going on, from the moment at which `held` is answered until let_go().
class HeldWriter {
 public:
  explicit HeldWriter(LoopWorld& world) : world_(world) {
    REQUIRE(world.boot(world.dir / "state"));
    REQUIRE(world.turn({world.node.hello()}));
    std::vector<live::InboxItem> items;
    items.push_back(submit("held", "", [this](const Result<live::Receipt>& receipt) {
      held = receipt.ok() ? receipt->job : std::nullopt;
      reached_.set_value();
      free_.get_future().wait();
    }));
    REQUIRE(world.turn_ahead(std::move(items)));
    reached_.get_future().wait();
  }
  ~HeldWriter() {
    if (!is_free_) free_.set_value();
  }
  void submit_ahead(const std::string& name, const std::string& key, Receipts& receipts) {
    std::vector<live::InboxItem> items;
    items.push_back(submit(name, key, [&receipts](const Result<live::Receipt>& receipt) {
      if (receipt.ok()) receipts.push_back(*receipt);
    }));
    REQUIRE(world_.turn_ahead(std::move(items)));
  }
  void let_go() {
    is_free_ = true;
    free_.set_value();
    REQUIRE(world_.settle());
  }

  std::optional<JobId> held;

 private:
  LoopWorld& world_;
  std::promise<void> reached_, free_;
  bool is_free_ = false;
};

}  // namespace

TEST_CASE("turns go on while one is being written, and nothing of them is told before it is durable") {
  LoopWorld world;
  HeldWriter writer(world);
  const auto picture = world.publisher.picture();
  Receipts receipts;
  writer.submit_ahead("second", "", receipts);
  writer.submit_ahead("third", "", receipts);
  CHECK(world.state().jobs.size() == 3);  // decided
  CHECK(receipts.empty());
  CHECK(world.publisher.picture() == picture);
  {
    LoopWorld crashed;  // as if the machine had lost its power now
    REQUIRE(crashed.boot(world.copy_files("crash")));
    CHECK(crashed.state().find_job(*writer.held) != nullptr);
    CHECK(crashed.state().jobs.size() == 1);
  }
  writer.let_go();
  REQUIRE(receipts.size() == 2);
  CHECK(receipts[0].job < receipts[1].job);
  CHECK(world.publisher.picture()->state.jobs.size() == 3);
  LoopWorld next;
  REQUIRE(next.boot(world.copy_files("after")));
  CHECK(next.digest() == world.digest());
}

TEST_CASE("a request that is repeated while its first answer is being written is the same request") {
  LoopWorld world;
  HeldWriter writer(world);
  Receipts receipts;
  writer.submit_ahead("job", "key", receipts);
  writer.submit_ahead("job", "key", receipts);
  CHECK(world.state().jobs.size() == 2);
  writer.let_go();
  REQUIRE(receipts.size() == 2);
  CHECK(receipts[0].job == receipts[1].job);
}

namespace {

// A storage in memory.
struct Stored final : leader::TurnReads {
  leader::KeyedRows rows;
  Result<std::optional<leader::StoredReceipt>> receipt_for(const leader::Idempotency& request) override {
    return copy(rows.receipt(request));
  }
  Result<std::optional<leader::EndedNote>> ended(JobId job) override { return copy(rows.ended(job)); }
  Result<std::vector<leader::TokenRecord>> tokens() override { return rows.after({}); }
  Result<std::optional<leader::NodeToken>> node_token(const std::string& id) override {
    return copy(rows.node_token(id));
  }
  Result<std::optional<leader::NodeCredential>> node_credential(const std::string& node) override {
    return copy(rows.node_credential(node));
  }
  Result<std::optional<leader::PolicyVersion>> policy_version(const std::string& name,
                                                              const std::string& version) override {
    return copy(rows.policy(name, version));
  }
  Status can_run(const leader::PolicyVersion& /*version*/, const std::string& /*params*/) override {
    return ok_status();
  }
  template <class T>
  static std::optional<T> copy(const T* found) {
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
};

leader::TokenRecord token(const std::string& id) {
  return {.id = id, .name = id, .role = "viewer", .tenant = "", .secret_sha256 = "", .created_at = ""};
}

}  // namespace

TEST_CASE("lookups find what the newest turn has written before what is stored, until it is durable") {
  Stored stored;
  stored.rows.add(JobId(1), leader::EndedNote{"completed", Instant()});
  live::PendingReads reads(stored);
  leader::KeyedRows first, second;
  first.add(JobId(2), leader::EndedNote{"failed", Instant()});
  first.add(leader::NodeToken{.id = "t", .uses = 1});
  second.add(leader::NodeToken{.id = "t", .uses = 2});
  reads.add(first);
  reads.add(second);
  CHECK((*reads.ended(JobId(1)))->state == "completed");
  CHECK((*reads.ended(JobId(2)))->state == "failed");
  CHECK_FALSE(reads.ended(JobId(3))->has_value());
  CHECK((*reads.node_token("t"))->uses == 2);
  reads.forget_until(1);  // it is stored now, as far as they know
  CHECK_FALSE(reads.ended(JobId(2))->has_value());
  CHECK((*reads.node_token("t"))->uses == 2);
  reads.forget_until(2);
  CHECK_FALSE(reads.node_token("t")->has_value());
}

TEST_CASE("a token that is stored already and still pending is listed once, and as revoked once it was") {
  Stored stored;
  stored.rows.add(token("a"));
  stored.rows.add(token("b"));
  live::PendingReads reads(stored);
  leader::KeyedRows first, second;
  first.add(token("b"));
  first.revoke_token("a");
  second.add(token("c"));
  reads.add(first);
  reads.add(second);
  std::map<std::string, bool> revoked;
  const auto tokens = reads.tokens();
  for (const leader::TokenRecord& each : *tokens) {
    CHECK(revoked.emplace(each.id, each.revoked).second);
  }
  CHECK(revoked == std::map<std::string, bool>{{"a", true}, {"b", false}, {"c", false}});
}

}  // namespace tidepool::test
