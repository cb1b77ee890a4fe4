// What /metrics says of pools of nodes that a provider gives. The label is bounded by the configuration: a pool that
// leaves the state takes the gauges of its nodes with it.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/registry.h>

#include "core/state/cluster_state.hpp"
#include "core/state/event.hpp"
#include "schedulerd/live/http/numbers/labelled_gauges.hpp"

namespace tidepool::live::http {

class PoolSeries {
 public:
  explicit PoolSeries(prometheus::Registry& registry);
  void observe(const core::Event& event);
  void set(const core::NodePools& pools);

 private:
  LabelledGauges nodes_;  // by pool and state
  prometheus::Family<prometheus::Counter>& failures_;
};

}  // namespace tidepool::live::http
