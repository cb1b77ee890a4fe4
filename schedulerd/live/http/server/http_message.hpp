// Requests and responses as the handlers see them: plain values, already checked. No Beast here.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidepool::live::http {

// Headers of which several make one list (RFC 9110, section 5.3), as far as they are read here.
[[nodiscard]] inline bool is_list_header(std::string_view name) {
  return name == "accept" || name == "if-match" || name == "if-none-match";
}

struct HttpRequest {
  std::string method;                          // "GET"
  std::string path;                            // decoded, begins with '/', no "." or ".." segment
  std::string target;                          // path and query as sent
  std::map<std::string, std::string> query;    // decoded; a repeated name has been refused
  std::map<std::string, std::string> headers;  // lower-case names, first value; of lists all of them
  std::string body;
  std::string peer;        // address without the port
  std::string request_id;  // "req-12", unique for the life of the process

  // The header's value, or an empty text.
  [[nodiscard]] std::string_view header(std::string_view name) const {
    const auto found = headers.find(std::string(name));
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
  }
};

struct HttpResponse {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;  // Content-Length and framing are the server's
  std::string body;
  std::string about = {};  // for the log alone: what the body is about, from about_of()
};

}  // namespace tidepool::live::http
