#include "schedulerd/live/agents/log_requests.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace tidepool::live {
namespace {

struct Readers {
  LogRequests requests;
  std::vector<std::string> heard;  // pages, and why there is none

  std::uint64_t ask(NodeId node) {
    return requests.add(
        node, [this](const Result<LogPage>& page) { heard.push_back(page.ok() ? page->data : page.error().message); });
  }
};

}  // namespace

TEST_CASE("a log request is answered once, and by the agent of its own node alone") {
  Readers readers;
  const std::uint64_t first = readers.ask(NodeId(1));
  const std::uint64_t second = readers.ask(NodeId(2));
  CHECK(first != second);

  readers.requests.answer(NodeId(2), {.request = first, .data = "of another node"});
  CHECK(readers.heard.empty());
  readers.requests.answer(NodeId(1), {.request = first, .data = "a line"});
  readers.requests.answer(NodeId(1), {.request = first, .data = "the same once more"});
  CHECK(readers.heard == std::vector<std::string>{"a line"});
}

TEST_CASE("a log request ends with its node's link, and else after ten heartbeats") {
  Readers readers;
  readers.ask(NodeId(1));
  readers.ask(NodeId(2));
  const std::string why = "the worker's node does not answer; try again later";
  const auto second_is_here = [](NodeId node) { return node == NodeId(2); };
  readers.requests.tick(second_is_here);
  CHECK(readers.heard == std::vector{why});
  for (std::int64_t beat = 1; beat < kLogTicksMax; ++beat) readers.requests.tick(second_is_here);
  CHECK(readers.heard.size() == 1);
  readers.requests.tick(second_is_here);
  CHECK(readers.heard == std::vector{why, why});
}

TEST_CASE("with the end of the daemon every log request is answered") {
  Readers readers;
  readers.ask(NodeId(1));
  readers.ask(NodeId(2));
  readers.requests.give_up("the daemon is stopping");
  CHECK(readers.heard == std::vector<std::string>(2, "the daemon is stopping"));
  readers.requests.give_up("the daemon is stopping");
  CHECK(readers.heard.size() == 2);
}

}  // namespace tidepool::live
