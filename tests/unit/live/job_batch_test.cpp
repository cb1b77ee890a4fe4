// A batch of jobs in the loop: one commit holds all of it, or nothing is stored.
#include <catch2/catch.hpp>

#include "tests/support/loop_world.hpp"

namespace tidepool::test {
namespace {

struct Answer {
  std::optional<live::Receipt> receipt;
  std::string refusal;
};

// What a turn with this batch answers.
Answer submit_batch(LoopWorld& world, std::vector<core::JobSpec> specs, const std::string& key = "") {
  Answer answer;
  live::Command command{.body = leader::SubmitJobs{std::move(specs)}, .actor = "t"};
  if (!key.empty()) command.idempotency = {.key = key, .token_id = "t", .request_hash = key};
  std::vector<live::InboxItem> items;
  items.emplace_back(live::CommandItem{std::move(command), [&](const Result<live::Receipt>& receipt) {
                                         if (receipt.ok()) {
                                           answer.receipt = *receipt;
                                         } else {
                                           answer.refusal = receipt.error().message;
                                         }
                                       }});
  REQUIRE(world.turn(std::move(items)));
  return answer;
}

std::vector<core::JobSpec> jobs(int count) {
  std::vector<core::JobSpec> specs;
  for (int i = 0; i < count; ++i) specs.push_back(elastic_job("job-of-" + std::to_string(i)));
  return specs;
}

}  // namespace

TEST_CASE("an answered batch is on disk with all its jobs, and its key gives the same first id after a kill") {
  LoopWorld world;
  REQUIRE(world.boot(world.dir / "life"));
  REQUIRE(world.turn({world.node.hello()}));
  const auto first = submit_batch(world, jobs(300), "batch");
  REQUIRE(first.receipt);
  CHECK(first.receipt->job == JobId(1));
  CHECK(first.receipt->as_of_seq >= 300);
  CHECK(world.state().jobs.size() == 300);
  world.kill();
  REQUIRE(world.boot(world.folder()));
  REQUIRE(world.state().jobs.size() == 300);
  for (std::uint64_t i = 0; i < 300; ++i) {
    CHECK(world.state().find_job(JobId(i + 1))->spec.name == "job-of-" + std::to_string(i));
  }
  const auto again = submit_batch(world, jobs(300), "batch");
  REQUIRE(again.receipt);
  CHECK(again.receipt->replayed);
  CHECK(again.receipt->job == JobId(1));
  CHECK(world.state().jobs.size() == 300);
}

TEST_CASE("a batch of which the engine refuses one job leaves none behind") {
  LoopWorld world;
  REQUIRE(world.boot(world.dir / "life"));
  REQUIRE(world.turn({world.node.hello()}));  // the first one learns where the calendar stands
  auto specs = jobs(3);
  specs.back().elastic.min = 9;  // beyond its own max
  const auto before = world.digest();
  const auto answer = submit_batch(world, specs);
  CHECK(!answer.receipt);
  CHECK(answer.refusal.find("job-of-2") != std::string::npos);
  CHECK(world.state().jobs.empty());
  CHECK(world.digest() == before);
  CHECK(submit_batch(world, jobs(1)).receipt->job == JobId(1));
}

}  // namespace tidepool::test
