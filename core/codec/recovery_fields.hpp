// How the recovery data of a job are stored: its saved states, the one being transferred, and its losses; and its
// preemptions.
#pragma once

#include <nlohmann/json.hpp>

#include "base/codec/archive.hpp"
#include "core/state/job.hpp"

namespace tidepool::core {

void fields(auto& archive, codec::Like<SavedState> auto& kept) {
  archive("step", kept.step);
  archive("samples", kept.samples);
  archive("node", kept.node);
  archive("at", kept.at);
  archive("bytes", kept.bytes);
  archive("origin", kept.origin);
}

void fields(auto& archive, codec::Like<CheckpointFailure> auto& failure) {
  archive("step", failure.step);
  archive("times", failure.times);
  archive("at", failure.at);
  archive("detail", failure.detail);
}

void fields(auto& archive, codec::Like<StateMove> auto& move) {
  archive("step", move.step);
  archive("from", move.from);
  archive("to", move.to);
  archive("since", move.since);
}

// Stored next to the job's other fields.
void recovery_fields(auto& archive, auto& recovery) {
  archive("misconfigured", recovery.misconfigured);
  archive("ended_badly", recovery.ended_badly);
  archive("cooldown_waived", recovery.cooldown_waived);
  archive("quiet_exits", recovery.unconfirmed_exits);
  archive("quiet_since", recovery.unconfirmed_since);
  archive("parked", recovery.suspended);
  archive("checkpoint", recovery.checkpoint);
  archive("checkpoint_failure", recovery.checkpoint_failure);
  archive("held_since", recovery.waits_near_since);
  archive("moving", recovery.moving);
  archive("restarts", recovery.restarts);
  archive("lost_step", recovery.lost_step);
  archive("lost_there", recovery.lost_there);
  archive("lost_start", recovery.lost_start);
  archive("replacements", recovery.replacements);
  archive("shrunk_for_straggler", recovery.shrunk_for_straggler);
  archive("last_replacement_at", recovery.last_replacement_at);
  archive("last_error", recovery.last_error);
}

void fields(auto& archive, codec::Like<LeaveQuestion> auto& asked) {
  archive("for_job", asked.for_job);
  archive("decision", asked.decision);
  archive("answer_by", asked.answer_by);
  archive("yields", asked.yields);
}

void fields(auto& archive, codec::Like<ReleasedSlots> auto& gave) {
  archive("for_job", gave.for_job);
  archive("at", gave.at);
}

void preemption_fields(auto& archive, auto& preemption) {
  archive("pending_since", preemption.pending_since);
  archive("preempted_at", preemption.times);
  archive("room_made", preemption.room_made);
  archive("asked_to_leave", preemption.asked);
  archive("refused_until", preemption.refused_until);
  archive("gave_slots", preemption.released_slots);
}

// Jobs of earlier versions lack these fields.
inline void add_missing_preemptions(nlohmann::json& job) {
  if (!job.is_object()) return;
  job.emplace("pending_since", nullptr);
  job.emplace("preempted_at", nlohmann::json::array());
  job.emplace("room_made", false);
  job.emplace("asked_to_leave", nullptr);
  job.emplace("refused_until", nullptr);
  job.emplace("gave_slots", nlohmann::json::array());
}

// Verdicts of earlier versions name no domain.
inline void add_missing_cleared_domain(nlohmann::json& job) {
  if (!job.is_object() || !job.contains("verdict") || !job["verdict"].is_object()) return;
  nlohmann::json& verdict = job["verdict"];
  if (verdict.contains("blocked") && verdict["blocked"].is_object()) verdict["blocked"].emplace("domain", nullptr);
}

// Jobs of earlier versions lack state transfers.
inline void add_missing_moves(nlohmann::json& job) {
  if (!job.is_object()) return;
  job.emplace("moving", nullptr);
  for (const char* kept : {"parked", "checkpoint"}) {
    const auto state = job.find(kept);
    if (state == job.end() || !state->is_object()) continue;
    state->emplace("bytes", 0);
    state->emplace("origin", nullptr);
  }
}

// Jobs of earlier versions do not count the reversals of shares.
inline void add_missing_turns(nlohmann::json& job) {
  if (job.is_object()) job.emplace("share_turns", nlohmann::json::array());
}

// Jobs of earlier versions reported every epoch's audit. They have no record of programs that failed after the end of
// training, of checkpoints that could not be taken, of states that were not used, of ends that came near, or of the
// step or start in which workers were lost.
inline void add_missing_ends_audits_failures(nlohmann::json& job) {
  if (!job.is_object()) return;
  job.emplace("ended_badly", false);
  job.emplace("audits_told_to", nullptr);
  job.emplace("audits_untold", 0);
  job.emplace("checkpoint_failure", nullptr);
  job.emplace("unused_state", nullptr);
  job.emplace("lost_step", nullptr);
  job.emplace("lost_there", 0);
  job.emplace("lost_start", nullptr);
  job.emplace("late_at", nullptr);
}

void fields(auto& archive, codec::Like<LeaveNotice> auto& notice) {
  archive("decision", notice.decision);
  archive("reason", notice.reason);
  archive("due", notice.due);
  archive("by", notice.by);
  archive("answer", notice.answer);
  archive("answers", notice.answers);
  archive("granted", notice.granted);
  archive("refused", notice.refused);
}

// If the program had not answered or had refused, the notice can only have been granted through a refusal of the job.
inline void add_missing_refusal(nlohmann::json& notice) {
  if (!notice.is_object()) return;
  const auto is = [&](const char* name, const nlohmann::json& value) {
    return notice.contains(name) && notice.at(name) == value;
  };
  const bool may_be = is("answer", to_text(NoticeAnswer::kNone)) || is("answer", to_text(NoticeAnswer::kRefuse));
  notice.emplace("refused", may_be && is("granted", true));
}

}  // namespace tidepool::core
