#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <vector>

#include "schedctl/failure.hpp"
#include "schedctl/studies/sim_inputs.hpp"

namespace tidepool::ctl {
namespace {

using Seeds = std::vector<std::uint64_t>;

TEST_CASE("seeds are ranges and single numbers, up to the largest there is") {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  CHECK(seeds_of("1,2,7..9") == Seeds{1, 2, 7, 8, 9});
  CHECK(seeds_of("18446744073709551615") == Seeds{kLargest});
  CHECK(seeds_of("18446744073709551614..18446744073709551615") == Seeds{kLargest - 1, kLargest});
  CHECK_THROWS_AS(seeds_of("5..1"), Failure);
  CHECK_THROWS_AS(seeds_of("0..18446744073709551615"), Failure);
}

TEST_CASE("a command line is told so that it can be repeated") {
  CLI::App app;
  SimArguments asked;
  std::vector<int> waits;
  add_policy_option(app, asked);
  app.add_option("--waits", waits)->delimiter(',');
  add_sim_options(app, asked);
  const std::string given =
      "--policy mine/ --waits 1,2 --param most=4 --param word=a,b --kin-by-pace --pool slots=4,max=2 --pool slots=8";
  app.parse(given);
  CHECK(asked.params == std::vector<std::string>{"most=4", "word=a,b"});
  CHECK(command_line("schedctl", app) == "schedctl " + given);
}

}  // namespace
}  // namespace tidepool::ctl
