#include "core/explain/type_evidence.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/byte_size.hpp"
#include "base/json.hpp"
#include "core/state/account.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/node_labels.hpp"
#include "core/state/price_cap.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

constexpr std::size_t kNodesNamed = 8;

std::string listed(const std::vector<std::string>& names, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " " + last + " " : ", ") + names[i];
  }
  return text;
}

// Which nodes match, and for each key without a node with a requested value, the values that exist.
std::vector<std::string> evidence_of_labels(const ClusterState& state, const Job& job) {
  const Selector& selector = job.spec.placement.selector;
  if (selector.empty()) return {};
  std::vector<std::string> matching;
  for (const auto& [id, node] : state.nodes) {
    if (matches(node, selector)) matching.push_back(node.name);
  }
  const std::size_t count = matching.size();
  if (count > kNodesNamed) {
    matching.resize(kNodesNamed - 1);
    matching.push_back(counted(static_cast<int>(count - matching.size()), "other"));
  }
  std::vector<std::string> lines{"it takes nodes with " + text_of(selector) + ": " +
                                 (count == 0 ? std::string("none has them all") : listed(matching, "and"))};
  for (const auto& [key, values] : selector) {
    std::set<std::string> known;
    for (const auto& [id, node] : state.nodes) {
      if (const std::string* label = label_of(node, key)) known.insert(*label);
    }
    const bool is_known =
        std::any_of(values.begin(), values.end(), [&](const auto& each) { return known.contains(each); });
    if (is_known) continue;
    const auto near = known.empty() ? std::nullopt : nearest_word(values.front(), {known.begin(), known.end()});
    lines.push_back(known.empty() ? "no node has a label " + key
                                  : "no node has " + key + " " + listed(values, "or") +
                                        (near && !near->empty() ? "; did you mean " + *near + "?" : ""));
  }
  return lines;
}

// What a slot must provide, and the highest amount on the nodes that report less.
std::vector<std::string> evidence_of_memory(const ClusterState& state, const Job& job) {
  if (!job.spec.memory) return {};
  const std::int64_t each = memory_asked_per_slot(job.spec);
  std::int64_t most = 0;
  for (const auto& [id, node] : state.nodes) {
    const std::int64_t share = node.memory_per_slot.value_or(0);
    if (share < each) most = std::max(most, share);
  }
  const int slots = job.spec.gpus_per_worker;
  std::string text = "a worker asks for " + rounded_byte_size(*job.spec.memory) + " of memory";
  if (slots > 1) text += " with " + counted(slots, "slot") + ", " + rounded_byte_size(each) + " of each";
  if (most > 0) text += "; of the nodes that give less, the largest gives " + rounded_byte_size(most) + " per slot";
  return {std::move(text)};
}

// In addition to their types.
std::vector<std::string> evidence_of_nodes(const ClusterState& state, const Job& job) {
  std::vector<std::string> lines = evidence_of_labels(state, job);
  for (std::string& line : evidence_of_memory(state, job)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

std::vector<std::string> evidence_of_types(const ClusterState& state, const Job& job) {
  const auto& asked = job.spec.slot_types;
  if (asked.empty()) return evidence_of_nodes(state, job);
  std::set<std::string> known;
  for (const auto& [id, node] : state.nodes) known.insert(node.slot_type);
  std::vector<std::string> others;
  for (const std::string& type : known) {
    if (!type.empty() && std::find(asked.begin(), asked.end(), type) == asked.end()) others.push_back(type);
  }
  std::string text = "it takes slots of type " + listed(asked, "or");
  if (!others.empty())
    text += "; " + listed(others, "and") + (others.size() == 1 ? " is" : " are") + " not in its list";
  std::vector<std::string> lines{std::move(text)};
  const double first = expected_speed(job, asked.front());
  for (std::size_t i = 1; i < asked.size(); ++i) {
    const double share = expected_speed(job, asked[i]) / first;
    if (share == 1) continue;
    lines.push_back("a worker on " + asked[i] + " is expected to do " + percent(share) + " of what one on " +
                    asked.front() + " does");
  }
  for (const std::string& type : asked) {
    if (known.contains(type)) continue;
    const auto near = nearest_word(type, {known.begin(), known.end()});
    lines.push_back("no node has slots of type " + type +
                    (near && !near->empty() ? "; did you mean " + *near + "?" : ""));
  }
  for (std::string& line : evidence_of_nodes(state, job)) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> evidence_of_price_cap(const ClusterState& state, const Job& job) {
  const auto& cap = job.spec.scaling.price_cap;
  if (const Money price = price_per_hour(state, job); cap && price > *cap) {
    const bool is_smallest = job.size() == job.spec.elastic.sizes.front();
    return {"its slots cost " + to_text(price) + " an hour, above its price cap of " + to_text(*cap) +
            (is_smallest ? "; it keeps its smallest size" : "")};
  }
  if (!is_bound_by_cap(state, job, dearest_slot(state))) return {};
  struct Nodes {
    int all = 0;
    int within = 0;
  };
  std::map<std::string, Nodes> of_type;
  for (const auto& [id, node] : state.nodes) {
    if (!node.takes_workers() || !may_run_on(job, node)) continue;
    Nodes& nodes = of_type[node.slot_type];
    ++nodes.all;
    nodes.within += may_run_within_cap(job, node) ? 1 : 0;
  }
  std::vector<std::string> lines;
  for (const auto& [type, nodes] : of_type) {
    if (nodes.within == nodes.all) continue;
    const std::string named = type.empty() ? "" : " of type " + type;
    lines.push_back(grouped(nodes.within) + " of " + counted(nodes.all, "node") + named +
                    (nodes.within == 1 ? " is" : " are") + " within its price cap of " +
                    to_text(*job.spec.scaling.price_cap) + " an hour, which leaves " + to_text(*slot_price_max(job)) +
                    " for each slot at its smallest size");
  }
  return lines;
}

std::vector<std::string> evidence_of_rules(const ClusterState& state, const Job& job) {
  const PlacementSpec& placement = job.spec.placement;
  std::vector<std::string> lines;
  if (placement.exclusive) lines.emplace_back("no other job is on nodes of its workers: placement.exclusive");
  const std::string& key = placement.key;
  std::string rule;
  switch (placement.strategy) {
    case TopologyStrategy::kPack: rule = key == kNodeLabel ? "" : "in as few values of " + key + " as are free"; break;
    case TopologyStrategy::kSpread: rule = "in as many values of " + key + " as are free"; break;
    case TopologyStrategy::kStrictPack: rule = "all in one " + key; break;
    case TopologyStrategy::kStrictSpread: rule = "each in a " + key + " of its own"; break;
  }
  if (rule.empty()) return lines;
  std::set<std::string> domains;
  for (const WorkerId id : job.membership.members) {
    const Worker* worker = state.find_worker(id);
    if (worker != nullptr) domains.insert(domain_text(domain_of(*state.find_node(worker->node), key), key));
  }
  const std::vector<std::string> names(domains.begin(), domains.end());
  const std::string now = names.empty()                ? ""
                          : names.size() > kNodesNamed ? ": " + counted(static_cast<int>(names.size()), "domain")
                                                       : ": " + listed(names, "and");
  lines.push_back("its workers are " + rule + now);
  return lines;
}

}  // namespace tidepool::core
