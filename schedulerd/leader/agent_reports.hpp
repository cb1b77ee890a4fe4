// Takes in what agents report: facts for the engine, and direct answers to the agent. A node speaks only for its own
// workers; what it says of others is ignored.
#pragma once

#include "schedulerd/leader/turn_batch.hpp"

namespace tidepool::leader {

// Admits the agent and tells it what it may have missed, or refuses it.
void take_hello(const AgentHelloItem& item, TurnBatch& batch);
void take_loss(const AgentLostItem& item, TurnBatch& batch);
// Acknowledged in any case: of an unknown worker everything is known already, and repeating does not make it true.
void take_exit(const WorkerExitedItem& item, TurnBatch& batch);
void take_message(const FromWorkerItem& item, TurnBatch& batch);
void take_stuck(const WorkerStuckItem& item, TurnBatch& batch);
void take_held(const SlotsHeldItem& item, TurnBatch& batch);
void take_probe(const NodeProbedItem& item, TurnBatch& batch);
// What is told again, as after each welcome, is no fact.
void take_reclaim(const NodeReclaimItem& item, TurnBatch& batch);
// States of jobs that have ended may go, also if the journal keeps nothing of them any more. Those of jobs that this
// journal has never had (an older copy of it was restored) are not its to judge.
void take_kept_jobs(const KeptJobsItem& item, TurnBatch& batch);

}  // namespace tidepool::leader
