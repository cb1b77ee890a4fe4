// Maintenance windows: listed, added, taken away.
#include <algorithm>
#include <set>

#include "api/node_label.hpp"
#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/timestamp.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/utc_time.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/node_requests.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

constexpr const char* kLead = "10m";
constexpr Duration kEveryMin = Duration::seconds(60);
constexpr std::size_t kWordBytes = 200;
constexpr std::size_t kSelectorMax = 16;  // keys, and values of one
constexpr std::string_view kNamePrefix = "mw-";

// "planned", "draining" until it begins, then "open".
const char* standing(const Published& seen, const core::MaintenanceWindow& window) {
  if (window.begun) return "open";
  const Instant closes = core::at_utc(seen.state, window.from_us) - window.lead;
  return closes <= seen.now ? "draining" : "planned";
}

std::string utc_text_of(std::int64_t unix_us) {
  return WallClock{}.text(Instant::from_micros(unix_us));
}

json render_window(const Published& seen, const core::MaintenanceWindow& window) {
  json nodes = json::array();
  for (const auto& [id, node] : seen.state.nodes) {
    if (!seen.state.has_gone(node) && core::matches(node, window.selector)) nodes.push_back(id.text());
  }
  return {{"id", core::window_name(window.number)},
          {"state", standing(seen, window)},
          {"selector", window.selector},
          {"nodes", std::move(nodes)},
          {"from", utc_text_of(window.from_us)},
          {"to", utc_text_of(window.to_us)},
          {"lead", to_text(window.lead)},
          {"every", window.every ? json(to_text(*window.every)) : json(nullptr)},
          {"reason", window.reason}};
}

std::optional<core::WindowNumber> window_number(std::string_view name) {
  if (!name.starts_with(kNamePrefix)) return std::nullopt;
  name.remove_prefix(kNamePrefix.size());
  return parse_number<core::WindowNumber>(name);
}

// One value, or a list of which a node has any.
std::vector<std::string> read_values(const json& value) {
  const json list = value.is_array() ? value : json::array({value});
  std::vector<std::string> values;
  for (const json& each : list) {
    const bool good = each.is_string() && !each.get<std::string>().empty() &&
                      each.get<std::string>().size() <= kWordBytes && values.size() < kSelectorMax;
    if (!good) return {};
    values.push_back(each.get<std::string>());
  }
  return values;
}

void read_selector(ObjectReader& in, core::Selector& selector) {
  const json labels = in.raw("selector");
  if (!labels.is_object() || labels.empty() || labels.size() > kSelectorMax) {
    return in.fail("selector", "WrongType", "must be an object of 1 to 16 labels, each a text or a list of texts");
  }
  for (const auto& [key, value] : labels.items()) {
    std::vector<std::string> values = read_values(value);
    if (!api::is_label_key(key) || values.empty()) {
      return in.fail("selector", "Invalid",
                     "has \"" + key.substr(0, kWordBytes) + "\": each label is a text or a list of 1 to 16");
    }
    selector[key] = std::move(values);
  }
}

// A value of another type, which the reader has told.
bool is_no_text(ObjectReader& in, const char* name) {
  return in.has(name) && !in.raw(name).is_string();
}

std::int64_t read_time(ObjectReader& in, const char* name) {
  const auto at = micros_of(in.text(name, ""));
  if (!at && !is_no_text(in, name)) {
    in.fail(name, in.has(name) ? "Invalid" : "Missing", "must be a time in UTC such as 2026-11-25T02:00:00Z");
  }
  return at.value_or(0);
}

std::optional<Duration> read_duration(ObjectReader& in, const char* name, const char* otherwise) {
  const auto duration = parse_duration(in.text(name, otherwise));
  if (duration.ok() && *duration >= Duration()) return *duration;
  if (!is_no_text(in, name)) in.fail(name, "Invalid", "is no duration such as 10m or 7d");
  return std::nullopt;
}

// Whose nodes: one by id or name, or those with labels.
void read_nodes(ObjectReader& in, const core::ClusterState& state, core::Selector& selector) {
  if (in.has("node") && in.has("selector")) {
    return in.fail("selector", "Invalid", "is given together with node; a window is of one of them: keep one");
  }
  if (!in.has("node") && !in.has("selector")) {
    return in.fail("node", "Missing", "or selector is needed: a window is of one node or of those with labels");
  }
  if (in.has("selector")) return read_selector(in, selector);
  const std::string meant = in.text("node", "");
  if (is_no_text(in, "node")) return;
  std::set<std::string> names;
  for (const auto& [id, node] : state.nodes) {
    if (id.text() == meant || node.name == meant) names.insert(node.name);
  }
  if (names.empty()) {
    return in.fail("node", "Invalid", "is " + meant + ", which is no node that has joined; GET /v1/nodes lists them");
  }
  if (names.size() > 1) {
    return in.fail("node", "Invalid",
                   "is the id of one node and the name of another; give the name of the first, or "
                   "the id of the second");
  }
  selector[core::kNodeLabel] = {*names.begin()};
}

core::MaintenanceWindow read_window(const json& body, const core::ClusterState& state,
                                    std::vector<FieldError>& errors) {
  ObjectReader in(body, "", errors);
  core::MaintenanceWindow window;
  read_nodes(in, state, window.selector);
  window.from_us = read_time(in, "from");
  window.to_us = read_time(in, "to");
  window.lead = read_duration(in, "lead", kLead).value_or(Duration());
  if (in.has("every")) window.every = read_duration(in, "every", "");
  if (window.every && *window.every < kEveryMin) in.fail("every", "OutOfRange", "must be at least 1m");
  window.reason = read_reason(in);
  in.finish();
  if (errors.empty() && window.to_us <= window.from_us) in.fail("to", "OutOfRange", "must be later than from");
  return window;
}

}  // namespace

void list_maintenance(Rest&, Call call) {
  const auto page = read_page(call, "maintenance");
  if (!page) return call.fail(bad_parameter(page.error()));
  const auto& windows = call.seen->state.maintenance.windows;
  PageBuilder builder("maintenance", page->limit);
  for (auto each = windows.upper_bound(page->after.value_or(0)); each != windows.end(); ++each) {
    if (!builder.add(each->first, render_window(*call.seen, each->second))) break;
  }
  call.reply(200, std::move(builder).body(call.seen->as_of_seq));
}

void add_maintenance(Rest& rest, Call call) {
  const auto body = parse_json(call.request.body);
  if (!body) return call.fail({.status = 400, .code = "BadJson", .detail = body.error().message});
  std::vector<FieldError> errors;
  core::MaintenanceWindow window = read_window(body.value(), call.seen->state, errors);
  if (!errors.empty()) {
    return call.fail({.status = 422,
                      .code = "InvalidMaintenance",
                      .detail = "the window's description needs a change",
                      .hint = "nothing was stored",
                      .errors = std::move(errors)});
  }
  rest.command(std::move(call), leader::AddMaintenance{std::move(window)},
               [](const Receipt& receipt, const Published& seen) {
                 const auto& windows = seen.state.maintenance.windows;
                 const auto added = windows.find(window_number(receipt.token_id).value_or(0));
                 return json_response(
                     201, added == windows.end() ? json{{"id", receipt.token_id}} : render_window(seen, added->second));
               });
}

void remove_maintenance(Rest& rest, Call call) {
  const auto number = window_number(call.id);
  const auto& windows = call.seen->state.maintenance.windows;
  const auto window = windows.find(number.value_or(0));
  const bool is_known = window != windows.end();
  const json removed = is_known ? render_window(*call.seen, window->second) : json{{"id", call.id}};
  Problem unknown{.status = 404,
                  .code = "UnknownMaintenance",
                  .detail = "there is no maintenance window " + call.id,
                  .hint = "GET /v1/maintenance lists them"};
  if (!number) return call.fail(unknown);
  if (!is_known && !call.fail_unless_repeated(std::move(unknown))) return;
  rest.command(std::move(call), leader::RemoveMaintenance{*number},
               [removed](const Receipt&, const Published&) { return json_response(200, removed); });
}

}  // namespace tidepool::live::http
