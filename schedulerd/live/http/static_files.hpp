// The dashboard's files, embedded in the program. Public: they hold no data; what the page shows it
// fetches with the caller's token.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schedulerd/live/http/server/http_message.hpp"

namespace tidepool::live::http {

struct StaticFile {
  std::string path;          // "/assets/index-1a2b.js"; "/index.html" also answers "/"
  std::string content_type;  // "text/html; charset=utf-8"
  std::string_view bytes;    // lives as long as the program
  std::string etag;          // with its quotes
};

// The response for GET `path`: a file, or for any other path without an extension the dashboard's
// page (its router works in the browser). Status 404 without body if there is no such file.
[[nodiscard]] HttpResponse serve_static(const std::vector<StaticFile>& files, const HttpRequest& request);

}  // namespace tidepool::live::http
