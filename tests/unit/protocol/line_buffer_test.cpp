#include <catch2/catch.hpp>

#include "api/worker_protocol.hpp"

namespace tidepool::api {

TEST_CASE("lines come out whole and in order however the bytes arrive") {
  const std::string stream = "one\n\nthree\nrest";
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    LineBuffer buffer;
    std::vector<std::string> lines;
    std::string line;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      REQUIRE(buffer.append(std::string_view(stream).substr(at, piece)).ok());
      while (buffer.next(line)) lines.push_back(line);
    }
    CAPTURE(piece);
    CHECK(lines == std::vector<std::string>{"one", "", "three"});
    REQUIRE(buffer.append("\n").ok());
    REQUIRE(buffer.next(line));
    CHECK(line == "rest");
    CHECK_FALSE(buffer.next(line));
  }
}

TEST_CASE("a line of exactly the limit passes and one byte more is refused, with or without its end") {
  const std::string longest(kLineBytesMax, 'x');
  std::string line;
  LineBuffer fits;
  REQUIRE(fits.append(longest + "\n").ok());
  REQUIRE(fits.next(line));
  CHECK(line == longest);

  LineBuffer of_worker(kWorkerLineBytesMax);
  CHECK_FALSE(of_worker.append(std::string(kWorkerLineBytesMax + 1, 'x')).ok());

  LineBuffer unfinished;
  CHECK_FALSE(unfinished.append(longest + "x").ok());

  LineBuffer dribbled;
  REQUIRE(dribbled.append(longest).ok());
  const auto status = dribbled.append("x\nshort\n");
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == ErrorCode::kLimitExceeded);
}

}  // namespace tidepool::api
