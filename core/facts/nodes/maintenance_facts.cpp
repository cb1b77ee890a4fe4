#include "core/facts/nodes/maintenance_facts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/first_after.hpp"
#include "core/facts/drain_facts.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/utc_time.hpp"

namespace tidepool::core {
namespace {

nlohmann::json window_data(const MaintenanceWindow& window) {
  return {{"window", window_name(window.number)},
          {"nodes", text_of(window.selector)},
          {"from_unix", window.from_us / 1'000'000},
          {"to_unix", window.to_us / 1'000'000},
          {"reason", window.reason}};
}

Instant closes_at(const ClusterState& state, const MaintenanceWindow& window) {
  return at_utc(state, window.from_us) - window.lead;
}

void consider(const ClusterState& state, const MaintenanceWindow& window, FirstAfter& first) {
  first.consider(closes_at(state, window));
  first.consider(at_utc(state, window.from_us));
  first.consider(at_utc(state, window.to_us));
}

// Windows that have ended are removed, or become the next occurrence.
void end_windows(StateChange& change) {
  std::vector<WindowNumber> over;
  for (auto& [number, window] : change.state().maintenance.windows) {
    if (change.at() < at_utc(change.state(), window.to_us)) continue;
    change.emit("maintenance.ended", window_data(window));
    if (!window.every) {
      over.push_back(number);
      continue;
    }
    const std::int64_t every = window.every->count_us();
    const std::int64_t times = (utc_us(change.state(), change.at()) - window.to_us) / every + 1;
    window.from_us += times * every;
    window.to_us += times * every;
    window.begun = false;
  }
  for (const WindowNumber number : over) change.state().maintenance.windows.erase(number);
}

void begin_windows(StateChange& change) {
  for (auto& [number, window] : change.state().maintenance.windows) {
    if (window.begun || change.at() < at_utc(change.state(), window.from_us)) continue;
    window.begun = true;
    change.emit("maintenance.began", window_data(window));
  }
}

// What the windows that are due require of the node together: named after the window that begins first.
std::optional<WindowOfNode> asked_of(const ClusterState& state, const std::vector<const MaintenanceWindow*>& due,
                                     const Node& node) {
  std::optional<WindowOfNode> asked;
  for (const MaintenanceWindow* window : due) {
    if (!matches(node, window->selector)) continue;
    const NodeMaintenance mine{
        .window = window->number, .begins = at_utc(state, window->from_us), .ends = at_utc(state, window->to_us)};
    if (!asked) {
      asked = WindowOfNode{mine, window->reason};
      continue;
    }
    const Instant ends = std::max(asked->maintenance.ends, mine.ends);
    if (mine.begins < asked->maintenance.begins) *asked = {mine, window->reason};
    asked->maintenance.ends = ends;
  }
  return asked;
}

void close_nodes(StateChange& change) {
  const ClusterState& state = change.state();
  std::vector<const MaintenanceWindow*> due;
  for (const auto& [number, window] : state.maintenance.windows) {
    if (closes_at(state, window) <= change.at()) due.push_back(&window);
  }
  std::vector<std::pair<NodeId, std::optional<WindowOfNode>>> changes;
  for (const auto& [id, node] : state.nodes) {
    const bool is_closed = node.drain && node.drain->maintenance;
    auto asked = asked_of(state, due, node);
    if (is_closed || asked) changes.emplace_back(id, std::move(asked));
  }
  for (const auto& [id, asked] : changes) ask_drain(change, id, asked);
}

Status check_window(const ClusterState& state, const MaintenanceWindow& window, Instant now) {
  const Maintenance& known = state.maintenance;
  if (window.number != known.next) return conflict("the next window is " + window_name(known.next));
  if (known.windows.size() >= kWindowsMax) {
    return conflict("there are " + std::to_string(kWindowsMax) +
                    " maintenance windows, which is as many as are kept; remove some first");
  }
  if (window.selector.empty()) return invalid_argument("a maintenance window is of a node, or of those with a label");
  if (window.to_us <= window.from_us) return invalid_argument("a maintenance window ends after it begins");
  if (window.lead < Duration()) return invalid_argument("the lead of a maintenance window is not negative");
  const auto length = Duration::micros(window.to_us - window.from_us);
  if (window.every && *window.every < length) {
    return invalid_argument(
        "a maintenance window that comes again has ended before that: every is at least its length");
  }
  if (!window.every && window.to_us <= utc_us(state, now)) return invalid_argument("that window has ended already");
  return ok_status();
}

}  // namespace

Status apply(StateChange& change, const MaintenanceAdded& fact) {
  TP_TRY(check_window(change.state(), fact.window, change.at()));
  Maintenance& known = change.state().maintenance;
  MaintenanceWindow window = fact.window;
  window.begun = false;
  ++known.next;
  change.emit("maintenance.added", window_data(window));
  known.windows.emplace(window.number, std::move(window));
  return ok_status();
}

Status apply(StateChange& change, const MaintenanceRemoved& fact) {
  auto& windows = change.state().maintenance.windows;
  const auto found = windows.find(fact.window);
  if (found == windows.end()) return not_found("there is no maintenance window " + window_name(fact.window));
  change.emit("maintenance.removed", window_data(found->second));
  windows.erase(found);
  return ok_status();
}

void follow_maintenance(StateChange& change, Instant since, bool of_nodes) {
  const ClusterState& state = change.state();
  FirstAfter first(since);
  for (const auto& [number, window] : state.maintenance.windows) consider(state, window, first);
  const bool was_due = first.found() && *first.found() <= change.at();
  if (!was_due && !of_nodes) return;
  if (state.maintenance.next == 1) return;  // no window was ever added
  end_windows(change);
  begin_windows(change);
  close_nodes(change);
}

std::optional<Instant> next_maintenance_due(const ClusterState& state) {
  FirstAfter first(state.now);
  for (const auto& [number, window] : state.maintenance.windows) consider(state, window, first);
  return first.found();
}

}  // namespace tidepool::core
