#include "tests/support/http_client.hpp"

#include <curl/curl.h>

#include <utility>

namespace tidepool::test {
namespace {

std::size_t collect(char* bytes, std::size_t size, std::size_t count, void* into) {
  static_cast<std::string*>(into)->append(bytes, size * count);
  return size * count;
}

}  // namespace

struct HttpClient::Session {
  CURL* curl = curl_easy_init();
  ~Session() { curl_easy_cleanup(curl); }
};

HttpClient::HttpClient(std::string url, std::string token)
    : session_(std::make_unique<Session>()), url_(std::move(url)), token_(std::move(token)) {}

HttpClient::~HttpClient() = default;

HttpReply HttpClient::send(const std::string& method, const std::string& path, const std::string& body,
                           std::vector<std::string> headers) {
  CURL* curl = session_->curl;
  HttpReply reply;
  headers.push_back("Authorization: Bearer " + token_);
  if (!body.empty()) headers.emplace_back("Content-Type: application/json");
  curl_slist* list = nullptr;
  for (const auto& header : headers) list = curl_slist_append(list, header.c_str());
  curl_easy_reset(curl);
  const std::string url = url_ + path;
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply.body);
  if (method != "GET") {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  }
  if (curl_easy_perform(curl) == CURLE_OK) {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    reply.status = static_cast<int>(status);
  }
  curl_slist_free_all(list);
  return reply;
}

}  // namespace tidepool::test
