#include <catch2/catch.hpp>

#include "schedctl/failure.hpp"
#include "schedctl/study_commands.hpp"

namespace tidepool::ctl {

TEST_CASE("a schedctl without the simulator refuses sim as a usage error, whatever follows") {
  for (const std::vector<const char*>& line :
       {std::vector<const char*>{"schedctl", "sim"}, {"schedctl", "sim", "run", "--policy", "tidal"}}) {
    CHECK(run(static_cast<int>(line.size()), line.data(), add_study_commands) == kExitUsage);
  }
}

}  // namespace tidepool::ctl
