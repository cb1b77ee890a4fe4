// Random messages of every kind are written as a JSON tree would have them and survive the wire, and no damaged line
// does more than be refused.
#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <string_view>

#include "api/worker_protocol.hpp"
#include "tests/support/drawn_messages.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::api {
namespace {

// The text of a message is canonical, so equal lines mean equal messages.
template <class Message>
void check_written_and_read(const Message& message, Result<Message> (*decode)(std::string_view)) {
  const std::string line = encode(message);
  CAPTURE(line);
  CHECK(line == codec::encode(message).dump() + "\n");
  CHECK(line.find('\n') == line.size() - 1);
  const auto back = decode(line);
  REQUIRE(back.ok());
  CHECK(back->index() == message.index());
  CHECK(encode(*back) == line);
}

// Each has a type of its own on its link, by which it is read.
template <class Link>
void check_each_kind(Rng& rng, Result<Link> (*decode)(std::string_view)) {
  std::set<std::string> types;
  test::draw_each_kind<Link>(rng, [&](const Link& message) {
    check_written_and_read(message, decode);
    types.insert(codec::encode(message).at("type").template get<std::string>());
  });
  CHECK(types.size() == codec::kinds_of<Link>().size());
}

std::string damaged(std::string line, Rng& rng) {
  for (std::uint64_t edits = 1 + rng.below(4); edits > 0 && !line.empty(); --edits) {
    const std::size_t at = rng.below(line.size());
    switch (rng.below(5)) {
      case 0: line[at] = static_cast<char>(rng.below(256)); break;
      case 1: line.erase(at, 1 + rng.below(6)); break;
      case 2: line.insert(at, line.substr(rng.below(line.size()), rng.below(12))); break;
      case 3: line.resize(at); break;
      default: line.insert(at, 1, "{}[]\":,-e0.\n"[rng.below(12)]); break;
    }
  }
  return line;
}

// Whatever is accepted must be something that this side could have written itself.
template <class Message>
void check_accepted_is_sound(const Result<Message>& decoded) {
  if (!decoded.ok()) {
    CHECK_FALSE(decoded.error().message.empty());
    return;
  }
  CHECK(encode(*decoded).size() > 2);
}

}  // namespace

TEST_CASE("every kind of message is written as its JSON tree is, and survives the wire") {
  test::for_each_seed("messages", 40, [](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 10; ++i) {
      check_each_kind(rng, decode_agent_to_daemon);
      check_each_kind(rng, decode_daemon_to_agent);
      check_each_kind(rng, decode_worker_to_agent);
      check_each_kind(rng, decode_to_worker);
    }
  });
}

TEST_CASE("a damaged line is refused in words or read as a whole message, never worse") {
  test::for_each_seed("damage", 40, [](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 25; ++i) {
      const std::string lines[] = {encode(test::drawn<AgentToDaemon>(rng)), encode(test::drawn<DaemonToAgent>(rng)),
                                   encode(test::drawn<ToWorker>(rng)), encode(test::drawn<WorkerToAgent>(rng))};
      for (const auto& line : lines) {
        const std::string bad = damaged(line, rng);
        check_accepted_is_sound(decode_agent_to_daemon(bad));
        check_accepted_is_sound(decode_daemon_to_agent(bad));
        check_accepted_is_sound(decode_to_worker(bad));
        check_accepted_is_sound(decode_worker_to_agent(bad));
      }
    }
  });
}

}  // namespace tidepool::api
