#include "base/process_end.hpp"

#include <catch2/catch.hpp>

namespace tidepool {
namespace {

TEST_CASE("the end of a process is unknown where it has neither code nor signal") {
  CHECK(is_end_unknown(-1, 0));
  CHECK_FALSE(is_end_unknown(0, 0));
  CHECK_FALSE(is_end_unknown(1, 0));
  CHECK_FALSE(is_end_unknown(-1, 9));
}

}  // namespace
}  // namespace tidepool
