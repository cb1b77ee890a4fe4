#include "schedulerd/live/http/numbers/labelled_gauges.hpp"

#include <iterator>

namespace tidepool::live::http {

LabelledGauges::LabelledGauges(prometheus::Registry& registry, const char* name, const char* help)
    : family_(prometheus::BuildGauge().Name(name).Help(help).Register(registry)) {}

void LabelledGauges::set(const Values& values) {
  for (auto gauge = gauges_.begin(); gauge != gauges_.end();) {
    const bool stays = values.contains(gauge->first);
    if (!stays) family_.Remove(gauge->second);
    gauge = stays ? std::next(gauge) : gauges_.erase(gauge);
  }
  for (const auto& [labels, value] : values) {
    auto& gauge = gauges_[labels];
    if (gauge == nullptr) gauge = &family_.Add(labels);
    gauge->Set(value);
  }
}

}  // namespace tidepool::live::http
