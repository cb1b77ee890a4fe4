// Any bytes at all: the head is refused with words, or it has exactly one meaning.
#include <cstdint>
#include <string_view>

#include "base/check.hpp"
#include "schedulerd/live/http/server/request_validator.hpp"

using namespace tidepool::live::http;

namespace {

void check_refusal(const Refusal& refusal) {
  TP_CHECK(refusal.status >= 400 && refusal.status < 500, "a refusal is the client's fault");
  TP_CHECK(!refusal.code.empty() && !refusal.message.empty(), "a refusal says what is wrong");
}

void check_head_meaning(const RequestHead& head, std::string_view bytes, const HttpLimits& limits) {
  TP_CHECK(head.headers.size() <= limits.headers, "headers are counted");
  TP_CHECK(!(head.chunked && head.content_length), "a body has one framing");
  TP_CHECK(bytes.find('\0') == std::string_view::npos, "no NUL passes");
  TP_CHECK(!head.target.empty() && head.target.front() == '/', "a target is a path");
  int hosts = 0;
  for (const auto& [name, value] : head.headers) {
    hosts += name == "host" ? 1 : 0;
    TP_CHECK(value.find('\n') == std::string::npos && value.find('\r') == std::string::npos, "a value is one line");
    if (name == "transfer-encoding") TP_CHECK(head.chunked, "the only encoding is chunked");
  }
  TP_CHECK(hosts == 1, "a request has one Host");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const HttpLimits limits;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto scanned = scan_head(bytes, limits);
  if (const auto* refusal = std::get_if<Refusal>(&scanned)) {
    check_refusal(*refusal);
    return 0;
  }
  const auto head_size = std::get<std::size_t>(scanned);
  if (head_size == 0) return 0;
  TP_CHECK(head_size <= limits.head_bytes && head_size <= size, "a head lies within its limit");
  const auto read = read_head(bytes.substr(0, head_size), limits);
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    check_refusal(*refusal);
    return 0;
  }
  const auto& head = std::get<RequestHead>(read);
  check_head_meaning(head, bytes.substr(0, head_size), limits);
  if (const auto refusal = check_head(head, {"localhost:7480"}, limits)) check_refusal(*refusal);
  const auto target = read_target(head.target);
  if (const auto* refusal = std::get_if<Refusal>(&target)) {
    check_refusal(*refusal);
  } else {
    const auto& path = std::get<RequestTarget>(target).path;
    TP_CHECK(path.starts_with('/') && path.find("/../") == std::string::npos, "a path stays below its root");
  }
  return 0;
}
