// What the rows of the engine's records are made of, part by part.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "policies/engine/demanded_nodes.hpp"
#include "policies/engine/ended_service.hpp"
#include "policies/engine/row_terms.hpp"
#include "policies/engine/slot_limit.hpp"
#include "tests/support/job_records.hpp"

namespace tidepool::policies::cluster {
namespace {

using test::JobWorld;

std::vector<int> slots_left(const std::vector<int>& held, const std::vector<bool>& asked, int most) {
  View view;
  for (std::uint64_t i = 1; i <= held.size(); ++i) view.nodes.push_back({.id = NodeId(i), .slots = 4});
  limit_slots(view, held, asked, most);
  std::vector<int> slots;
  for (const NodeRow& node : view.nodes) slots.push_back(node.slots);
  return slots;
}

void add_node(core::ClusterState& state, std::uint64_t id, const std::string& type, int slots, Money price) {
  core::Node node{.id = NodeId(id), .name = "n" + std::to_string(id), .slot_type = type, .price_per_slot_hour = price};
  node.owners.resize(static_cast<std::size_t>(slots));
  state.nodes[node.id] = std::move(node);
}

// Four slots of type a on two nodes, two of the dearer type b on one.
core::ClusterState two_types() {
  core::ClusterState state;
  add_node(state, 1, "a", 2, Money::micros(1'000'000));
  add_node(state, 2, "b", 2, Money::micros(3'000'000));
  add_node(state, 3, "a", 2, Money::micros(1'000'000));
  return state;
}

}  // namespace

TEST_CASE("slots beyond a bound are taken from what nobody holds, then from what nobody asks for, then from the rest") {
  CHECK(slots_left({0, 4, 2}, {false, false, false}, 12) == std::vector{4, 4, 4});
  CHECK(slots_left({0, 4, 2}, {false, false, false}, 8) == std::vector{2, 4, 2});
  CHECK(slots_left({0, 4, 2}, {false, false, true}, 8) == std::vector{0, 4, 4});
  CHECK(slots_left({0, 4, 2}, {false, false, false}, 3) == std::vector{0, 3, 0});
}

TEST_CASE("the service of ended jobs is in the order in which they ended, without those that are forgotten") {
  EndedService ended;
  ended.note(JobId(3), Duration::seconds(10));
  ended.note(JobId(1), Duration::seconds(20));
  ended.note(JobId(3), Duration::seconds(15));
  CHECK(ended.in_order() == std::vector{15.0, 20.0});
  ended.forget(JobId(3));
  ended.forget(JobId(9));
  ended.note(JobId(2), Duration::seconds(5));
  CHECK(ended.in_order() == std::vector{20.0, 5.0});
  ended.note(JobId(3), Duration::seconds(1));
  CHECK(ended.in_order() == std::vector{20.0, 5.0, 1.0});
}

TEST_CASE("jobs that ask for the same nodes share one answer, and the others count all of them") {
  const core::ClusterState state = two_types();
  DemandedNodes nodes;
  CHECK(nodes.follow(state).nodes);
  CHECK(nodes.has_several_types());
  CHECK(nodes.place_of(NodeId(2)) == 1);
  CHECK_FALSE(nodes.place_of(NodeId(4)).has_value());

  core::Job any = JobWorld({1}).job;
  core::Job choosy = any;
  choosy.spec.slot_types = {"a"};
  CHECK_FALSE(nodes.asks_for_nodes(state, any));
  CHECK(nodes.asks_for_nodes(state, choosy));
  const std::size_t demand = nodes.demand_of(state, choosy);
  CHECK(nodes.demand_of(state, any) != demand);
  CHECK(nodes.demand_of(state, choosy) == demand);

  CHECK(nodes.asked(state, {choosy, demand}).nodes == std::vector{0, 2});
  CHECK(nodes.asked(state, {any, nodes.demand_of(state, any)}).of("b") == std::vector{1});
  CHECK(nodes.asked(state, {any, nodes.demand_of(state, any)}).of("c") == std::vector{0, 1, 2});
  CHECK(nodes.reach_of(state, {choosy, demand}) == 4);
  any.spec.mixed_types = true;
  CHECK(nodes.reach_of(state, {any, nodes.demand_of(state, any)}) == 6);
}

TEST_CASE("a price cap keeps a job from dear nodes, and new prices are told") {
  core::ClusterState state = two_types();
  DemandedNodes nodes;
  static_cast<void>(nodes.follow(state));
  core::Job job = JobWorld({1}).job;
  job.spec.scaling.price_cap = Money::micros(2'000'000);
  CHECK(nodes.asks_for_nodes(state, job));
  const std::size_t demand = nodes.demand_of(state, job);
  CHECK(nodes.asked(state, {job, demand}).nodes == std::vector{0, 2});
  const auto prices = nodes.prices_of(state, {job, demand}, {});
  CHECK(prices.of(3) == Money::micros(3'000'000));
  CHECK_FALSE(prices.of(5).has_value());

  CHECK_FALSE(nodes.follow(state).prices);
  add_node(state, 2, "b", 2, Money::micros(2'000'000));
  const DemandedNodes::Change change = nodes.follow(state);
  CHECK(change.prices);
  CHECK_FALSE(change.nodes);
  CHECK_FALSE(nodes.asks_for_nodes(state, job));
}

TEST_CASE("the size beyond a row's largest is the job's own next one, and is bound by the room that there is") {
  JobWorld world({1, 2, 4});
  world.at(2).measured(2, 100);
  JobRow row;
  row.size_max = 2;
  row.slots_per_worker = 1;
  row.placement = {{.node = 0, .slots = 2}};
  JobRow roomy = row;
  set_beyond(world.state, world.job, 2, row);
  CHECK(row.size_beyond == 4);
  CHECK(row.bound == core::reason::NoSlotsToGrow{.wanted = 2, .all = 2});
  set_beyond(world.state, world.job, 8, roomy);
  CHECK_FALSE(roomy.bound.has_value());
}

}  // namespace tidepool::policies::cluster
