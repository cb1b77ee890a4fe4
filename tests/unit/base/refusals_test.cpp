#include "base/refusals.hpp"

#include <catch2/catch.hpp>

namespace tidepool {

TEST_CASE("what is wrong is told together, each once, with the code of the first") {
  Refusals refusals;
  refusals.add(ok_status());
  CHECK(refusals.status().ok());
  refusals.add(conflict("a is too large"));
  CHECK(refusals.status().error().message == "a is too large");
  refusals.add(invalid_argument("b is too small"));
  refusals.add(conflict("a is too large"));
  CHECK(refusals.status().error().message == "a is too large; also b is too small");
  CHECK(refusals.status().error().code == ErrorCode::kConflict);
}

TEST_CASE("of very many things that are wrong the first are told, and the number of the others") {
  Refusals refusals;
  for (int i = 1; i <= 15; ++i) refusals.add(invalid_argument("no " + std::to_string(i)));
  const std::string message = refusals.status().error().message;
  CHECK(message.ends_with("; also no 12; and 3 more"));
}

}  // namespace tidepool
