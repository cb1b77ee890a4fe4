#include "schedulerd/live/http/static_files.hpp"

#include <catch2/catch.hpp>

namespace tidepool::live::http {
namespace {

const std::vector<StaticFile> kFiles = {
    {"/index.html", "text/html; charset=utf-8", "<html>", "\"1\""},
    {"/assets/app-0f.js", "text/javascript", "run()", "\"2\""},
};

HttpRequest request_for(std::string path) {
  HttpRequest request;
  request.method = "GET";
  request.path = std::move(path);
  return request;
}

std::string header_of(const HttpResponse& response, const std::string& name) {
  for (const auto& [header, value] : response.headers) {
    if (header == name) return value;
  }
  return {};
}

TEST_CASE("the dashboard's page answers for every path of its own router, files for theirs") {
  CHECK(serve_static(kFiles, request_for("/")).body == "<html>");
  CHECK(serve_static(kFiles, request_for("/jobs/job-1")).body == "<html>");
  CHECK(serve_static(kFiles, request_for("/assets/app-0f.js")).body == "run()");
  CHECK(serve_static(kFiles, request_for("/assets/gone.js")).status == 404);
}

TEST_CASE("pages are asked for again, files with a hash in their name are not") {
  const auto page = serve_static(kFiles, request_for("/"));
  CHECK(header_of(page, "Cache-Control") == "no-cache");
  CHECK(header_of(serve_static(kFiles, request_for("/assets/app-0f.js")), "Cache-Control").find("immutable") !=
        std::string::npos);
  auto again = request_for("/");
  again.headers["if-none-match"] = "\"1\"";
  CHECK(serve_static(kFiles, again).status == 304);
  CHECK(serve_static(kFiles, again).body.empty());
}

TEST_CASE("the page runs what this server's files hold and nothing that was put into it") {
  const std::string policy = header_of(serve_static(kFiles, request_for("/")), "Content-Security-Policy");
  CHECK(policy.starts_with("default-src 'none'; "));
  for (const char* wide : {"unsafe", "data:", "*", "http"}) CHECK(policy.find(wide) == std::string::npos);
}

TEST_CASE("a program without the dashboard says so") {
  const auto response = serve_static({}, request_for("/"));
  CHECK(response.status == 200);
  CHECK(response.body.find("built without the dashboard") != std::string::npos);
  CHECK(serve_static({}, request_for("/favicon.ico")).status == 404);
}

}  // namespace
}  // namespace tidepool::live::http
