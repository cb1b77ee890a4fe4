#include "schedulerd/live/http/rest.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <set>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/json.hpp"
#include "base/word_list.hpp"
#include "schedulerd/live/http/conditions.hpp"
#include "schedulerd/live/http/render.hpp"
#include "schedulerd/live/http/request_log.hpp"
#include "schedulerd/live/http/route_table.hpp"
#include "schedulerd/live/service/tenant_sharing.hpp"
#include "schedulerd/live/setup/secrets.hpp"

namespace tidepool::live::http {
namespace {

std::int64_t system_unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Problem no_such_path(const std::string& path) {
  return {.status = 404,
          .code = "UnknownPath",
          .detail = "there is nothing at " + path,
          .hint =
              "GET /v1/openapi.json lists what there is; if schedctl asked, it is of a later version than this daemon: "
              "schedctl --version"};
}

// What the probes of other servers are called. A dashboard's page in their place would pass for a healthy daemon.
std::optional<Problem> misnamed_probe(const std::string& path) {
  static const std::set<std::string, std::less<>> names = {"/health",   "/healthcheck", "/health-check", "/healthy",
                                                           "/ready",    "/readiness",   "/livez",        "/live",
                                                           "/liveness", "/alive",       "/ping",         "/status"};
  if (!names.contains(path)) return std::nullopt;
  Problem problem = no_such_path(path);
  problem.hint = "GET /healthz says whether the daemon lives, /readyz whether it serves; both need no token";
  return problem;
}

// Of a client with another address, such as /api/v1/jobs or /v2/jobs: it would take the dashboard's page for an answer.
bool is_meant_for_api(std::string_view path) {
  const std::string_view first = path.substr(1, path.find('/', 1) - 1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_version = first.size() > 1 && (first.front() == 'v' || first.front() == 'V') &&
                          std::all_of(first.begin() + 1, first.end(), is_digit);
  return is_version || first == "api";
}

std::optional<Problem> check_query(const Route& route, const HttpRequest& request) {
  std::vector<std::string> known;
  for (std::string_view rest = route.query; !rest.empty();) {
    known.emplace_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(rest.size(), known.back().size() + 1));
  }
  for (const auto& [name, value] : request.query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      if (!value.empty()) continue;
      // A filter that was left empty by mistake must not list everything.
      return Problem{.status = 400,
                     .code = "BadParameter",
                     .detail = "the query parameter \"" + name + "\" is empty; give it a value, or leave it out"};
    }
    const auto near = nearest_word(name, known);
    return Problem{.status = 400,
                   .code = "UnknownParameter",
                   .detail = "the query parameter \"" + name + "\" is not known here" +
                             (near ? "; did you mean \"" + *near + "\"?" : ""),
                   .hint = known.empty() ? "this path takes no parameters" : "it takes " + word_list(known)};
  }
  return std::nullopt;
}

// Of a route whose path and parameters say all.
std::optional<Problem> check_no_fields(const HttpRequest& request) {
  if (request.body.empty()) return std::nullopt;
  const auto body = parse_json(request.body);
  if (!body) return Problem{.status = 400, .code = "BadJson", .detail = body.error().message};
  std::vector<FieldError> errors;
  if (!body->is_null()) ObjectReader(*body, "", errors).finish();
  if (errors.empty()) return std::nullopt;
  return Problem{.status = 422,
                 .code = "UnknownField",
                 .detail = "this path takes no fields",
                 .hint = "send no body; nothing was done",
                 .errors = std::move(errors)};
}

std::optional<Problem> check_body_kind(const Route& route, const HttpRequest& request) {
  if (route.body == BodyKind::kNone) return check_no_fields(request);
  if (route.body == BodyKind::kJobFile || media_type(request.header("content-type")) != kYamlType) return std::nullopt;
  return Problem{.status = 415,
                 .code = "NotJson",
                 .detail = "only job files may be YAML; send this body as JSON with Content-Type: application/json"};
}

std::string whole_cluster_hint(const Route& route) {
  return route.path == "/v1/tenants"
             ? "an admin of a tenant sets what lies below it: schedctl tenants apply FILE --below TENANT "
               "(PUT /v1/tenants/TENANT/tenants)"
             : "";
}

std::optional<Problem> check_access(const Route& route, const Caller& caller) {
  const Role needed = route.access == Access::kAdmin       ? Role::kAdmin
                      : route.access == Access::kSubmitter ? Role::kSubmitter
                                                           : Role::kViewer;
  if (caller.role < needed) {
    return Problem{.status = 403,
                   .code = "Forbidden",
                   .detail = needed == Role::kAdmin ? "this needs a token with the role admin"
                                                    : "this needs a token with the role submitter or admin"};
  }
  if (route.whole_cluster && !caller.tenant.empty()) {
    return Problem{.status = 403,
                   .code = "Forbidden",
                   .detail = "this needs a token that is not limited to one tenant",
                   .hint = whole_cluster_hint(route)};
  }
  return std::nullopt;
}

Problem unauthenticated(const Error& why) {
  return {.status = 401,
          .code = "Unauthenticated",
          .detail = why.message,
          .hint = "an admin makes tokens with: schedctl token create"};
}

HttpResponse method_not_allowed(const HttpRequest& request, const std::vector<std::string>& allowed) {
  HttpResponse refused = problem_response({.status = 405,
                                           .code = "MethodNotAllowed",
                                           .detail = request.path + " does not know " + request.method,
                                           .hint = "it takes " + word_list(allowed)},
                                          request.path, request.request_id);
  refused.headers.emplace_back("Allow", word_list(allowed));
  return refused;
}

// A key is printable ASCII of at most 255 bytes; absent = none.
Result<std::optional<Idempotency>> idempotency_of(const Call& call) {
  const auto given = call.request.headers.find("idempotency-key");
  if (given == call.request.headers.end()) return std::optional<Idempotency>();
  const std::string& key = given->second;
  const bool printable = std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!printable || key.empty() || key.size() > 255) {
    return invalid_argument("Idempotency-Key must be 1 to 255 printable ASCII characters without blanks");
  }
  const auto& request = call.request;
  return std::optional(
      Idempotency{.key = key,
                  .token_id = call.caller.token_id,
                  .request_hash = sha256_hex(request.method + "\n" + request.target + "\n" + request.body)});
}

}  // namespace

bool Call::fail_unless_repeated(Problem problem) {
  const bool may_repeat = request.headers.contains("idempotency-key") && query("dry_run") != "true";
  if (!may_repeat) {
    fail(problem);
    return false;
  }
  unless_repeated = std::move(problem);
  return true;
}

HttpOptions Rest::with_observer(HttpOptions options) {
  options.on_answered = [this](int status, Duration took) { metrics_.observe_request(status, took); };
  options.on_turned_away = [this] { metrics_.count_turned_away(); };
  return options;
}

std::shared_ptr<Rest> Rest::create(Service& service, RestOptions options) {
  if (!options.unix_now) options.unix_now = system_unix_seconds;
  return std::shared_ptr<Rest>(new Rest(service, std::move(options)));
}

Rest::Rest(Service& service, RestOptions options)
    : service_(service),
      options_(std::move(options)),
      authenticator_(service.history(), options_.unix_now),
      streams_({.service = service_,
                .authenticator = authenticator_,
                .metrics = metrics_,
                .later = [this](std::function<void()> work) { server_.post(std::move(work)); }}),
      open_streams_({.all = static_cast<std::size_t>(options_.http.connections.all / 2),
                     .per_token = options_.streams_per_token}),
      server_(
          with_observer(options_.http),
          [this](HttpRequest request, Responder responder) { handle(std::move(request), std::move(responder)); },
          [](const Refusal& refusal, const std::string& request_id) {
            return problem_response(problem_of(refusal), "", request_id);
          }) {}

Result<std::string> Rest::start() {
  metrics_.begin(options_.unix_now(), service_.published()->state);
  const std::weak_ptr<Rest> weak = weak_from_this();
  subscription_ = service_.subscribe([weak](const std::vector<core::Event>& events) {
    const auto rest = weak.lock();
    if (!rest) return;
    rest->metrics_.observe_events(events);
    if (!rest->streams_.is_heard()) return;
    rest->server_.post([raw = rest.get(), events] { raw->streams_.publish(events); });
  });
  auto url = server_.start();
  if (url) schedule_beat();
  return url;
}

void Rest::stop() {
  subscription_.reset();
  server_.stop();
  renders_.stop();
}

void Rest::schedule_beat() {
  server_.after(options_.heartbeat, [this] {
    streams_.beat();
    schedule_beat();
  });
}

void Rest::handle(HttpRequest request, Responder responder) {
  const std::string path = request.path;
  const std::string request_id = request.request_id;
  try {
    dispatch(std::move(request), responder);
  } catch (const std::exception& error) {
    // The responder still answers: with 500 if the handler had not answered yet.
    spdlog::error("{} {} failed: {}", request_id, path, error.what());
  }
}

void Rest::dispatch(HttpRequest request, const Responder& responder) {
  const RouteMatch match = match_route(request.method, request.path);
  Call call{.request = std::move(request), .responder = responder, .caller = {}, .id = match.id, .seen = nullptr};
  const std::string& path = call.request.path;
  if (match.allowed_methods.empty() && !is_meant_for_api(path)) {
    if (const auto problem = misnamed_probe(path)) return call.fail(*problem);
    const bool reads = call.request.method == "GET" || call.request.method == "HEAD";
    HttpResponse file = reads ? serve_static(options_.dashboard, call.request) : HttpResponse{.status = 404};
    return file.status == 404 ? call.fail(no_such_path(path)) : call.reply(std::move(file));
  }
  const bool is_public = match.route != nullptr && match.route->access == Access::kPublic;
  if (!is_public) {
    auto caller = authenticator_.identify(call.request.header("authorization"));
    if (!caller) return call.fail(unauthenticated(caller.error()));
    call.caller = std::move(caller).value();
  }
  if (match.allowed_methods.empty()) return call.fail(no_such_path(path));
  if (changes(call.request)) call.responder = audited(call);
  if (match.route == nullptr) return call.reply(method_not_allowed(call.request, match.allowed_methods));
  if (const auto problem = check_query(*match.route, call.request)) return call.fail(*problem);
  if (!is_public) {
    if (const auto problem = check_access(*match.route, call.caller)) return call.fail(*problem);
  }
  if (const auto problem = check_body_kind(*match.route, call.request)) return call.fail(*problem);
  if (const auto problem = check_conditions(call.request)) return call.fail(*problem);
  call.seen = service_.published();
  if (!call.seen && !is_public) {
    return call.fail({.status = 503, .code = "NotReady", .detail = "the daemon is still reading its journal"});
  }
  if (call.seen) authenticator_.place(call.caller, call.seen->state.tenants);
  match.route->handler(*this, std::move(call));
}

std::shared_ptr<StreamWriter> Rest::open_stream(const Call& call, HttpResponse head) {
  if (const auto problem = open_streams_.why_no_more(call.caller.token_id)) {
    call.fail(*problem);
    return nullptr;
  }
  auto writer = call.responder.stream(std::move(head));
  open_streams_.add(call.caller.token_id, writer);
  return writer;
}

void Rest::command(Call call, CommandBody body, Answer answer, RefusalAnswer refusal) {
  auto idempotency = idempotency_of(call);
  if (!idempotency) {
    return call.fail({.status = 400, .code = "BadIdempotencyKey", .detail = idempotency.error().message});
  }
  auto stale = std::exchange(call.unless_repeated, std::nullopt);
  Command command{.body = std::move(body),
                  .actor = call.caller.token_id,
                  .idempotency = std::move(idempotency).value(),
                  .only_of = std::move(call.only_of),
                  .only_repeats = stale.has_value()};
  call.request.body.clear();  // not needed any more; the answer may wait for a while
  auto finish = [weak = weak_from_this(), call = std::move(call), answer = std::move(answer),
                 refusal = std::move(refusal), stale = std::move(stale)](Result<Receipt> receipt) {
    const auto rest = weak.lock();
    if (!rest) return;
    rest->server_.post([raw = rest.get(), call, answer, refusal, stale, receipt = std::move(receipt)] {
      if (!receipt && stale && receipt.error().code == ErrorCode::kOutdated) return call.fail(*stale);
      if (!receipt && refusal) return call.fail(refusal(receipt.error(), *raw->service_.published()));
      if (!receipt) return call.fail(problem_of_change(receipt.error()));
      HttpResponse response = answer(receipt.value(), *raw->service_.published());
      if (receipt->replayed) response.headers.emplace_back("Idempotent-Replayed", "true");
      call.reply(std::move(response));
    });
  };
  service_.submit(std::move(command), std::move(finish));
}

std::optional<std::string> Rest::why_not_shared(const Published& seen) const {
  const auto is_own = [&](const PolicyInfo& policy) { return policy.name == seen.active_policy; };
  const auto own = std::find_if(options_.policies.begin(), options_.policies.end(), is_own);
  const bool plans_for_all = own != options_.policies.end() && own->scope == "cluster";
  return live::why_not_shared(seen.state.deployment, {.name = seen.active_policy, .plans_for_all = plans_for_all});
}

std::shared_ptr<const core::Job> Rest::job(const Published& seen, JobId id) const {
  return job_of(seen, id, service_.history());
}

std::shared_ptr<const core::Job> Rest::find_job(const Call& call) const {
  const auto id = JobId::parse(call.id);
  auto job = id ? this->job(*call.seen, *id) : nullptr;
  if (job != nullptr && call.caller.sees(job->spec.tenant)) return job;
  call.fail({.status = 404,
             .code = "UnknownJob",
             .detail = "there is no job " + call.id,
             .hint = "GET /v1/jobs lists the jobs that this token may see"});
  return nullptr;
}

}  // namespace tidepool::live::http
