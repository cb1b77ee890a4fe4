// THE table of routes: method, path, least role, query parameters, handler, body. Nothing else
// lists routes; a test holds it against api/openapi.yaml, both ways.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedulerd/live/http/rest.hpp"

namespace tidepool::live::http {

enum class Access { kPublic, kViewer, kSubmitter, kAdmin };

enum class BodyKind {
  kNone,  // the path and the parameters say all, and a body with fields is refused
  kJson,
  kJobFile,  // JSON, or the YAML that people write
};

struct Route {
  std::string_view method;
  std::string_view path;  // "/v1/jobs/{id}/resize"
  Access access;
  bool whole_cluster;      // refused to tokens of one tenant
  std::string_view query;  // known parameters, "limit cursor"
  void (*handler)(Rest&, Call);
  BodyKind body = BodyKind::kNone;
};

[[nodiscard]] std::span<const Route> routes();

struct RouteMatch {
  const Route* route = nullptr;              // null = no route with this path, or not with this method
  std::string id;                            // {id}
  std::vector<std::string> allowed_methods;  // of this path; empty = the path is unknown
};
[[nodiscard]] RouteMatch match_route(std::string_view method, std::string_view path);

}  // namespace tidepool::live::http
