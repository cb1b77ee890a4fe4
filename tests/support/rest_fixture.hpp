// A whole REST server on a free loopback port, over a real engine. Every answer that a test gets
// through call() is held against api/openapi.yaml first.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "schedulerd/live/http/rest.hpp"
#include "tests/support/engine_service.hpp"
#include "tests/support/raw_http.hpp"

namespace tidepool::test {

struct Ask {
  std::string method = "GET";
  std::string path;  // with its query
  std::string token;
  std::string body;                       // empty = none
  std::string headers;                    // further ones, each ended by CR LF
  std::string type = "application/json";  // of the body
};

// Short periods, so that tests of deadlines do not wait for real ones.
[[nodiscard]] live::http::RestOptions test_options();

class RestFixture {
 public:
  explicit RestFixture(live::http::RestOptions options = test_options(),
                       const std::string& policy = "autoscaling_engine");
  ~RestFixture();
  RestFixture(const RestFixture&) = delete;
  RestFixture& operator=(const RestFixture&) = delete;

  RawResponse call(const Ask& ask) const;
  // The body of a call that must succeed with this status.
  nlohmann::json json_of(const Ask& ask, int status = 200) const;
  // The bytes of a request without a body.
  [[nodiscard]] std::string request(const Ask& ask) const;
  // Submits a small job and gives its id.
  JobId submit(const std::string& tenant = "default", int max = 4) const;

  EngineService service;
  std::string admin = service.add_token("admin");
  std::shared_ptr<live::http::Rest> rest;
  std::string url;
  std::string host;
  int port = 0;
};

}  // namespace tidepool::test
