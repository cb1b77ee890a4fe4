#include "schedulerd/live/http/static_files.hpp"

#include <algorithm>

#include "schedulerd/live/http/conditions.hpp"

namespace tidepool::live::http {
namespace {

constexpr const char* kNotBuilt =
    "<!doctype html><meta charset=utf-8><title>Tidepool</title><p>The daemon runs, but this program was built without "
    "the dashboard. Build it with Node.js installed, or use <code>schedctl</code>.\n";

// Scripts, styles and data from files of this server only, as the browser tests run the page; the fragment with the
// token never leaves it.
constexpr const char* kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

HttpResponse file_response(const StaticFile& file, const HttpRequest& request) {
  const bool immutable = file.path.starts_with("/assets/");  // their names hold a hash of their content
  HttpResponse response;
  response.headers = {{"Content-Type", file.content_type},
                      {"ETag", file.etag},
                      {"Cache-Control", immutable ? "public, max-age=31536000, immutable" : "no-cache"},
                      {"Content-Security-Policy", kContentPolicy},
                      {"Referrer-Policy", "no-referrer"},
                      {"X-Content-Type-Options", "nosniff"}};
  if (has_already(request, file.etag)) {
    response.status = 304;
  } else {
    response.body = file.bytes;
  }
  return response;
}

}  // namespace

HttpResponse serve_static(const std::vector<StaticFile>& files, const HttpRequest& request) {
  const auto find = [&](std::string_view path) {
    return std::find_if(files.begin(), files.end(), [&](const StaticFile& file) { return file.path == path; });
  };
  auto file = find(request.path);
  const bool page = request.path == "/" || request.path.find('.') == std::string::npos;
  if (file == files.end() && page) file = find("/index.html");
  if (file != files.end()) return file_response(*file, request);
  if (files.empty() && page) {
    return {.status = 200, .headers = {{"Content-Type", "text/html; charset=utf-8"}}, .body = kNotBuilt};
  }
  return {.status = 404, .headers = {}, .body = {}};
}

}  // namespace tidepool::live::http
