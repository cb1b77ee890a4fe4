// What gives nodes and takes them back: one file and one row of provider_table.cpp each. Called on a thread of its own
// pool, one call at a time; a call may take as long as its limit and must then return.
//
// Rule: each call can be made again. create() with the same request answers with the same node, end() of one that is
// not there succeeds, and list() has every node that may still cost money, whatever the daemon has told it since.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "core/state/node_pools.hpp"

namespace tidepool::live {

// What a call has come to: a value, or why there is none.
template <class T>
struct Provided {
  std::optional<T> value;
  core::ProviderFault fault = core::ProviderFault::kRefused;
  std::string detail;

  static Provided failed(core::ProviderFault fault, std::string detail) { return {{}, fault, std::move(detail)}; }
};

struct NodeToCreate {
  std::string request;  // "CLUSTER-12": unique over all daemons
  std::string name;     // under which its agent must join
  int slots = 1;
  std::string slot_type;
};
struct ProvidedNode {
  std::string request;
  std::string id;
  std::optional<Duration> lifetime;  // it ends by itself so long from now
};
struct NodeToEnd {
  std::string request;
  std::string id;  // empty: the provider has never told one
};
struct Ended {};

class NodeProvider {
 public:
  virtual ~NodeProvider() = default;
  [[nodiscard]] virtual Provided<ProvidedNode> create(const NodeToCreate& node) = 0;
  [[nodiscard]] virtual Provided<Ended> end(const NodeToEnd& node) = 0;
  [[nodiscard]] virtual Provided<std::vector<ProvidedNode>> list() = 0;
};

// What every provider is made from; `settings` are its own, as the configuration has them.
struct ProviderSetup {
  std::string pool;
  std::string cluster;  // id of this daemon's cluster
  std::vector<std::string> command;
  nlohmann::json settings;
  std::chrono::milliseconds limit{};  // of one call
};

}  // namespace tidepool::live
