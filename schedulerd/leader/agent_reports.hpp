// Handles reports of agents: facts for the engine, and direct answers to the agent. A node speaks only for its own
// workers; its reports about others are ignored.
#pragma once

#include "schedulerd/leader/turn_batch.hpp"

namespace tidepool::leader {

// Admits the agent and sends it what it may have missed, or refuses it.
void take_hello(const AgentHelloItem& item, TurnBatch& batch);
void take_loss(const AgentLostItem& item, TurnBatch& batch);
// Acknowledges in any case: the end of an unknown worker is known already, and a repeated report must not be sent
// again.
void take_exit(const WorkerExitedItem& item, TurnBatch& batch);
void take_message(const FromWorkerItem& item, TurnBatch& batch);
void take_stuck(const WorkerStuckItem& item, TurnBatch& batch);
void take_held(const SlotsHeldItem& item, TurnBatch& batch);
void take_probe(const NodeProbedItem& item, TurnBatch& batch);
// A repeated report, as after each welcome, is no fact.
void take_reclaim(const NodeReclaimItem& item, TurnBatch& batch);
// Allows the agent to delete states of ended jobs, also if the journal no longer keeps the job. States of jobs that
// this journal never had (an older copy of it was restored) are kept.
void take_kept_jobs(const KeptJobsItem& item, TurnBatch& batch);

}  // namespace tidepool::leader
