// What /metrics says of pools of nodes that a provider gives. The label is bounded by the configuration: a pool that
// leaves the state takes the gauges of its nodes with it.
#pragma once

#include <map>
#include <string>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include "core/state/cluster_state.hpp"
#include "core/state/event.hpp"

namespace tidepool::live::http {

class PoolSeries {
 public:
  explicit PoolSeries(prometheus::Registry& registry);
  void observe(const core::Event& event);
  void set(const core::NodePools& pools);

 private:
  prometheus::Family<prometheus::Gauge>& nodes_;
  prometheus::Family<prometheus::Counter>& failures_;
  std::map<std::pair<std::string, std::string>, prometheus::Gauge*> gauges_;  // by pool and state
};

}  // namespace tidepool::live::http
