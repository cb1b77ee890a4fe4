// Strict reading of a request's head, in front of the HTTP library: one request has one meaning, or
// it is refused. Pure functions over bytes. After any refusal the connection must close, because
// it is not known where the next request begins.
//
// Why our own: Beast 1.81 lets request-smuggling shapes pass (several Transfer-Encodings, lists of
// lengths, folded lines, two Hosts); tests/unit/http/request_validator_test.cpp holds the table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tidepool::live::http {

struct HttpLimits {
  std::size_t head_bytes = 8'192;  // request line and headers, with the empty line
  std::size_t headers = 64;
  std::size_t body_bytes = 1U << 20U;
  std::size_t chunk_extension_bytes = 256;  // over all chunks of one request
};

struct Refusal {
  int status = 400;
  std::string code;     // "BareLineFeed"
  std::string message;  // what is wrong and what would be right
  std::string hint = {};
};

struct RequestHead {
  std::string method;
  std::string target;
  int version = 11;                                          // 10 or 11
  std::vector<std::pair<std::string, std::string>> headers;  // lower-case names, trimmed values, in order
  std::optional<std::uint64_t> content_length;
  bool chunked = false;

  // The first value of a header, or an empty text.
  [[nodiscard]] std::string_view first(std::string_view name) const;
  [[nodiscard]] bool has_body() const { return chunked || content_length.value_or(0) > 0; }
};

// How much of `bytes` is a whole head: its size with the empty line; 0 = more must arrive.
// Refuses as early as the first bad byte.
[[nodiscard]] std::variant<std::size_t, Refusal> scan_head(std::string_view bytes, const HttpLimits& limits);

// Reads a whole head as found by scan_head().
[[nodiscard]] std::variant<RequestHead, Refusal> read_head(std::string_view head, const HttpLimits& limits);

// What a Content-Type header names, in lower case and without parameters: "application/json".
[[nodiscard]] std::string media_type(std::string_view content_type);
inline constexpr std::string_view kYamlType = "application/yaml";  // RFC 9512

// Rules beyond the grammar: Host is ours, Origin is absent or ours (no other site's page may drive a
// loopback daemon), bodies are JSON or YAML (no form of a browser sends either) and within the limit; which routes take
// YAML the table of routes says. `hosts` are lower-case "name:port".
[[nodiscard]] std::optional<Refusal> check_head(const RequestHead& head, const std::vector<std::string>& hosts,
                                                const HttpLimits& limits);

struct RequestTarget {
  std::string path;
  std::map<std::string, std::string> query;
};

// Splits and decodes an origin-form target ("/v1/jobs?limit=5").
[[nodiscard]] std::variant<RequestTarget, Refusal> read_target(std::string_view target);

}  // namespace tidepool::live::http
