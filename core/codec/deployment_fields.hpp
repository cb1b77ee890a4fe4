// The fields of the policy files in a state: the active file, its answer and the other files. Journals call them
// "desk". Private to the core's codecs.
#pragma once

#include "core/codec/codec_fields.hpp"
#include "core/state/policy_deployment.hpp"

namespace tidepool::core {

void fields(auto& archive, codec::Like<PolicyDeployment> auto& deployment) {
  archive("active", deployment.active);
  archive("earlier", deployment.earlier);
  archive("shadow", deployment.shadow);
  archive("since", deployment.since);
  archive("next_round", deployment.next_round);
  archive("rounds", deployment.rounds);
  archive("failures", deployment.failures);
  archive("answer", deployment.answer);
  archive("job_ended", deployment.job_ended);
  archive("pools", deployment.pools);
  archive("told_at", deployment.told_at);
}

// States of earlier versions lack these fields.
inline void add_missing_fields_of_deployment(nlohmann::json& deployment) {
  if (!deployment.is_object()) return;
  deployment.emplace("pools", nlohmann::json::array());
  deployment.emplace("told_at", nullptr);
  for (const char* file : {"active", "shadow"}) {
    if (deployment.contains(file)) add_missing_hooks(deployment[file]);
  }
  if (deployment.contains("earlier")) {
    for (auto& file : deployment["earlier"]) add_missing_hooks(file);
  }
  if (deployment.contains("answer")) add_missing_answers(deployment["answer"]);
}

}  // namespace tidepool::core
