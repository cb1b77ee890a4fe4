#include "schedulerd/live/http/headers/stream_format.hpp"

#include <catch2/catch.hpp>

namespace tidepool::live::http {
namespace {

TEST_CASE("the form of a stream is the one that is wanted more") {
  for (const char* lines : {"application/x-ndjson", "text/event-stream;q=0.5, application/x-ndjson",
                            "application/x-ndjson;q=0.9, text/event-stream; q=0.8", "application/x-ndjson, */*",
                            "Application/X-NDJSON ; charset=utf-8", "application/*, text/*;q=0.1"}) {
    INFO(lines);
    CHECK(wants_ndjson(lines));
  }
  for (const char* events :
       {"", "*/*", "text/event-stream", "text/event-stream, application/x-ndjson;q=0.1", "application/x-ndjson;q=0",
        "application/x-ndjson;q=0.3, */*", "application/json", "text/event-stream, application/x-ndjson",
        "application/x-ndjson-seq", "application/x-ndjson;q=many"}) {
    INFO(events);
    CHECK_FALSE(wants_ndjson(events));
  }
}

}  // namespace
}  // namespace tidepool::live::http
