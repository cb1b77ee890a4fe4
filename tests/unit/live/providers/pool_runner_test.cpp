// Runners of pools: which calls of a provider follow from the pictures that are published, and which do not.
#include "schedulerd/live/providers/pool_runner.hpp"

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <sstream>

#include "tests/support/patience.hpp"

namespace tidepool::test {
namespace {

using core::PoolNodeState;
using live::PoolRunner;

// The calls of a provider in their order; each waits until the gate is open.
class Calls {
 public:
  void make(const std::string& call) {
    std::unique_lock lock(mutex_);
    made_.push_back(call);
    opened_.wait(lock, [this] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  [[nodiscard]] std::vector<std::string> made() const {
    const std::lock_guard lock(mutex_);
    return made_;
  }
  [[nodiscard]] bool has(const std::string& call) const {
    const auto calls = made();
    return std::find(calls.begin(), calls.end(), call) != calls.end();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable opened_;
  std::vector<std::string> made_;
  bool open_ = false;
};

// Also where a test ends early: a runner's end waits for its call.
class OpenAtEnd {
 public:
  explicit OpenAtEnd(Calls& calls) : calls_(calls) {}
  OpenAtEnd(const OpenAtEnd&) = delete;
  OpenAtEnd& operator=(const OpenAtEnd&) = delete;
  ~OpenAtEnd() { calls_.open(); }

 private:
  Calls& calls_;
};

class GatedProvider final : public live::NodeProvider {
 public:
  explicit GatedProvider(Calls& calls) : calls_(calls) {}
  live::Provided<live::ProvidedNode> create(const live::NodeToCreate& node) override {
    calls_.make("create " + node.request);
    return {.value = live::ProvidedNode{.request = node.request, .id = "i-" + node.request, .lifetime = {}}};
  }
  live::Provided<live::Ended> end(const live::NodeToEnd& node) override {
    calls_.make("delete " + node.request);
    return {.value = live::Ended{}};
  }
  live::Provided<std::vector<live::ProvidedNode>> list() override {
    calls_.make("list");
    return {.value = std::vector<live::ProvidedNode>{}};
  }

 private:
  Calls& calls_;
};

class ListingProvider final : public live::NodeProvider {
 public:
  explicit ListingProvider(std::atomic<int>& lists) : lists_(lists) {}
  live::Provided<live::ProvidedNode> create(const live::NodeToCreate&) override { return {}; }
  live::Provided<live::Ended> end(const live::NodeToEnd&) override { return {}; }
  live::Provided<std::vector<live::ProvidedNode>> list() override {
    ++lists_;
    std::vector<live::ProvidedNode> nodes;
    for (const char* request : {"c-1-7", "c-1-test", "c-1-7b", "c-2-test"}) nodes.push_back({request, "i", {}});
    return {.value = std::move(nodes)};
  }

 private:
  std::atomic<int>& lists_;
};

std::unique_ptr<PoolRunner> runner(const std::string& pool, Calls& calls, live::Publisher& publisher,
                                   live::Inbox& inbox) {
  return std::make_unique<PoolRunner>(PoolRunner::Setup{.pool = pool,
                                                        .cluster = "c-1",
                                                        .list_every = std::chrono::hours(1),
                                                        .provider = std::make_unique<GatedProvider>(calls)},
                                      publisher, inbox);
}

std::shared_ptr<live::Published> picture_with(const std::vector<core::PoolNode>& nodes) {
  auto picture = std::make_shared<live::Published>();
  core::NodePools& pools = picture->state.pools;
  for (const core::PoolNode& node : nodes) {
    pools.pools[node.pool].spec.name = node.pool;
    pools.nodes[node.request] = node;
    pools.next_request = std::max(pools.next_request, node.request + 1);
  }
  return picture;
}

}  // namespace

TEST_CASE("no runner begins another call once all are told to stop, whichever is waited for first") {
  live::Publisher publisher;
  live::Inbox inbox(100);
  publisher.publish(picture_with({{.request = 1, .pool = "a"},
                                  {.request = 2, .pool = "a"},
                                  {.request = 3, .pool = "b"},
                                  {.request = 4, .pool = "b"}}));
  Calls of_a, of_b;
  const auto a = runner("a", of_a, publisher, inbox);
  const auto b = runner("b", of_b, publisher, inbox);
  const OpenAtEnd opens_a(of_a), opens_b(of_b);
  a->start();
  b->start();
  REQUIRE(eventually([&] { return of_a.has("create c-1-1") && of_b.has("create c-1-3"); }));
  a->begin_stop();
  b->begin_stop();
  of_b.open();
  b->stop();
  of_a.open();
  a->stop();
  CHECK(of_a.made() == std::vector<std::string>{"create c-1-1"});
  CHECK(of_b.made() == std::vector<std::string>{"create c-1-3"});
  // What the calls under way have come to is told all the same.
  CHECK(inbox.take(10, std::chrono::microseconds(0)).size() == 2);
}

TEST_CASE("a node that was given up while another was made is not made any more") {
  live::Publisher publisher;
  live::Inbox inbox(100);
  publisher.publish(picture_with({{.request = 1, .pool = "a"},
                                  {.request = 2, .pool = "a"},
                                  {.request = 3, .pool = "a"},
                                  {.request = 4, .pool = "a"}}));
  Calls calls;
  const auto a = runner("a", calls, publisher, inbox);
  const OpenAtEnd opens(calls);
  a->start();
  REQUIRE(eventually([&] { return calls.has("create c-1-1"); }));
  // Request 3 is gone without a trace; of request 2 the provider is told, as it may have been made.
  publisher.publish(picture_with({{.request = 1, .pool = "a"},
                                  {.request = 2, .pool = "a", .state = PoolNodeState::kReleasing},
                                  {.request = 4, .pool = "a"}}));
  calls.open();
  REQUIRE(eventually([&] { return calls.has("create c-1-4") && calls.has("delete c-1-2"); }));
  a->stop();
  CHECK_FALSE(calls.has("create c-1-2"));
  CHECK_FALSE(calls.has("create c-1-3"));
}

TEST_CASE("a listed node with this cluster's id and no number after it is warned of once") {
  std::ostringstream log;
  const auto logger = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  live::Publisher publisher;
  live::Inbox inbox(100);
  publisher.publish(picture_with({}));
  std::atomic<int> lists = 0;
  PoolRunner pool({.pool = "a",
                   .cluster = "c-1",
                   .list_every = std::chrono::milliseconds(0),
                   .provider = std::make_unique<ListingProvider>(lists)},
                  publisher, inbox);
  pool.start();
  CHECK(eventually([&] { return lists >= 3; }));
  pool.stop();
  spdlog::set_default_logger(logger);
  std::vector<std::string> warned;
  std::istringstream lines(log.str());
  for (std::string line; std::getline(lines, line);) {
    if (line.find("event=pool_node_not_ours") == std::string::npos) continue;
    warned.push_back(line.substr(line.find("pool="), line.find(" text=") - line.find("pool=")));
  }
  CHECK(warned == std::vector<std::string>{R"(pool=a request="c-1-7b")", R"(pool=a request="c-1-test")"});
}

}  // namespace tidepool::test
