// Any bytes on the links between daemon, agents and workers: an error in words, or a message that
// encodes to a line which decodes to the same line again.
#include <cstdint>
#include <string>
#include <string_view>

#include "api/worker_protocol.hpp"
#include "base/check.hpp"

using namespace tidepool;

namespace {

template <class Decode>
void check_line(std::string_view line, Decode decode) {
  const auto message = decode(line);
  if (!message) {
    TP_CHECK(!message.error().message.empty(), "a refusal says what is wrong");
    return;
  }
  const std::string once = api::encode(message.value());
  TP_CHECK(once.ends_with('\n'), "a message is one line");
  const auto again = decode(std::string_view(once).substr(0, once.size() - 1));
  TP_CHECK(again.ok(), "what was encoded is decoded");
  TP_CHECK(api::encode(again.value()) == once, "a message survives its encoding");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  api::LineBuffer buffer;
  std::string line;
  // In pieces of different sizes, as a socket gives them.
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (std::size_t piece = 1; !rest.empty(); piece = piece * 2 + 1) {
    if (!buffer.append(rest.substr(0, piece)).ok()) return 0;
    rest.remove_prefix(std::min(rest.size(), piece));
    while (buffer.next(line)) {
      check_line(line, api::decode_agent_to_daemon);
      check_line(line, api::decode_daemon_to_agent);
      check_line(line, api::decode_worker_to_agent);
      check_line(line, api::decode_to_worker);
    }
  }
  return 0;
}
