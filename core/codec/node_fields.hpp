// The fields of what closes a node to new workers. Private to the core's codecs.
#pragma once

#include "base/codec/archive.hpp"
#include "base/codec/text_writer.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

void fields(auto& archive, codec::Like<NodeDamping> auto& damping) {
  archive("half_life", damping.half_life);
  archive("suppress", damping.suppress);
  archive("reuse", damping.reuse);
  archive("longest", damping.longest);
}

void fields(auto& archive, codec::Like<NodeFaults> auto& faults) {
  archive("penalty", faults.penalty);
  archive("first_at", faults.first_at);
  archive("newest_at", faults.newest_at);
  archive("losses", faults.losses);
  archive("failed_starts", faults.failed_starts);
  archive("failed_job", faults.failed_job);
  archive("until", faults.until);
}

void fields(auto& archive, codec::Like<NodeReclaim> auto& reclaim) {
  archive("at", reclaim.at);
  archive("asked", reclaim.asked);
}

void fields(auto& archive, codec::Like<NodeDrain> auto& drain) {
  archive("since", drain.since);
  archive("deadline", drain.deadline);
  archive("reason", drain.reason);
  archive("reclaim", drain.reclaim);
}

}  // namespace tidepool::core
