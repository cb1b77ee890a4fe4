// Speaks HTTP to the daemon. Every failure to get an answer ends as a Failure with the exit code and a
// sentence that says what to do; an answer with an error status is returned like any other.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tidepool::ctl {

struct Endpoint {
  std::string url = "http://127.0.0.1:7480";  // scheme, host and port
  std::string token;                          // empty = none is sent
  std::string ca;                             // PEM, in the place of ca_file
  bool ca_of_login = false;                   // `schedctl login` has kept it
  std::string ca_file;                        // of an https:// daemon; empty = the system's authorities
  long timeout_s = 30;                        // of one request; streams have their own rule
};

struct HttpRequest {
  std::string method = "GET";
  std::string path;  // "/v1/jobs?limit=10", already escaped
  std::string body;  // JSON; empty = none
  std::vector<std::string> headers;
  std::string if_unanswered = {};  // of one that stores something: how to learn whether it did, and to repeat it
};

struct HttpReply {
  long status = 0;
  std::string body;
  std::map<std::string, std::string> headers;  // names in lower case
};

class HttpClient {
 public:
  explicit HttpClient(Endpoint endpoint);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Throws Failure: kExitNoDaemon when nothing answers, kExitTimeout after timeout_s.
  [[nodiscard]] HttpReply send(const HttpRequest& request);

  // Gives each line of a 200 answer, without its end, to `on_line` until that returns false or the stream
  // ends. A daemon that says nothing for a minute (it sends a heartbeat every 15 s) ends the stream too.
  // Any other status is returned with its body. Throws as send() does if no connection comes about.
  // `on_line` must not use this client: it is busy.
  // `limit_s` ends it as well (0 = never).
  HttpReply stream(const std::string& path, const std::function<bool(std::string_view)>& on_line, long limit_s = 0);

  // Of the certificates that an https:// daemon shows, as PEM, the first that `is_it` takes; empty if there is none.
  // Nothing is trusted here, and no token is sent. Throws as send() does.
  [[nodiscard]] std::string shown_certificate(const std::function<bool(const std::string& pem)>& is_it);

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

 private:
  struct Handle;  // libcurl's, so that its header stays in one place
  std::unique_ptr<Handle> handle_;
  Endpoint endpoint_;
  bool answered_ = false;  // at least once
};

// Whether the host is this machine by its own address, judged by the parser that will connect: a name that
// merely begins like one ("127.example.org", "localhost@example.org") is not.
[[nodiscard]] bool is_loopback_url(const std::string& url);

// Percent-encodes everything but RFC 3986's unreserved characters.
[[nodiscard]] std::string escape_url(std::string_view text);

}  // namespace tidepool::ctl
