// Gandiva's groups of nodes and turns, on clusters of a few nodes of four slots.
#include <catch2/catch.hpp>

#include <vector>

#include "studies/baselines/gandiva.hpp"
#include "tests/support/allocation_views.hpp"
#include "tests/support/reasons.hpp"

namespace tidepool::policies::cluster {
namespace {

const test::StepTable kSpeed(std::vector<double>(16, 1));

// As if nothing had happened since but `seconds` passing.
Allocation after(View& view, const Allocation& before, int seconds) {
  for (std::size_t row = 0; row < view.jobs.size() && row < before.grants.size(); ++row) {
    view.jobs[row].mark = before.grants[row].mark;
    view.jobs[row].placement = before.placements[row];
  }
  view.mark = before.mark;
  view.now = view.now + Duration::seconds(seconds);
  return test::decide(Gandiva(), view);
}

View of_sizes(int nodes, const std::vector<int>& sizes) {
  View view = test::view_of(nodes, 4, static_cast<int>(sizes.size()), kSpeed);
  for (std::size_t row = 0; row < sizes.size(); ++row) {
    view.jobs[row].size_wanted = view.jobs[row].size_max = sizes[row];
  }
  return view;
}

}  // namespace

TEST_CASE("gandiva: two jobs on all slots take turns, minute by minute") {
  View view = of_sizes(1, {4, 4});
  Allocation now = test::decide(Gandiva(), view);
  CHECK(test::sizes_of(now) == std::vector<int>{4, 0});
  CHECK(*now.wake == view.now + Gandiva::kSlice);
  now = after(view, now, 60);
  CHECK(test::sizes_of(now) == std::vector<int>{0, 4});
  now = after(view, now, 30);  // within a minute no job's turn ends
  CHECK(test::sizes_of(now) == std::vector<int>{0, 4});
  now = after(view, now, 30);
  CHECK(test::sizes_of(now) == std::vector<int>{4, 0});
}

TEST_CASE("gandiva: jobs of one size share a node, others have nodes of their own") {
  const View view = of_sizes(3, {1, 1, 8});
  const Allocation now = test::decide(Gandiva(), view);
  CHECK(test::sizes_of(now) == std::vector<int>{1, 1, 8});
  CHECK(now.placements[0] == now.placements[1]);
  CHECK(now.placements[2].size() == 2);
}

TEST_CASE("gandiva: a job that finds neither nodes nor a group of its size waits until nodes are free") {
  View view = of_sizes(1, {4, 2});
  Allocation now = test::decide(Gandiva(), view);
  CHECK(test::sizes_of(now) == std::vector<int>{4, 0});
  CHECK(test::says<core::reason::TurnWait>(now.grants[1].reason));
  now = after(view, now, 60);
  CHECK(test::sizes_of(now) == std::vector<int>{4, 0});
  view.jobs.erase(view.jobs.begin());  // the first has ended
  view.mark = now.mark;
  view.jobs[0].mark = now.grants[1].mark;
  view.now = view.now + Duration::seconds(60);
  CHECK(test::sizes_of(test::decide(Gandiva(), view)) == std::vector<int>{2});
}

TEST_CASE("gandiva: a mark that is another policy's, and nodes that have left, do no harm") {
  View view = of_sizes(2, {4, 1, 1});
  Allocation now = test::decide(Gandiva(), view);
  view.nodes.pop_back();
  now = after(view, now, 60);
  view.mark.numbers = {4, -1, 1e300, 7, 2, 1, 1, 0.5, 3, 9};
  now = after(view, {.grants = {}, .order = {}, .placements = {}, .mark = view.mark}, 60);
  CHECK(now.grants.size() == 3);
}

}  // namespace tidepool::policies::cluster
