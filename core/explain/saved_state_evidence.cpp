#include "core/explain/saved_state_evidence.hpp"

#include "core/state/job_state.hpp"
#include "core/state/state_move.hpp"
#include "core/words/unused_state_words.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

// Only its node knows whether a state from there is already in the job's checkpoint folder.
std::string place_of_state(const ClusterState& state, const Job& job, const SavedState& kept) {
  const Node* node = state.find_node(kept.node);
  const bool has_folder = !job.spec.checkpoint.dir.empty();
  if (node == nullptr) {
    return has_folder
               ? " was written on a node that was removed; the job continues from it if it is in its checkpoint folder"
               : " was kept on a node that was removed";
  }
  if (!has_folder) return " is kept on node " + node->name;
  return " is kept in its checkpoint folder, or by node " + node->name + " until it is there";
}

// For a program that manages its own state, in a folder of each node's agent unless its job names one.
std::string place_of_own_state(const ClusterState& state, const Job& job) {
  const NodeId home = job.membership.restart_state.home;
  if (!home || !job.spec.checkpoint.dir.empty()) return "";
  const Node* node = state.find_node(home);
  if (node == nullptr) return "; what was in TIDEPOOL_CHECKPOINT_DIR was on a node that was removed";
  if (state.nodes.size() == 1) return "";
  return "; what is in TIDEPOOL_CHECKPOINT_DIR is on node " + node->name +
         " only: so that it can start elsewhere, set a checkpoint.dir that all nodes see";
}

// The state from which a job without workers would continue.
void add_kept_state(const ClusterState& state, const Job& job, std::vector<std::string>& out) {
  if (job.state() != JobState::kPending && job.state() != JobState::kSuspended) return;
  if (job.spec.resize == ResizeMode::kRestart) {
    if (job.started_at) {
      out.push_back("its program continues from its own newest checkpoint" + place_of_own_state(state, job));
    }
    return;
  }
  const std::size_t away = job.membership.on_lost_nodes.size();
  if (away > 0) {
    out.push_back(counted(static_cast<double>(away), "worker") +
                  " of it may still train on nodes that are away; it continues with " + (away == 1 ? "it" : "them") +
                  " if the nodes are back before it starts elsewhere");
  }
  const SavedState* kept = newest_kept(job);
  if (kept == nullptr) {
    if (job.progress.step > 0 && away == 0) out.push_back("no saved state is left; it would start from the beginning");
    return;
  }
  out.push_back("its state of step " + grouped(static_cast<double>(kept->step)) + place_of_state(state, job, *kept));
}

// The run began from an earlier step than a saved state: its workers found no usable state, or only an older one.
void add_unused_state(const Job& job, std::vector<std::string>& out) {
  const Membership& now = job.membership;
  if (job.state() != JobState::kRunning || !now.switched || now.commit.from_size != 0 || now.switch_step < 1) return;
  const SavedState* kept = newest_kept(job);
  if (kept != nullptr && kept->at > now.commit.at) return;
  const std::string from = "it started from step " + grouped(static_cast<double>(now.switch_step - 1)) + ": ";
  const auto& found = now.unused_state;
  if (found && found->step >= now.switch_step && (kept == nullptr || found->step >= kept->step)) {
    out.push_back(from + sentence(*found));
    return;
  }
  if (kept == nullptr || kept->step < now.switch_step) return;
  out.push_back(
      from + "its workers did not find or could not use its saved state of step " +
      grouped(static_cast<double>(kept->step)) +
      ". Their logs say why; a state of another program or of other data does not fit: if these "
      "have changed, restore the program and data that saved it, then suspend and resume the job to continue from it");
}

void add_failed_checkpoints(const Job& job, std::vector<std::string>& out) {
  const auto& failure = job.recovery.checkpoint_failure;
  if (!failure || is_final(job.state())) return;
  const std::string row =
      failure->times == 1 ? "its newest checkpoint" : "its newest " + grouped(double(failure->times)) + " checkpoints";
  const auto& good = job.recovery.checkpoint;
  out.push_back(row + " could not be taken (" + failure->detail + "); " +
                (good ? "the newest on disk is of step " + grouped(double(good->step)) : "none is on disk"));
}

}  // namespace

void add_saved_state_evidence(const ClusterState& state, const Job& job, std::vector<std::string>& evidence) {
  add_kept_state(state, job, evidence);
  add_unused_state(job, evidence);
  add_failed_checkpoints(job, evidence);
}

}  // namespace tidepool::core
