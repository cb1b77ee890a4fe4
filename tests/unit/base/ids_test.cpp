#include <catch2/catch.hpp>

#include "base/ids.hpp"

using namespace tidepool;

TEST_CASE("An id prints as its prefix and number and reads back") {
  CHECK(JobId(17).text() == "job-17");
  CHECK(WorkerId::parse("w-3") == WorkerId(3));
  CHECK(DecisionId::parse(DecisionId(UINT64_MAX).text()) == DecisionId(UINT64_MAX));
}

TEST_CASE("Anything but the canonical form is no id") {
  for (const char* text : {"", "job", "job-", "job-0", "job-01", "job--1", "job-1x", "job- 1", "JOB-1", "w-1",
                           "job-99999999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(JobId::parse(text).has_value());
  }
}

TEST_CASE("No id is handed out as zero") {
  CHECK_FALSE(static_cast<bool>(JobId{}));
}
