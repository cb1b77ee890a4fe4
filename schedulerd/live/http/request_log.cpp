#include "schedulerd/live/http/request_log.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "base/json.hpp"

namespace tidepool::live::http {
namespace {

constexpr std::size_t kAnswerMax = 65'536;  // a longer one is a list, and names no single thing
constexpr std::size_t kPathMax = 200;

// What the answer is about, or the code of the refusal; never more of it: an answer may hold a secret.
std::string outcome_of(const HttpResponse& response) {
  std::string text = std::to_string(response.status);
  if (response.body.size() > kAnswerMax) return text;
  const auto body = parse_json(response.body);
  if (!body.ok() || !body->is_object()) return text;
  for (const char* field : {"id", "name", "code"}) {
    const auto found = body->find(field);
    if (found != body->end() && found->is_string()) text += std::string(" ") + field + "=" + canonical_json(*found);
  }
  return text;
}

class AuditedChannel final : public Responder::Channel {
 public:
  AuditedChannel(Responder answers, std::string what) : answers_(std::move(answers)), what_(std::move(what)) {}

  void send(HttpResponse response) override {
    spdlog::info("event=request {} status={}", what_, outcome_of(response));
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
