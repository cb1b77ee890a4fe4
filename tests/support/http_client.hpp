// A plain HTTP client for tests of the running daemon: libcurl, one request at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tidepool::test {

struct HttpReply {
  int status = 0;  // 0 = no answer
  std::string body;
  // The body as JSON; throws if it is none.
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body); }
};

class HttpClient {
 public:
  HttpClient(std::string url, std::string token);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  [[nodiscard]] HttpReply get(const std::string& path) { return send("GET", path, "", {}); }
  [[nodiscard]] HttpReply post(const std::string& path, const nlohmann::json& body,
                               std::vector<std::string> headers = {}) {
    return send("POST", path, body.dump(), std::move(headers));
  }
  [[nodiscard]] HttpReply send(const std::string& method, const std::string& path, const std::string& body,
                               std::vector<std::string> headers);

 private:
  struct Session;
  std::unique_ptr<Session> session_;
  std::string url_;
  std::string token_;
};

}  // namespace tidepool::test
