// Which workers leave which nodes for a gang, as a choice among numbers.
#include <catch2/catch.hpp>

#include "core/place/clearing.hpp"

namespace tidepool::core {
namespace {

constexpr NodeId kOne{1};
constexpr NodeId kTwo{2};
constexpr NodeId kThree{3};

using Chosen = std::optional<std::vector<std::size_t>>;

}  // namespace

TEST_CASE("a worker goes to the node where what leaves for it costs least") {
  const std::vector<LeavingWorkers> leaving{
      {.held = {{kOne, 1}}, .cost_s = 9}, {.held = {{kTwo, 1}}, .cost_s = 2}, {.held = {{kTwo, 1}}, .cost_s = 3}};
  CHECK(who_leaves({{kOne, 3}, {kTwo, 2}}, leaving, {.workers = 1, .slots_each = 4}) == Chosen({1, 2}));
  CHECK(who_leaves({{kOne, 3}, {kTwo, 2}}, leaving, {.workers = 2, .slots_each = 4}) == Chosen({0, 1, 2}));
  CHECK(who_leaves({{kOne, 3}, {kTwo, 2}}, leaving, {.workers = 3, .slots_each = 4}) == std::nullopt);
}

TEST_CASE("none leaves where there is room, nor one for whose slots the others make up") {
  const std::vector<LeavingWorkers> leaving{{.held = {{kOne, 1}}, .cost_s = 1}, {.held = {{kOne, 4}}, .cost_s = 8}};
  CHECK(who_leaves({{kOne, 4}}, leaving, {.workers = 1, .slots_each = 4}) == Chosen(std::vector<std::size_t>{}));
  // The cheap one is looked at first, and does not help beside the other.
  CHECK(who_leaves({{kOne, 0}}, leaving, {.workers = 1, .slots_each = 4}) == Chosen({1}));
}

TEST_CASE("workers that leave together make room on each of their nodes") {
  const std::vector<LeavingWorkers> leaving{{.held = {{kOne, 1}, {kTwo, 1}}, .cost_s = 2},
                                            {.held = {{kOne, 1}}, .cost_s = 3},
                                            {.held = {{kTwo, 1}}, .cost_s = 3}};
  CHECK(who_leaves({{kOne, 3}, {kTwo, 3}}, leaving, {.workers = 2, .slots_each = 4}) == Chosen({0}));
  // A node that is not open to the gang counts for nothing.
  CHECK(who_leaves({{kOne, 3}}, leaving, {.workers = 2, .slots_each = 4}) == std::nullopt);
}

TEST_CASE("a gang's nodes are those with the fewest slots that have still to come free") {
  const SlotsOn open{{kOne, 4}, {kTwo, 8}, {kThree, 3}};
  CHECK(nodes_kept_for(open, {{kOne, 2}, {kTwo, 8}, {kThree, 3}}, {.workers = 2, .slots_each = 4}) ==
        WorkersOn{{kTwo, 2}});
  CHECK(nodes_kept_for(open, {{kOne, 3}, {kTwo, 4}}, {.workers = 2, .slots_each = 4}) ==
        WorkersOn{{kOne, 1}, {kTwo, 1}});
  CHECK(nodes_kept_for(open, {}, {.workers = 9, .slots_each = 4}) == WorkersOn{{kOne, 1}, {kTwo, 2}});
}

}  // namespace tidepool::core
