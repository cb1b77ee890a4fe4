// How fast a worker is, as lists of workers show it.
#include <catch2/catch.hpp>

#include "schedulerd/live/http/render.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::live::http {

TEST_CASE("a worker that keeps step by its smaller share is shown as slow as that share says") {
  test::Story story;
  story.node(2);
  const JobId job = story.running({.min = 2, .max = 2, .cooldown = {}}, 2);
  story.steps(job, 30, {50'000, 100'000});
  const auto shown = [&] {
    Published seen;
    seen.state = story.state();
    return render_worker(seen, story.worker(WorkerId(2)));
  };
  CHECK(shown().at("straggler_score").get<double>() == Approx(0.5));
  CHECK(shown().at("share") == 1);
  story.decide();  // half a share
  story.rebalanced(job);
  story.steps(job, 100, {67'000, 67'000});
  CHECK(shown().at("straggler_score").get<double>() == Approx(0.5));
  CHECK(shown().at("share") == 0.5);
}

}  // namespace tidepool::live::http
