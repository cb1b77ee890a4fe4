// The parts of an engine that decides by a policy, with timeouts that a random life of a cluster reaches.
#pragma once

#include <memory>
#include <string>

#include "policies/registry.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {

inline core::EngineConfig short_timeouts() {
  return {.start_timeout = Duration::seconds(40),
          .switch_timeout = Duration::seconds(15),
          .plan_every = Duration::seconds(20)};
}

// One of the daemon's own policies.
inline core::Engine::Parts parts_of(const std::string& policy) {
  return {policies::make_policies(policy).value(), {std::make_shared<PlainDetector>()}, short_timeouts()};
}

}  // namespace tidepool::test
