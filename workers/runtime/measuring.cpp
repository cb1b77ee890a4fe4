// Plans a generation's batch, and measures the gradient's noise from its steps: from the shares of several ranks, or
// for a lone worker from two consecutive steps. All ranks compute it from the same sums.
#include "workers/runtime/live_session.hpp"

#include <array>
#include <bit>

namespace tidepool::runtime {
namespace {

// The program's own rule is called on rank 0, and its answer is sent to all ranks.
Result<BatchChoice> ask_program(Comm& comm, const SessionOptions& options, const BatchQuestion& question) {
  BatchChoice choice;
  if (comm.rank() == 0) choice = options.batch_rule(question);
  std::array<std::uint64_t, 2> words = {choice.global_batch, std::bit_cast<std::uint64_t>(choice.lr_factor)};
  TP_TRY(comm.broadcast(std::as_writable_bytes(std::span(words)), 0));
  choice = {.global_batch = words[0], .lr_factor = std::bit_cast<double>(words[1])};
  TP_TRY(check_choice(choice));
  return choice;
}

}  // namespace

Status LiveSession::plan_batch(int size) {
  schedule_.adopt(progress_.schedule);
  if (schedule_.rules().on_resize == OnResize::kCallback) {
    const auto choice = ask_program(*comm_, options_, schedule_.question(size, progress_.steps));
    if (!choice.ok()) return choice.error();
    schedule_.enter(*choice, progress_.steps);
  } else {
    schedule_.enter(size, progress_.steps);
  }
  ledger_.set_global_batch(schedule_.global_batch());
  last_gradient_.clear();
  return ok_status();
}

bool LiveSession::noise_due(std::int64_t step) const {
  if (options_.noise_every > 0) return step % options_.noise_every == 0;
  return options_.on_resize == OnResize::kAdaScale;
}

Status LiveSession::measure_noise() {
  noise_.reset();
  const bool due = noise_due(progress_.steps);
  if (comm_->size() > 1) {
    if (!due) return ok_status();
    noise_ = noise_across_ranks({.rank_terms = sums_.noise_terms,
                                 .ranks = sums_.noise_ranks,
                                 .total_square = reducer_.total_square(),
                                 .samples = sums_.fed.count});
    return ok_status();
  }
  const bool compares = due && !last_gradient_.empty();
  const bool keeps = noise_due(progress_.steps + 1);
  if (!compares && !keeps) {
    last_gradient_.clear();
    return ok_status();
  }
  const auto gradient = reducer_.on_host();
  if (!gradient.ok()) return gradient.error();
  if (compares) {
    noise_ = noise_across_steps({.before_square = square_of(last_gradient_),
                                 .square = reducer_.total_square(),
                                 .dot = dot_product(last_gradient_, *gradient),
                                 .before_samples = last_samples_,
                                 .samples = sums_.fed.count});
  }
  last_gradient_.clear();
  if (keeps) {
    last_gradient_.assign(gradient->begin(), gradient->end());
    last_samples_ = sums_.fed.count;
  }
  return ok_status();
}

}  // namespace tidepool::runtime
