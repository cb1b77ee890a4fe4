// Workers of several slots under tidal: where there is room for them, and what becomes of those without.
#include <catch2/catch.hpp>

#include "policies/registry.hpp"
#include "policies/tidal/gang_room.hpp"
#include "tests/support/cluster_builders.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::policies::tidal {
namespace {

using cluster::JobRow;

JobRow row(std::uint64_t id, int each, cluster::Placement held = {}) {
  JobRow row;
  row.id = JobId(id);
  row.slots_per_worker = each;
  row.size_min = each;
  row.size_max = 8 * each;
  row.placement = std::move(held);
  return row;
}

// Every decision of it is checked against one from scratch.
test::Story under_tidal() {
  test::Story story;
  story.engine() = core::Engine({make_policies("tidal").value(), {std::make_shared<test::PlainDetector>()}, {}});
  return story;
}

const core::Reason& why(const test::Story& story, JobId job) {
  return story.job(job).verdict.reason;
}

// Asks for the end of a job and lets its workers go.
void end(test::Story& story, JobId job) {
  story.learn(core::JobCancelRequested{job});
  story.decide();
  for (const WorkerId worker : std::vector<WorkerId>(story.job(job).membership.workers)) story.exit(worker);
  story.decide();
}

}  // namespace

TEST_CASE("workers of several slots go together to the fullest node with room, the widest first") {
  const GangRoom room({{4}, {3}, {2}});
  const JobRow two = row(1, 2);
  const JobRow three = row(2, 3);
  const JobRow four = row(3, 4);
  CHECK(room.fit({{&two, 2}, {&three, 3}, {&four, 4}}).sizes == std::vector<int>{2, 3, 4});
  CHECK(room.fit({{&two, 8}, {&four, 4}}).sizes == std::vector<int>{4, 4});
  CHECK(room.fit({{&four, 8}, {&three, 3}}).sizes == std::vector<int>{4, 3});
}

TEST_CASE("what is held is taken off and given back, and a node that takes no jobs has nothing") {
  GangRoom room({{4}, std::nullopt});
  const JobRow gang = row(1, 2);
  const cluster::Placement held{{.node = 0, .slots = 3}, {.node = 1, .slots = 2}};
  room.put(held);
  CHECK(room.fit({{&gang, 4}}).sizes == std::vector<int>{0});
  room.take_out(held);
  CHECK(room.fit({{&gang, 4}}).sizes == std::vector<int>{4});
}

TEST_CASE("a job that is to have less makes room with its last slots, and one that grows keeps what it holds") {
  GangRoom room({{4}, {4}});
  const JobRow shrinks = row(1, 1, {{.node = 0, .slots = 2}, {.node = 1, .slots = 3}});
  const JobRow grows = row(2, 2, {{.node = 0, .slots = 2}});
  room.put(shrinks.placement);
  room.put(grows.placement);
  CHECK(room.fit({{&shrinks, 3}, {&grows, 4}}).sizes == std::vector<int>{3, 4});
  CHECK(room.fit({{&shrinks, 4}, {&grows, 4}}).sizes == std::vector<int>{4, 4});
  CHECK(room.fit({{&shrinks, 5}, {&grows, 4}}).sizes == std::vector<int>{5, 2});
}

TEST_CASE(
    "for a gang that found no room those leave to which a slot is worth less, on one node, and as few as will do") {
  GangRoom room({{4}, {4}});
  const JobRow cheap = row(1, 1, {{.node = 0, .slots = 1}});
  const JobRow dear = row(2, 1, {{.node = 0, .slots = 1}});
  const JobRow wide = row(3, 1, {{.node = 1, .slots = 3}});
  for (const JobRow* held : {&cheap, &dear, &wide}) room.put(held->placement);
  const std::vector<GangRoom::KeepingJob> stayers{{&cheap, 1}, {&dear, 3}, {&wide, 1}};
  const JobRow gang = row(4, 4);
  const auto left_for = [&](double worth, int size) { return room.fit({{&gang, size, worth}}, stayers); };
  CHECK(left_for(4, 4).leave == std::vector<JobId>{JobId(1), JobId(2)});
  CHECK(left_for(4, 4).sizes == std::vector<int>{4});
  CHECK(left_for(2, 4).leave == std::vector<JobId>{JobId(3)});  // to the second a slot is worth more
  CHECK(left_for(1, 4).leave.empty());
  CHECK(left_for(1, 4).sizes == std::vector<int>{0});
  CHECK(left_for(4, 8).leave == std::vector<JobId>{JobId(1), JobId(3), JobId(2)});
  CHECK(left_for(2, 8).leave.empty());  // half of it is of no use
  CHECK(room.fit({{&gang, 4, 4}}).sizes == std::vector<int>{0});
}

TEST_CASE("a gang waits for those of lower priorities that may not leave yet, on the node where they may first") {
  GangRoom room({{2}, {2}, {2}});
  const JobRow late = row(1, 1, {{.node = 0, .slots = 1}});
  const JobRow soon = row(2, 1, {{.node = 1, .slots = 1}});
  const JobRow dear = row(3, 1, {{.node = 2, .slots = 1}});
  for (const JobRow* held : {&late, &soon, &dear}) room.put(held->placement);
  const auto at = [](std::int64_t s) { return Instant() + Duration::seconds(s); };
  const std::vector<GangRoom::KeepingJob> stayers{{.row = &late, .worth = 1, .until = at(900)},
                                                  {.row = &soon, .worth = 1, .until = at(600)},
                                                  {.row = &dear, .worth = 5, .until = at(60)}};
  JobRow gang = row(4, 2);
  gang.priority = 10;
  JobRow other = row(5, 2);
  other.priority = 10;
  const GangRoom::Fit fit = room.fit({{&gang, 4, 4}, {&other, 2, 4}}, stayers);
  CHECK(fit.sizes == std::vector<int>{2, 2});  // each its smallest size
  CHECK(fit.wait == std::vector<JobId>{JobId(4), JobId(5)});
  CHECK(fit.leave == std::vector<JobId>{JobId(2), JobId(1)});
  CHECK(fit.held == 2);
  core::ScalingSpec capped;
  capped.price_cap = Money::micros(1);
  gang.scaling = &capped;
  const std::vector<int> within{0};  // its cap
  const GangRoom::Fit bound = room.fit({{.row = &gang, .size = 2, .worth = 4, .nodes = &within}}, stayers);
  CHECK(bound.wait == std::vector<JobId>{JobId(4)});
  CHECK(bound.leave == std::vector<JobId>{JobId(1)});
  gang.scaling = nullptr;
  gang.priority = 0;
  CHECK(room.fit({{&gang, 2, 4}}, stayers).sizes == std::vector<int>{0});
}

TEST_CASE("a gang that can leave others now waits for none") {
  GangRoom room({{2}, {2}});
  const JobRow bound = row(1, 1, {{.node = 0, .slots = 1}});
  const JobRow open = row(2, 1, {{.node = 1, .slots = 1}});
  for (const JobRow* held : {&bound, &open}) room.put(held->placement);
  JobRow gang = row(3, 2);
  gang.priority = 10;
  const GangRoom::Fit fit =
      room.fit({{&gang, 2, 4}},
               {{.row = &bound, .worth = 1, .until = Instant() + Duration::seconds(60)}, {.row = &open, .worth = 1}});
  CHECK(fit.sizes == std::vector<int>{2});
  CHECK(fit.wait.empty());
  CHECK(fit.leave == std::vector<JobId>{JobId(2)});
}

TEST_CASE("free slots that lie scattered are no room for a gang, and others need not wait behind it") {
  test::Story story = under_tidal();
  story.node(2);
  story.node(2);
  const JobId first = story.submit({.max = 1});
  const JobId second = story.submit({.max = 1});
  const JobId third = story.submit({.max = 1});
  story.decide();
  REQUIRE(story.state().slots_free() == 1);
  end(story, first);
  const JobId gang = story.submit({.max = 1, .gpus = 2});
  story.decide();
  CHECK(story.job(gang).membership.workers.empty());
  CHECK(test::says<core::reason::WaitingForSlots>(why(story, gang)));
  const JobId single = story.submit({.max = 1});
  story.decide();
  CHECK(story.job(single).membership.workers.size() == 1);
  CHECK(story.job(gang).membership.workers.empty());
  // Two free slots of one node are room.
  end(story, third);
  end(story, single);
  if (story.job(gang).membership.workers.empty()) end(story, second);
  REQUIRE(story.job(gang).membership.workers.size() == 1);
  CHECK(story.worker(story.job(gang).membership.workers.front()).slots.size() == 2);
}

TEST_CASE("a gang that no node has slots for is told so, and takes no slot from the others' market") {
  test::Story story = under_tidal();
  story.node(2);
  const JobId gang = story.submit({.max = 1, .gpus = 4});
  const JobId pair = story.submit({.min = 2, .max = 2});
  story.decide();
  CHECK(test::says<core::reason::NeverFits>(why(story, gang)));
  CHECK(test::number_in(story.job(gang).verdict.reason, "needed") == 4);
  CHECK(story.job(pair).membership.workers.size() == 2);
  story.node(4);
  story.decide();
  CHECK(story.job(gang).membership.workers.size() == 1);
}

TEST_CASE("when the last slots that jobs could ever have are gone, those that wait are told") {
  test::Story story = under_tidal();
  const NodeId node = story.node(2);
  const JobId pinned = story.submit({.min = 2, .max = 2});
  story.decide();
  story.learn(core::JobResizeRequested{pinned, 2});
  story.learn(core::NodeCordonChanged{.node = node, .cordoned = true});
  const JobId waits = story.submit({.max = 1});
  story.decide();
  CHECK_FALSE(test::says<core::reason::NoNodes>(why(story, waits)));
  end(story, pinned);
  CHECK(test::says<core::reason::NoNodes>(why(story, waits)));
}

}  // namespace tidepool::policies::tidal
