// The cluster: nodes, policies, decisions, events, and what operators ask for.
#include <map>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "core/codec/codec.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/headers/stream_format.hpp"
#include "schedulerd/live/http/history_pages.hpp"
#include "schedulerd/live/http/node_requests.hpp"
#include "schedulerd/live/http/numbers/certificate_ends.hpp"
#include "schedulerd/live/http/openapi.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

constexpr const char* kDrainDeadline = "10m";
constexpr std::size_t kSnapshotsWaiting = 2;  // each holds a picture of the whole state

// Why a name that `schedctl pools` shows is no node; none = no pool has asked for it.
std::optional<Problem> not_joined(const core::NodePools& pools, const std::string& name) {
  for (const auto& [request, mine] : pools.nodes) {
    if (mine.name != name || mine.node) continue;
    const core::NodePool* pool = pools.find(mine.pool);
    const bool is_retired = pool == nullptr || pool->retired;
    return Problem{.status = 409,
                   .code = "NotJoined",
                   .detail = name + " was requested by the pool " + mine.pool + ", and no agent has joined from it yet",
                   .hint = is_retired ? "configure the pool again with max: 0: its provider then ends what it has made"
                                      : "its pool ends it if none does; see: schedctl pools"};
  }
  return std::nullopt;
}

// Of a call whose {id} is the id of no node.
Problem no_such_node(const Call& call) {
  return not_joined(call.seen->state.pools, call.id).value_or(unknown_node(call));
}

// The node that the call names; none = answered already.
std::optional<NodeId> node_to_change(Call& call) {
  const auto id = NodeId::parse(call.id);
  if (id && call.seen->state.find_node(*id) != nullptr) return id;
  call.fail(no_such_node(call));
  return std::nullopt;
}

void send_node_command(Rest& rest, Call call, CommandBody body, NodeId id) {
  const Caller caller = call.caller;
  rest.command(std::move(call), std::move(body), [id, caller, &rest](const Receipt&, const Published& seen) {
    const core::Node* node = seen.state.find_node(id);
    const SeenBy seen_by{seen, caller, rest.service().history()};
    return json_response(200, node == nullptr ? json{{"id", id.text()}} : render_node(seen_by, *node));
  });
}

void set_cordon(Rest& rest, Call call, bool cordoned) {
  const auto id = node_to_change(call);
  if (id) send_node_command(rest, std::move(call), leader::CordonNode{*id, cordoned}, *id);
}

// Every field may be left out.
leader::DrainNode read_drain(const json& body, NodeId node, std::vector<FieldError>& errors) {
  ObjectReader in(body, "", errors);
  leader::DrainNode drain{.node = node, .within = {}, .reason = {}};
  const auto within = parse_duration(in.text("deadline", kDrainDeadline));
  drain.reason = read_reason(in);
  in.finish();
  if (!within) {
    in.fail("deadline", "Invalid", "is no duration: " + within.error().message);
  } else {
    drain.within = within.value();
  }
  return drain;
}

// ?job= and ?node= of the event lists: a job that the caller may see, a node, or all. None: answered already.
std::optional<EventsOf> read_events_of(const Rest& rest, Call& call) {
  const std::string node = call.query("node");
  call.id = call.query("job");
  if (!node.empty() && !call.id.empty()) {
    call.fail(bad_parameter(invalid_argument("job and node do not go together; give one of them")));
    return std::nullopt;
  }
  if (!call.id.empty()) {
    const auto job = rest.find_job(call);
    return job == nullptr ? std::nullopt : std::optional(EventsOf{.job = job->id});
  }
  if (node.empty()) return EventsOf{};
  call.id = node;
  const auto id = node_meant(call.seen->state, node);
  if (!id) call.fail(unknown_node(call));  // what pools do is not for all who read events
  return id ? std::optional(EventsOf{.node = id}) : std::nullopt;
}

// Where a stream begins: Last-Event-ID (a reconnect) before ?after, else now.
Result<EventSeq> stream_start(const Call& call) {
  const auto resumed = call.request.header("last-event-id");
  const std::string text = resumed.empty() ? call.query("after") : std::string(resumed);
  if (text.empty()) return call.seen->as_of_seq;
  const auto after = parse_number<EventSeq>(text);
  if (after && *after < INT64_MAX) return *after;
  return invalid_argument("after and Last-Event-ID must be the number of an event");
}

// One entry a name: the version that decides, else the newest.
void add_policy_files(Rest& rest, const core::PolicyDeployment& deployment, json& all) {
  std::map<std::string, PolicyVersion> shown;
  for (auto& version : rest.service().history().policy_versions("")) {
    const bool active =
        deployment.active && deployment.active->name == version.name && deployment.active->version == version.version;
    const auto [place, is_new] = shown.try_emplace(version.name, version);
    if (!is_new && active) place->second = std::move(version);
  }
  for (const auto& [name, version] : shown) {
    const json manifest = json::parse(version.manifest, nullptr, false);
    all.push_back({{"name", name},
                   {"kind", "file"},
                   {"scope", "cluster"},
                   {"active", deployment.active && deployment.active->name == name},
                   {"default", false},
                   {"summary", manifest.value("about", "")},
                   {"source", manifest.value("engine", "") + " file"},
                   {"version", version.version},
                   {"shadow", deployment.shadow && deployment.shadow->name == name}});
  }
}

}  // namespace

void list_nodes(Rest& rest, Call call) {
  const auto page = read_page(call, "nodes");
  if (!page) return call.fail(bad_parameter(page.error()));
  const auto& nodes = call.seen->state.nodes;
  PageBuilder builder("nodes", page->limit);
  for (auto node = nodes.upper_bound(NodeId(page->after.value_or(0))); node != nodes.end(); ++node) {
    if (call.seen->state.has_gone(node->second)) continue;
    if (!builder.add(node->first.number(), render_node(rest.seen_by(call), node->second))) break;
  }
  call.reply(200, std::move(builder).body(call.seen->as_of_seq));
}

void cordon_node(Rest& rest, Call call) {
  set_cordon(rest, std::move(call), true);
}

void uncordon_node(Rest& rest, Call call) {
  set_cordon(rest, std::move(call), false);
}

void drain_node(Rest& rest, Call call) {
  const auto id = node_to_change(call);
  if (!id) return;
  const auto body = call.request.body.empty() ? Result<json>(json::object()) : parse_json(call.request.body);
  if (!body) return call.fail({.status = 400, .code = "BadJson", .detail = body.error().message});
  std::vector<FieldError> errors;
  leader::DrainNode drain = read_drain(body.value(), *id, errors);
  if (!errors.empty()) {
    return call.fail({.status = 422, .code = "InvalidDrain", .detail = errors.front().message, .errors = errors});
  }
  send_node_command(rest, std::move(call), std::move(drain), *id);
}

void undrain_node(Rest& rest, Call call) {
  const auto id = node_to_change(call);
  if (id) send_node_command(rest, std::move(call), leader::UndrainNode{*id}, *id);
}

void clear_node_faults(Rest& rest, Call call) {
  const auto id = node_to_change(call);
  if (id) send_node_command(rest, std::move(call), leader::ClearNodeFaults{*id}, *id);
}

void remove_node(Rest& rest, Call call) {
  const auto id = NodeId::parse(call.id);
  if (!id) return call.fail(no_such_node(call));
  const core::Node* node = call.seen->state.find_node(*id);
  if (node == nullptr && !call.fail_unless_repeated(no_such_node(call))) return;
  const SeenBy seen_by{*call.seen, call.caller, rest.service().history()};
  const json removed = node == nullptr ? json{{"id", call.id}} : render_node(seen_by, *node);
  rest.command(std::move(call), leader::RemoveNode{*id},
               [removed](const Receipt&, const Published&) { return json_response(200, removed); });
}

void release_slots(Rest& rest, Call call) {
  const auto id = node_to_change(call);
  if (id) send_node_command(rest, std::move(call), leader::ReleaseSlots{*id}, *id);
}

void list_policies(Rest& rest, Call call) {
  const auto page = read_page(call, "policies");
  if (!page) return call.fail(bad_parameter(page.error()));
  const core::PolicyDeployment& deployment = call.seen->state.deployment;
  json all = json::array();
  for (const auto& policy : rest.options().policies) {
    all.push_back({{"name", policy.name},
                   {"kind", policy.kind},
                   {"scope", policy.scope},
                   {"active", !deployment.active && policy.name == call.seen->active_policy},
                   {"default", policy.name == call.seen->active_policy},
                   {"summary", policy.summary},
                   {"source", policy.source},
                   {"version", nullptr},
                   {"shadow", false}});
  }
  add_policy_files(rest, deployment, all);
  PageBuilder builder("policies", page->limit);
  for (std::uint64_t place = page->after.value_or(0) + 1; place <= all.size(); ++place) {
    if (!builder.add(place, all[place - 1])) break;
  }
  call.reply(200, std::move(builder).body(call.seen->as_of_seq));
}

void list_decisions(Rest& rest, Call call) {
  reply_decisions(rest, call, std::nullopt);
}

void get_decision(Rest& rest, Call call) {
  const Problem unknown{.status = 404,
                        .code = "UnknownDecision",
                        .detail = "there is no decision " + call.id,
                        .hint = "GET /v1/decisions lists them"};
  const auto id = DecisionId::parse(call.id);
  if (!id || id->number() == UINT64_MAX) return call.fail(unknown);
  const auto found = rest.service().history().decisions(DecisionId(id->number() + 1), std::nullopt, 1);
  if (found.empty() || found.front().id != *id) return call.fail(unknown);
  const auto rendered = render_decision(rest.seen_by(call), found.front());
  if (!rendered) return call.fail(problem_of(rendered.error()));
  return rendered->is_null() ? call.fail(unknown) : call.reply(200, rendered.value());
}

void list_events(Rest& rest, Call call) {
  if (const auto of = read_events_of(rest, call)) reply_events(rest, call, *of);
}

void stream_events(Rest& rest, Call call) {
  const auto of = read_events_of(rest, call);
  if (!of) return;
  StreamRequest request{.after = 0, .job = of->job, .node = of->node, .caller = call.caller, .ndjson = false};
  const auto after = stream_start(call);
  if (!after) return call.fail(bad_parameter(after.error()));
  request.after = after.value();
  request.ndjson = wants_ndjson(call.request.header("accept"));
  const HttpResponse head{.status = 200,
                          .headers = {{"Content-Type", request.ndjson ? "application/x-ndjson" : "text/event-stream"},
                                      {"Cache-Control", "no-store"},
                                      {"X-Accel-Buffering", "no"}},
                          .body = {}};
  auto writer = rest.open_stream(call, head);
  if (writer == nullptr) return;
  if (call.request.method == "HEAD") return writer->finish();
  rest.streams().open(std::move(writer), std::move(request));
}

void snapshot(Rest& rest, Call call) {
  const bool taken = rest.renders().post(
      [call] {
        call.reply(200, {{"as_of_seq", call.seen->as_of_seq},
                         {"at", call.seen->clock.text(call.seen->now)},
                         {"state", core::to_json(call.seen->state)}});
      },
      kSnapshotsWaiting);
  if (taken) return;
  call.fail(
      {.status = 429,
       .code = "TooManySnapshots",
       .detail = "one snapshot is being written and " + std::to_string(kSnapshotsWaiting) + " wait for it already",
       .hint = "ask again once one has been answered; they take seconds where there are thousands of jobs"});
}

void healthz(Rest&, Call call) {
  call.reply(200, {{"status", "alive"}});
}

void readyz(Rest&, Call call) {
  if (call.seen) return call.reply(200, {{"status", "ready"}});
  call.fail({.status = 503, .code = "NotReady", .detail = "the daemon is still reading its journal"});
}

void tell_certificate_ends(Rest& rest, const Published& seen) {
  if (!rest.options().certificate_ends) return;
  auto ends = rest.options().certificate_ends();
  if (ends.empty()) return;  // without TLS no node has one
  const auto first = first_node_end(seen, rest.service().history().node_credentials({}));
  if (first) ends["node"] = *first;
  rest.metrics().set_certificate_ends(ends);
}

void metrics_text(Rest& rest, Call call) {
  const auto& ask_room = rest.options().state_room;
  if (const auto room = ask_room ? ask_room() : std::nullopt) rest.metrics().set_state_room(*room);
  tell_certificate_ends(rest, *call.seen);
  call.reply(
      {.status = 200,
       .headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}, {"Cache-Control", "no-store"}},
       .body = rest.metrics().text(*call.seen, !rest.why_not_shared(*call.seen), rest.service().forecasts().get())});
}

void openapi_document(Rest&, Call call) {
  call.reply({.status = 200,
              .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache"}},
              .body = openapi_json()});
}

}  // namespace tidepool::live::http
