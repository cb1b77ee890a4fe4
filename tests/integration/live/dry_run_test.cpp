// The dry run of a submission, asked of a real daemon, beside the submission that follows it.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/daemon_process.hpp"

namespace tidepool::test {
namespace {

using nlohmann::json;

// A program that runs until it is stopped, at one size.
json program(const std::string& name, int size, int priority) {
  return {{"name", name},
          {"priority", priority},
          {"run", {{"command", {"/bin/sh", "-c", "exec sleep 600"}}, {"resize", "restart"}}},
          {"elastic", {{"min", size}, {"max", size}, {"cooldown", "0s"}, {"grace", "1s"}}}};
}

struct Cluster {
  TemporaryFolder folder;
  DaemonProcess daemon{folder, {.arguments = {"--local-slots", "4"}}};
  ~Cluster() { end_everything_of(folder); }

  [[nodiscard]] json foresee(const json& file) const {
    const auto reply = daemon.client().post("/v1/jobs?dry_run=true", file);
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    return reply.json();
  }
  [[nodiscard]] std::string submit(const json& file) const {
    const auto reply = daemon.client().post("/v1/jobs", file);
    INFO(reply.body);
    REQUIRE(reply.status == 201);
    return reply.json().at("id");
  }
  [[nodiscard]] json get(const std::string& path) const {
    const auto reply = daemon.client().get(path);
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    return reply.json();
  }
  [[nodiscard]] bool runs(const std::string& job) const {
    return eventually([&] { return get("/v1/jobs/" + job).at("state") == "running"; });
  }
};

TEST_CASE("a real daemon decides a submission as its dry run said, whether the job starts, waits or takes slots") {
  if (!built_program("schedulerd") || !built_program("agentd")) return;
  Cluster cluster;
  REQUIRE(cluster.daemon.wait_ready());
  REQUIRE(eventually([&] { return !cluster.get("/v1/nodes").at("items").empty(); }));

  const json starts = cluster.foresee(program("first", 3, 0)).at("decision");
  CHECK(cluster.get("/v1/jobs").at("items").empty());
  const std::string first = cluster.submit(program("first", 3, 0));
  const json held = cluster.get("/v1/jobs/" + first + "/workers").at("items");
  CHECK(starts.at("starts") == true);
  REQUIRE(starts.at("places").size() == 1);
  CHECK(starts.at("places")[0].at("workers") == held.size());
  CHECK(starts.at("places")[0].at("node") == held.at(0).at("node"));
  REQUIRE(cluster.runs(first));

  const json waits = cluster.foresee(program("second", 2, 0));
  const std::string second = cluster.submit(program("second", 2, 0));
  const json why = cluster.get("/v1/jobs/" + second + "/explain");
  INFO(waits.dump(1) << why.dump(1));
  CHECK(waits.at("decision").at("starts") == false);
  CHECK(waits.at("reason").at("code") == why.at("reason").at("code"));
  CHECK(waits.at("decision").at("summary") == why.at("summary"));
  CHECK(waits.at("decision").at("unblocks") == why.at("unblocks"));

  const json takes = cluster.foresee(program("urgent", 4, 20)).at("decision");
  INFO(takes.dump(1));
  REQUIRE(takes.at("changes").size() == 1);
  CHECK(takes.at("changes")[0].at("job") == first);
  CHECK(takes.at("changes")[0].at("kind") == "preempt");
  CHECK(takes.at("changes")[0].at("from") == 3);
  CHECK(cluster.get("/v1/jobs/" + first).at("state") == "running");
  const std::string urgent = cluster.submit(program("urgent", 4, 20));
  CHECK(cluster.runs(urgent));
  const json taken = cluster.get("/v1/jobs/" + first + "/decisions");
  const auto preempts = [&](const json& decision) {
    const auto& intents = decision.at("intents");
    return std::any_of(intents.begin(), intents.end(),
                       [&](const json& intent) { return intent.at("kind") == "preempt" && intent.at("job") == first; });
  };
  CHECK(std::count_if(taken.at("items").begin(), taken.at("items").end(), preempts) == 1);
}

}  // namespace
}  // namespace tidepool::test
