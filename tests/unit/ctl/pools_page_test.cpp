#include "schedctl/nodes/pools_command.hpp"
#include "tests/unit/ctl/examples.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

const Style kLate{.width = 200, .now = "2026-11-20T22:00:00.000Z"};

TEST_CASE("a note says when a provider ends a node, or that it was to have ended it") {
  json pool = example("pool.json");
  json& node = pool["nodes"][1];
  node["ends_at"] = "2026-11-20T22:10:00.000Z";
  CHECK(pools_page(json::array({pool}), kLate).find("its provider ends it at 22:10:00 UTC\n") != std::string::npos);
  node["ends_at"] = "2026-11-20T21:50:00.000Z";
  const std::string late = pools_page(json::array({pool}), kLate);
  CHECK(late.find("its provider was to end it at 21:50:00 UTC\n") != std::string::npos);
  CHECK(late.find("ends it at") == std::string::npos);
}

TEST_CASE("what a provider has said in several lines is one sentence") {
  json pool = example("pool.json");
  pool["problem"]["detail"] = "no capacity\nask for another zone\n";
  const std::string text = pools_page(json::array({pool}), kLate);
  INFO(text);
  CHECK(text.find("no capacity ask for another zone; the next attempt is at") != std::string::npos);
}

TEST_CASE("a node that was not asked for is called as its provider calls it, and its note says so") {
  json pool = example("pool.json");
  json& node = pool["nodes"][0];
  node["name"] = "";
  node["state"] = "releasing";
  node["idle_since"] = nullptr;
  node["problem"] = pool["problem"];
  const std::string text = pools_page(json::array({pool}), kLate);
  INFO(text);
  CHECK(text.find("\ni-0a1b  gpu") != std::string::npos);
  CHECK(text.find("was not requested, so it is ended\n") != std::string::npos);
  CHECK(text.find("ending i-0a1b has failed") != std::string::npos);
}

TEST_CASE("where there is no node it is told what the pools do about it") {
  json pool = example("pool.json");
  pool["nodes"].erase(0);  // left: one that was asked for
  CHECK(no_nodes_page(json::array({pool}), kLate) ==
        "there are no nodes now\n"
        "the pool gpu: 1 node is coming; it may have 4\n"
        "creating a node of gpu has failed 2 times in a row, last at 21:53:20 UTC: quota: 16 instances of this kind at "
        "most; the next attempt is at 21:53:50 UTC\n"
        "see: schedctl pools; why a job waits: schedctl why JOB\n");
  pool["problem"] = nullptr;
  pool["nodes"][0]["state"] = "releasing";
  CHECK(
      no_nodes_page(json::array({pool}), kLate)
          .find("the pool gpu: no node is requested, 1 is being given back; it may have 4, and requests one when a job "
                "needs it\n") != std::string::npos);
  pool["nodes"] = json::array();
  pool["max"] = 0;
  CHECK(no_nodes_page(json::array({pool}), kLate)
            .find("the pool gpu: no node is requested; it may have none (max: 0)\n") != std::string::npos);
  pool["retired"] = true;
  for (const json& none : {json::array({pool}), json::array()}) {
    CHECK(no_nodes_page(none, kLate).find("--local-slots") != std::string::npos);
  }
}

}  // namespace
}  // namespace tidepool::ctl
