// Gauges of one name whose labels follow the state: those that have left it take their series with them.
#pragma once

#include <map>

#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/labels.h>
#include <prometheus/registry.h>

namespace tidepool::live::http {

class LabelledGauges {
 public:
  using Values = std::map<prometheus::Labels, double>;

  // `registry` outlives it.
  LabelledGauges(prometheus::Registry& registry, const char* name, const char* help);
  // All that there are from now on.
  void set(const Values& values);

 private:
  prometheus::Family<prometheus::Gauge>& family_;
  std::map<prometheus::Labels, prometheus::Gauge*> gauges_;
};

}  // namespace tidepool::live::http
