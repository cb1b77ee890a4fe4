#include "core/decide/engine_parts.hpp"

namespace tidepool::core {

bool EngineParts::file_decides(const ClusterState& state) const {
  return state.desk.active && file_policy != nullptr;
}

const Policy& EngineParts::in_charge(const ClusterState& state) const {
  return file_decides(state) ? *file_policy : *policies.at("default");
}

std::string EngineParts::name_in_charge(const ClusterState& state) const {
  return file_decides(state) ? short_name(*state.desk.active) : std::string(in_charge(state).name());
}

}  // namespace tidepool::core
