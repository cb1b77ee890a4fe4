#include "schedctl/node_named.hpp"

#include <catch2/catch.hpp>
#include <utility>

#include <nlohmann/json.hpp>

#include "schedctl/failure.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

TEST_CASE("a node is found by its id and by its name") {
  const json nodes = {{{"id", "node-1"}, {"name", "gpu-a"}}, {{"id", "node-2"}, {"name", "node-2"}}};
  CHECK(node_named(nodes, "node-1") == "node-1");
  CHECK(node_named(nodes, "gpu-a") == "node-1");
  CHECK(node_named(nodes, "node-2") == "node-2");  // its own name
  CHECK(node_named(nodes, "gpu-b").empty());
}

TEST_CASE("what is one node's id and another's name is refused, with what to say for each") {
  json nodes = {{{"id", "node-1"}, {"name", "gpu-a"}}, {{"id", "node-2"}, {"name", "node-1"}}};
  for (int order = 0; order < 2; ++order) {
    try {
      (void)node_named(nodes, "node-1");
      FAIL("it took one of the two");
    } catch (const Failure& failure) {
      CHECK(failure.exit_code == kExitUsage);
      CHECK(failure.message ==
            "node-1 is the id of the node gpu-a and the name of the node node-2; say gpu-a for the first, node-2 for "
            "the second");
    }
    std::swap(nodes[0], nodes[1]);
  }
}

}  // namespace
}  // namespace tidepool::ctl
