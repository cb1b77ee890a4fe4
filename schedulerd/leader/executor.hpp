// Turns accepted decisions and the state into orders for agents and workers. It sends nothing itself, so that its
// caller can wait for the commit first. Pure: the daemon and the simulator use the same code.
//
// Every message may be sent twice: an agent never starts a worker id twice, and a generation is fenced by its number.
// So after a reconnect everything that may have been missed is sent again.
#pragma once

#include <optional>
#include <vector>

#include "api/worker_protocol.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/plan.hpp"
#include "schedulerd/leader/address_book.hpp"
#include "schedulerd/leader/orders.hpp"

namespace tidepool::leader {

// The consequences of one decision: notes for its batch, and orders that are sent after it.
struct Effects {
  std::vector<NodeOrder> orders;
  std::vector<WorkerId> started;
};

// How long the states of a failed job are kept after its end, so that its user can examine them.
inline constexpr Duration kFailedStatesStay = Duration::seconds(24 * 3'600);

class Executor {
 public:
  // `state`: after accept().
  [[nodiscard]] Effects carry_out(const core::Decision& decision, const core::ClusterState& state);

  // Everything that `node`, which has just joined with these running workers, may have missed.
  [[nodiscard]] std::vector<Order> catch_up(NodeId node, const std::vector<WorkerId>& running,
                                            const core::ClusterState& state) const;

  // A worker has reconnected in `generation`: it is sent the newer one, if any.
  [[nodiscard]] std::vector<NodeOrder> on_relink(WorkerId worker, GenerationNumber generation,
                                                 const core::ClusterState& state) const;
  // Its program has answered a notice: all workers that leave with it are sent their new deadline.
  [[nodiscard]] static std::vector<NodeOrder> on_answer(WorkerId worker, const core::ClusterState& state);
  // Orders the members to take a checkpoint. Requires: the job exists.
  [[nodiscard]] static std::vector<NodeOrder> order_checkpoint(JobId job, const core::ClusterState& state);
  // The order to delete the states of a job that ended at that time.
  [[nodiscard]] static api::ForgetJob forget_order(JobId job, bool failed, Instant ended, Instant now);
  // Call when a rank has published its address; once all have, all addresses go to every member.
  [[nodiscard]] std::vector<NodeOrder> on_address(WorkerId worker, const api::AddressMessage& address,
                                                  const core::ClusterState& state);

 private:
  // All addresses of the newest generation, once they may be sent: an agent starts a restartable program when it
  // receives them.
  [[nodiscard]] std::optional<api::AddressesMessage> addresses_for_rank(const core::Job& job, int rank) const;
  // The message for this worker; none if it is no member.
  [[nodiscard]] std::optional<api::ToWorkerOrder> addresses_for(WorkerId member, const core::Job& job) const;

  AddressBook addresses_;
};

}  // namespace tidepool::leader
