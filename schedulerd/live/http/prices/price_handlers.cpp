// The prices that operators list: what is set, what it makes of nodes now, and a new list in its place.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "api/v1/price_list.hpp"
#include "base/timestamp.hpp"
#include "base/word_list.hpp"
#include "core/facts/price_facts.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/utc_time.hpp"
#include "schedulerd/live/http/handlers.hpp"
#include "schedulerd/live/http/jobs/job_requests.hpp"
#include "schedulerd/live/http/put_settings.hpp"
#include "schedulerd/live/http/settings/price_view.hpp"
#include "schedulerd/live/http/settings/slot_types.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

// Of the nodes and pools, those whose price the rule sets.
std::int64_t set_by(const PriceRule& rule, const auto& listed) {
  return std::count_if(listed.begin(), listed.end(), [&](const auto& entry) { return entry.second.rule == rule.name; });
}

json render_rule(const Published& seen, const PriceRule& rule) {
  json out = rule_settings(rule);
  const core::Prices& prices = *seen.state.prices;
  const std::int64_t now_us = core::utc_us(seen.state, seen.state.now);
  const auto price = price_at(rule, now_us);
  const auto next = next_change_us(rule, now_us);
  out["name"] = rule.name;
  out["now"] = {{"price", price ? json(to_text(*price)) : json(nullptr)},
                {"changes_at", next ? json(timestamp_text(*next / 1'000'000)) : json(nullptr)},
                {"nodes", set_by(rule, prices.nodes)},
                {"pools", set_by(rule, prices.pools)}};
  return out;
}

bool has_labels(const core::ClusterState& state, const PriceRule& rule) {
  core::Selector selector;
  for (const auto& [key, value] : rule.labels) selector[key] = {value};
  return std::any_of(state.nodes.begin(), state.nodes.end(), [&](const auto& node) {
    return core::matches(node.second, selector) && !state.has_gone(node.second);
  });
}

std::string labels_text(const PriceRule& rule) {
  return word_list(rule.labels, [](const auto& label) { return label.first + "=" + label.second; });
}

// A rule that names what there is not is a mistake more often than a plan.
json warnings_of(const Published& seen, const PriceList& list) {
  json warnings = json::array();
  const core::ClusterState& state = seen.state;
  const std::set<std::string> types = known_slot_types(state);
  for (const PriceRule& rule : list.rules) {
    if (!rule.pool.empty() && state.pools.find(rule.pool) == nullptr) {
      warnings.push_back("rule " + rule.name + " names the pool " + rule.pool + ", which the daemon does not have");
    }
    if (const auto why = why_unknown_type(types, rule.slot_type); why && !rule.slot_type.empty()) {
      warnings.push_back("rule " + rule.name + " sets no price: " + *why);
    }
    if (!rule.labels.empty() && !has_labels(state, rule)) {
      warnings.push_back("rule " + rule.name + " names nodes with " + labels_text(rule) + ", and there is none now");
    }
  }
  return warnings;
}

std::variant<PriceList, Problem> read_list(const Call& call) {
  auto body = read_body(call);
  if (auto* problem = std::get_if<Problem>(&body)) return std::move(*problem);
  auto findings = api::v1::read_price_list(std::get<json>(body));
  if (findings.errors.empty()) return std::move(findings.list);
  return Problem{.status = 422,
                 .code = "InvalidPrices",
                 .detail = "the prices need a change",
                 .hint = "nothing was stored",
                 .errors = std::move(findings.errors)};
}

// Why this list would be refused now.
Status try_out(const Published& seen, const PriceList& list) {
  core::ClusterState copy = seen.state;
  core::StateChange change(copy, seen.now);
  return core::apply(change, core::PricesConfigured{list});
}

}  // namespace

void get_prices(Rest& rest, Call call) {
  const PriceList& list = call.seen->state.prices->list;
  json rules = json::array();
  for (const PriceRule& rule : list.rules) rules.push_back(render_rule(*call.seen, rule));
  HttpResponse response = json_response(200, {{"rules", std::move(rules)},
                                              {"currency", rest.options().currency},
                                              {"warnings", warnings_of(*call.seen, list)},
                                              {"as_of_seq", call.seen->as_of_seq}});
  response.headers.emplace_back("ETag", prices_etag(list));
  call.reply(std::move(response));
}

void put_prices(Rest& rest, Call call) {
  auto read = read_list(call);
  if (const auto* problem = std::get_if<Problem>(&read)) return call.fail(*problem);
  const auto& list = std::get<PriceList>(read);
  const auto seen = call.seen;
  const PriceList& set = seen->state.prices->list;
  put_settings(rest, std::move(call),
               {.what = "the prices",
                .changes = price_changes(set, list),
                .warnings = warnings_of(*seen, list),
                .etag = prices_etag(set),
                .try_out = [&] { return try_out(*seen, list); },
                .command = [&](bool if_unchanged) -> CommandBody {
                  return leader::ConfigurePrices{list, if_unchanged ? std::optional(set) : std::nullopt};
                }});
}

}  // namespace tidepool::live::http
