// The REST API as a whole: the server, authentication, the table of routes, what handlers share. Every
// handler runs on the I/O thread, reads the published picture, and hands commands to the loop; it
// answers a command only once the loop says that it is durable. An answer that takes long to write is
// written on a thread of its own (renders()), because all other requests wait for the I/O thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/engine.hpp"
#include "schedulerd/live/http/authenticator.hpp"
#include "schedulerd/live/http/event_streams.hpp"
#include "schedulerd/live/http/metrics.hpp"
#include "schedulerd/live/http/plan_places.hpp"
#include "schedulerd/live/http/server/http_server.hpp"
#include "schedulerd/live/http/server/open_streams.hpp"
#include "schedulerd/live/http/server/problem.hpp"
#include "schedulerd/live/http/static_files.hpp"
#include "schedulerd/live/http/tenant_view.hpp"
#include "schedulerd/live/policies/task_thread.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live::http {

struct PolicyInfo {
  std::string name;
  std::string kind = "builtin";
  std::string summary;
  std::string source;
  std::string scope = "job";  // "job": sizes one job at a time; "cluster": plans for all at once
};

struct RestOptions {
  HttpOptions http;
  std::string currency = "USD";
  std::vector<PolicyInfo> policies;
  std::vector<std::string> detectors;  // straggler detectors that a job may ask for
  // How machines join: by what they know this daemon now, and where. No fingerprint: they cannot.
  std::function<std::string()> join_fingerprint;
  std::function<std::uint16_t()> agents_port;            // 0 = agents of other machines cannot connect; empty = 0
  std::vector<StaticFile> dashboard;                     // empty = a page that says it was not built
  Duration heartbeat = Duration::seconds(15);            // of event streams
  Duration log_poll = Duration::millis(300);             // between two looks at a followed log
  std::size_t streams_per_token = 16;                    // event streams and followed logs
  std::function<std::int64_t()> unix_now;                // wall-clock seconds; empty = the system's
  std::function<std::optional<StateRoom>()> state_room;  // for /metrics; empty = not told
  // For /metrics: when the daemon's certificate and its authority end, in Unix time; empty = without TLS.
  std::function<std::map<std::string, std::int64_t>()> certificate_ends;
  // Of one request for usage: rows of its answer, and jobs that have ended which it looks through for them.
  std::size_t usage_rows_max = 100'000;
  std::size_t usage_jobs_max = 1'000'000;
};

// One request on its way through a handler.
struct Call {
  HttpRequest request;
  Responder responder;
  Caller caller;
  std::string id;                                            // {id} of the path, if the route has one
  std::shared_ptr<const Published> seen;                     // the picture at arrival
  std::optional<leader::JobVersion> only_of = std::nullopt;  // that If-Match binds its command to
  std::optional<Problem> unless_repeated = std::nullopt;     // why it is refused if it is no repetition

  void reply(HttpResponse response) const { responder.send(std::move(response)); }
  void reply(int status, const nlohmann::json& body) const { responder.send(json_response(status, body)); }
  void fail(const Problem& problem) const {
    responder.send(problem_response(unless_repeated.value_or(problem), request.path, request.request_id));
  }
  // Fails and gives false; but what has an Idempotency-Key goes on, and fails only if it repeats no request that was
  // carried out.
  [[nodiscard]] bool fail_unless_repeated(Problem problem);
  // The decoded query parameter, or an empty text.
  [[nodiscard]] std::string query(const std::string& name) const {
    const auto found = request.query.find(name);
    return found == request.query.end() ? std::string() : found->second;
  }
};

class Rest : public std::enable_shared_from_this<Rest> {
 public:
  // `service` must outlive it.
  static std::shared_ptr<Rest> create(Service& service, RestOptions options);

  // Gives the base URL.
  [[nodiscard]] Result<std::string> start();
  void stop();

  [[nodiscard]] Service& service() { return service_; }
  [[nodiscard]] const RestOptions& options() const { return options_; }
  [[nodiscard]] Authenticator& authenticator() { return authenticator_; }
  [[nodiscard]] EventStreams& streams() { return streams_; }
  [[nodiscard]] Metrics& metrics() { return metrics_; }
  [[nodiscard]] IoScheduler& io() { return server_; }
  // Its tasks answer by what they hold themselves, and know nothing of this Rest.
  [[nodiscard]] TaskThread& renders() { return renders_; }

  // Leaves the answer open. Null: too many are, and the call was answered so.
  [[nodiscard]] std::shared_ptr<StreamWriter> open_stream(const Call& call, HttpResponse head);

  [[nodiscard]] PlanPlaces& plan_places() { return plan_places_; }

  // Puts a command in; `answer` makes the response on the I/O thread after the command is durable, from the
  // receipt and a picture that holds it. A refusal becomes a problem.
  using Answer = std::function<HttpResponse(const Receipt&, const Published&)>;
  // The problem of a refusal, from a picture that is as new; none = problem_of_change().
  using RefusalAnswer = std::function<Problem(const Error&, const Published&)>;
  void command(Call call, CommandBody body, Answer answer, RefusalAnswer refusal = nullptr);

  // Of the picture, or of the past; null: there is none.
  [[nodiscard]] std::shared_ptr<const core::Job> job(const Published& seen, JobId id) const;
  // Why the tree of tenants does not decide who has the slots; none: it does.
  [[nodiscard]] std::optional<std::string> why_not_shared(const Published& seen) const;
  // Both outlive it.
  [[nodiscard]] SeenBy seen_by(const Published& seen, const Caller& caller) const {
    return {seen, caller, service_.history(), service_.forecasts()};
  }
  [[nodiscard]] SeenBy seen_by(const Call& call) const { return seen_by(*call.seen, call.caller); }
  // The job if it exists and the caller may see it; else answers 404, the same for both, and gives null.
  [[nodiscard]] std::shared_ptr<const core::Job> find_job(const Call& call) const;

 private:
  Rest(Service& service, RestOptions options);
  void handle(HttpRequest request, Responder responder);
  void dispatch(HttpRequest request, const Responder& responder);
  void schedule_beat();
  [[nodiscard]] HttpOptions with_observer(HttpOptions options);

  Service& service_;
  RestOptions options_;
  Authenticator authenticator_;
  Metrics metrics_;
  EventStreams streams_;
  OpenStreams open_streams_;
  PlanPlaces plan_places_;
  HttpServer server_;
  std::shared_ptr<void> subscription_;
  TaskThread renders_;
};

}  // namespace tidepool::live::http
