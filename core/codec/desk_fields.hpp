// The fields of the policy files that a state holds: the one in charge, its answer and the others. Private to the
// core's codecs.
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

// States of earlier versions have none.
inline void tell_no_later_fields_of_desk(nlohmann::json& desk) {
  if (!desk.is_object()) return;
  desk.emplace("pools", nlohmann::json::array());
  desk.emplace("told_at", nullptr);
  for (const char* file : {"active", "shadow"}) {
    if (desk.contains(file)) tell_no_later_hooks(desk[file]);
  }
  if (desk.contains("earlier")) {
    for (auto& file : desk["earlier"]) tell_no_later_hooks(file);
  }
  if (desk.contains("answer")) tell_no_later_answers(desk["answer"]);
}

}  // namespace tidepool::core
