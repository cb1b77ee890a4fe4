#include "schedulerd/live/http/server/request_validator.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/number_text.hpp"
#include "schedulerd/live/http/headers/trimmed.hpp"

namespace tidepool::live::http {
namespace {

Refusal bad_request(std::string code, std::string message) {
  return {400, std::move(code), std::move(message)};
}

// RFC 9110 section 5.6.2.
bool is_token_char(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower_case(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(), lower);
  return lowered;
}

bool is_known_method(std::string_view method) {
  static constexpr std::array<std::string_view, 7> kKnown = {"GET",   "HEAD",   "POST",   "PUT",
                                                             "PATCH", "DELETE", "OPTIONS"};
  return std::find(kKnown.begin(), kKnown.end(), method) != kKnown.end();
}

std::optional<Refusal> read_request_line(std::string_view line, RequestHead& head) {
  const auto first_blank = line.find(' ');
  const auto second_blank = first_blank == std::string_view::npos ? first_blank : line.find(' ', first_blank + 1);
  if (second_blank == std::string_view::npos || line.find(' ', second_blank + 1) != std::string_view::npos) {
    return bad_request("BadRequestLine", "the request line must be METHOD, one blank, TARGET, one blank, HTTP/1.1");
  }
  head.method = line.substr(0, first_blank);
  head.target = line.substr(first_blank + 1, second_blank - first_blank - 1);
  const auto version = line.substr(second_blank + 1);
  if (!is_known_method(head.method)) {
    return bad_request("UnknownMethod", "the method is none of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  }
  if (head.target.empty() || head.target.front() != '/') {
    return bad_request("BadTarget", "the request target must be a path that begins with /, without scheme or host");
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return bad_request("BadVersion", "the version must be HTTP/1.1 or HTTP/1.0");
  }
  head.version = version == "HTTP/1.1" ? 11 : 10;
  return std::nullopt;
}

std::optional<Refusal> read_header_line(std::string_view line, RequestHead& head) {
  if (line.front() == ' ' || line.front() == '\t') {
    return bad_request("FoldedHeader", "a header continues on a second line; write it on one line");
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return bad_request("BadHeader", "a header must be a name, a colon right behind it, and a value");
  }
  head.headers.emplace_back(lower_case(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
  return std::nullopt;
}

std::size_t count_of(const RequestHead& head, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(head.headers.begin(), head.headers.end(), [&](const auto& h) { return h.first == name; }));
}

std::optional<Refusal> read_content_length(RequestHead& head) {
  if (count_of(head, "content-length") != 1) {
    return bad_request("BadContentLength", "Content-Length must be given once");
  }
  head.content_length = parse_number<std::uint64_t>(head.first("content-length"));
  if (head.content_length) return std::nullopt;
  return bad_request("BadContentLength", "Content-Length must be one number of decimal digits");
}

// RFC 9112 section 6: one framing, said once.
std::optional<Refusal> read_framing(RequestHead& head) {
  const auto encodings = count_of(head, "transfer-encoding");
  const auto lengths = count_of(head, "content-length");
  if (encodings > 0 && lengths > 0) {
    return bad_request("AmbiguousLength", "Content-Length and Transfer-Encoding cannot be given together");
  }
  if (encodings > 0) {
    if (head.version == 10) return bad_request("BadTransferEncoding", "HTTP/1.0 knows no Transfer-Encoding");
    if (encodings > 1 || lower_case(head.first("transfer-encoding")) != "chunked") {
      return bad_request("BadTransferEncoding", "Transfer-Encoding must be given once and be exactly chunked");
    }
    head.chunked = true;
  }
  return lengths > 0 ? read_content_length(head) : std::nullopt;
}

// Of loopback, whatever the port is: it may have been forwarded. A name that was bound to 127.0.0.1 by its owner (DNS
// rebinding) is none of these.
bool is_loopback_host(std::string_view host) {
  for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (!host.starts_with(name)) continue;
    const std::string_view rest = host.substr(name.size());
    const bool is_port = rest.size() > 1 && rest.size() <= 6 && rest.front() == ':' &&
                         std::all_of(rest.begin() + 1, rest.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (rest.empty() || is_port) return true;
  }
  return false;
}

Refusal unknown_host(const std::vector<std::string>& hosts) {
  std::string names;
  std::set<std::string> named;
  for (const std::string& host : hosts) {
    if (!is_loopback_host(host) && named.insert(host).second) names += host + ", ";
  }
  return {
      421, "UnknownHost",
      "this server answers for " + names +
          "127.0.0.1, localhost and [::1] only, for the last three with any port; call it by one of these, or have "
          "its operator " +
          "start it with the name: --allowed-host NAME (allowed_hosts: [NAME] in its configuration) for one under " +
          "which a reverse proxy answers, tls: {names: [NAME]} for one of its own certificate"};
}

std::optional<Refusal> check_origin(const RequestHead& head, std::vector<std::string> hosts) {
  hosts.push_back(lower_case(head.first("host")));  // a page of this server itself
  const auto origins = count_of(head, "origin");
  if (origins == 0) return std::nullopt;
  const std::string origin = lower_case(head.first("origin"));
  // By either scheme: TLS may end here, or at a proxy that was told of with its name.
  const bool ours = origins == 1 && std::any_of(hosts.begin(), hosts.end(), [&](const std::string& host) {
                      return origin == "http://" + host || origin == "https://" + host;
                    });
  if (ours) return std::nullopt;
  return Refusal{403, "ForeignOrigin", "pages of other sites may not call this API"};
}

std::optional<Refusal> check_body(const RequestHead& head, const HttpLimits& limits) {
  if (head.content_length.value_or(0) > limits.body_bytes) {
    return Refusal{413, "BodyTooLarge", "the body is larger than " + std::to_string(limits.body_bytes) + " bytes"};
  }
  const auto expectation = head.first("expect");
  if (!expectation.empty() && lower_case(expectation) != "100-continue") {
    return Refusal{417, "UnknownExpectation", "the only expectation known is 100-continue"};
  }
  if (!head.has_body()) return std::nullopt;
  const auto encoding = head.first("content-encoding");
  if (!encoding.empty() && lower_case(encoding) != "identity") {
    return Refusal{415, "EncodedBody",
                   "the body has a Content-Encoding, which is not taken; send it as it is, without one"};
  }
  const std::string type = media_type(head.first("content-type"));
  const bool is_patch = head.method == "PATCH" && type == "application/merge-patch+json";
  if (type == "application/json" || type == kYamlType || is_patch) return std::nullopt;
  return Refusal{
      415, "NotJson",
      "send the body as JSON with Content-Type: application/json, a job file as that or as application/yaml"};
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = lower(c);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// Undoes %41; false on a broken escape or on a character that no name here holds.
bool decode(std::string_view text, bool plus_is_blank, std::string& decoded) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return false;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return false;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_blank) {
      c = ' ';
    }
    if (is_control(c) || c == '\t') return false;
    decoded += c;
  }
  return true;
}

bool has_dot_segment(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const auto segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") return true;
    path.remove_prefix(segment.size());
  }
  return false;
}

std::optional<Refusal> read_query(std::string_view text, std::map<std::string, std::string>& query) {
  while (!text.empty()) {
    const auto pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const auto equals = pair.find('=');
    std::string name;
    std::string value;
    const bool decoded = decode(pair.substr(0, equals), true, name) &&
                         (equals == std::string_view::npos || decode(pair.substr(equals + 1), true, value));
    if (!decoded || name.empty()) {
      return bad_request("BadQuery", "the query must be name=value pairs joined by &, with % escapes");
    }
    if (!query.emplace(name, value).second) {
      return bad_request("RepeatedParameter", "the query parameter " + name + " is given twice");
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view RequestHead::first(std::string_view name) const {
  for (const auto& [header, value] : headers) {
    if (header == name) return value;
  }
  return {};
}

std::variant<std::size_t, Refusal> scan_head(std::string_view bytes, const HttpLimits& limits) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i >= limits.head_bytes) {
      return Refusal{431, "HeadTooLarge",
                     "the request line and headers exceed " + std::to_string(limits.head_bytes) + " bytes"};
    }
    const char c = bytes[i];
    if (c == '\n') {
      if (i == 0 || bytes[i - 1] != '\r') return bad_request("BareLineFeed", "lines must end in CR LF");
      if (i >= 3 && bytes.substr(i - 3, 4) == "\r\n\r\n") return i + 1;
    } else if (i > 0 && bytes[i - 1] == '\r') {
      return bad_request("BareCarriageReturn", "lines must end in CR LF");
    } else if (is_control(c) && c != '\r') {
      return bad_request("ControlByte", "the head holds a control byte; this port speaks plain HTTP/1.1");
    } else if (i == 0 && !is_token_char(c)) {
      return bad_request("BadRequestLine", "a request begins with its method");
    }
  }
  return std::size_t{0};
}

std::variant<RequestHead, Refusal> read_head(std::string_view bytes, const HttpLimits& limits) {
  RequestHead head;
  auto line_end = bytes.find("\r\n");
  if (line_end == std::string_view::npos) return bad_request("BadRequestLine", "the head has no line");
  if (auto refusal = read_request_line(bytes.substr(0, line_end), head)) return *refusal;
  bytes.remove_prefix(line_end + 2);
  while (!bytes.starts_with("\r\n")) {
    line_end = bytes.find("\r\n");
    if (line_end == std::string_view::npos) return bad_request("BadHeader", "the head does not end in an empty line");
    if (head.headers.size() == limits.headers) {
      return Refusal{431, "TooManyHeaders", "more than " + std::to_string(limits.headers) + " headers"};
    }
    if (auto refusal = read_header_line(bytes.substr(0, line_end), head)) return *refusal;
    bytes.remove_prefix(line_end + 2);
  }
  if (count_of(head, "host") != 1) return bad_request("BadHost", "exactly one Host header is needed");
  if (auto refusal = read_framing(head)) return *refusal;
  return head;
}

std::string media_type(std::string_view content_type) {
  return lower_case(trimmed(content_type.substr(0, content_type.find(';'))));
}

std::optional<Refusal> check_head(const RequestHead& head, const std::vector<std::string>& hosts,
                                  const HttpLimits& limits) {
  const std::string host = lower_case(head.first("host"));
  if (std::find(hosts.begin(), hosts.end(), host) == hosts.end() && !is_loopback_host(host)) return unknown_host(hosts);
  if (auto refusal = check_origin(head, hosts)) return refusal;
  return check_body(head, limits);
}

std::variant<RequestTarget, Refusal> read_target(std::string_view target) {
  RequestTarget read;
  const auto question = target.find('?');
  const auto path = target.substr(0, question);
  const bool has_encoded_slash = lower_case(path).find("%2f") != std::string::npos;
  const bool decoded = decode(path, false, read.path);
  if (!decoded || !read.path.starts_with('/') || has_encoded_slash || path.find('#') != std::string_view::npos ||
      has_dot_segment(read.path)) {
    return bad_request("BadPath", "the path has a broken escape, a control character, or a . or .. segment");
  }
  if (question != std::string_view::npos) {
    if (auto refusal = read_query(target.substr(question + 1), read.query)) return *refusal;
  }
  return read;
}

}  // namespace tidepool::live::http
