#include "schedulerd/live/http/request_log.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "base/json.hpp"

namespace tidepool::live::http {
namespace {

constexpr std::size_t kPathMax = 200;

class AuditedChannel final : public Responder::Channel {
 public:
  AuditedChannel(Responder answers, std::string what) : answers_(std::move(answers)), what_(std::move(what)) {}

  void send(HttpResponse response) override {
    spdlog::info("event=request {} status={}{}", what_, response.status, response.about);
    answers_.send(std::move(response));
  }
  std::shared_ptr<StreamWriter> stream(HttpResponse head) override {
    spdlog::info("event=request {} status={}", what_, head.status);
    return answers_.stream(std::move(head));
  }

 private:
  Responder answers_;
  std::string what_;
};

}  // namespace

bool changes(const HttpRequest& request) {
  return request.method != "GET" && request.method != "HEAD" && request.method != "OPTIONS";
}

Responder audited(const Call& call) {
  const std::string path = canonical_json(call.request.path.substr(0, kPathMax));
  return Responder(std::make_shared<AuditedChannel>(
      call.responder, "request=" + call.request.request_id + " method=" + call.request.method + " path=" + path +
                          " token=" + call.caller.token_id + " peer=" + call.request.peer));
}

}  // namespace tidepool::live::http
