#include "workers/runtime/handover.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace tidepool::runtime {
namespace {

// One rank's line in the allgather: its progress, and the layout of its state.
constexpr std::size_t kLineWords = kProgressWords + 1;
constexpr std::int64_t kNoState = -1;

struct Member {
  Progress progress;
  std::int64_t layout = 0;

  // The step that this member can send to others.
  [[nodiscard]] std::int64_t step() const { return progress.has_state ? progress.steps : kNoState; }
};

// The lowest rank among those with the highest number.
int best_rank(std::span<const std::int64_t> steps) {
  return static_cast<int>(std::max_element(steps.begin(), steps.end()) - steps.begin());
}

std::vector<std::int64_t> steps_of(const std::vector<Member>& members) {
  std::vector<std::int64_t> steps;
  for (const Member& member : members) steps.push_back(member.step());
  return steps;
}

// "samples, seed": the parts in which the layouts of two ranks differ. All ranks call it, because all have seen a
// difference.
std::string differing_parts(Comm& comm, const ReplicaState& state, int one, int other) {
  const auto parts = state.layout_parts();
  std::vector<std::int64_t> mine;
  for (const ReplicaState::Part& part : parts) mine.push_back(static_cast<std::int64_t>(part.number));
  const auto all = comm.allgather(mine);
  if (!all.ok() || all->size() != parts.size() * static_cast<std::size_t>(comm.size())) return "its state";
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto of = [&](int rank) { return (*all)[static_cast<std::size_t>(rank) * parts.size() + i]; };
    if (of(one) != of(other)) text += (text.empty() ? "" : ", ") + parts[i].name;
  }
  return text.empty() ? "its state" : text;
}

// A rank whose layout differs from that of the newest state's holder cannot continue; the others can, once it has left.
Status check_layouts(Comm& comm, const ReplicaState& state, const std::vector<Member>& members) {
  const int root = best_rank(steps_of(members));
  const std::int64_t layout = members[static_cast<std::size_t>(root)].layout;
  const auto differs = [&](const Member& any) { return any.layout != layout; };
  const auto first = std::ranges::find_if(members, differs);
  if (first == members.end()) return ok_status();
  const bool itself = differs(members[static_cast<std::size_t>(comm.rank())]);
  const int odd = itself ? comm.rank() : static_cast<int>(first - members.begin());
  const std::string what = "rank " + std::to_string(odd) + ", differs from rank " + std::to_string(root) + " in " +
                           differing_parts(comm, state, odd, root);
  const std::string rule = ": all workers of a job must run the same program on the same data";
  if (itself) return invalid_argument("this worker, " + what + rule);
  return Error{ErrorCode::kUnavailable, "a worker, " + what + ", and leaves" + rule};
}

Result<std::vector<Member>> ask_all(Comm& comm, const ReplicaState& state, const Progress& mine) {
  std::array<std::int64_t, kLineWords> line{};
  std::ranges::copy(to_words(mine), line.begin());
  line.back() = static_cast<std::int64_t>(state.layout());
  const auto gathered = comm.allgather(line);
  if (!gathered.ok()) return gathered.error();
  std::vector<Member> members;
  for (std::size_t begin = 0; begin < gathered->size(); begin += kLineWords) {
    const std::span<const std::int64_t> words = std::span(*gathered).subspan(begin, kLineWords);
    members.push_back({.progress = progress_from_words(words.first(kProgressWords)), .layout = words.back()});
  }
  TP_TRY(check_layouts(comm, state, members));
  return members;
}

// What a rank reports about its StateSource.
struct Offer {
  std::int64_t step = kNoState;    // that can be restored
  std::int64_t unused = kNoState;  // the newest state that was dropped
  std::int64_t why = 0;
};
constexpr std::size_t kOfferWords = 3;

Result<std::vector<Offer>> ask_offers(Comm& comm, StateSource* kept) {
  Offer mine;
  if (kept != nullptr) {
    mine.step = kept->newest_step().value_or(kNoState);
    if (const auto unused = kept->newest_unused()) {
      mine.unused = unused->step;
      mine.why = static_cast<std::int64_t>(unused->why);
    }
  }
  const std::array<std::int64_t, kOfferWords> line{mine.step, mine.unused, mine.why};
  const auto gathered = comm.allgather(line);
  if (!gathered.ok()) return gathered.error();
  std::vector<Offer> offers;
  for (std::size_t at = 0; at + kOfferWords <= gathered->size(); at += kOfferWords) {
    offers.push_back({.step = (*gathered)[at], .unused = (*gathered)[at + 1], .why = (*gathered)[at + 2]});
  }
  return offers;
}

// The newest state above `step` that any rank has dropped.
std::optional<api::UnusedState> unused_above(std::int64_t step, const std::vector<Offer>& offers) {
  const Offer& newest = *std::ranges::max_element(offers, {}, &Offer::unused);
  if (newest.unused <= std::max(step, kNoState)) return std::nullopt;
  return api::UnusedState{.step = newest.unused, .why = static_cast<UnusedWhy>(newest.why)};
}

struct Restoring {
  std::optional<Progress> progress;  // none: there is no state, or another rank has restored it
  std::optional<api::UnusedState> unused;
};

// No member has a state: the rank with the newest kept state restores it; if that is damaged, the next newest one is
// tried, on whatever rank.
Result<Restoring> restore_somewhere(Comm& comm, StateSource* kept) {
  for (;;) {
    const auto offers = ask_offers(comm, kept);
    if (!offers.ok()) return offers.error();
    const auto best = std::ranges::max_element(*offers, {}, &Offer::step);
    const auto unused = unused_above(best->step, *offers);
    if (best->step == kNoState) return Restoring{.progress = std::nullopt, .unused = unused};
    const int chosen = static_cast<int>(best - offers->begin());
    std::optional<Progress> restored;
    if (comm.rank() == chosen) restored = kept->restore_newest();
    const std::int64_t done = restored ? 1 : 0;
    const auto answers = comm.allgather({&done, 1});
    if (!answers.ok()) return answers.error();
    if ((*answers)[static_cast<std::size_t>(chosen)] == 1) return Restoring{.progress = restored, .unused = unused};
  }
}

}  // namespace

Result<HandoverOutcome> hand_over(Comm& comm, const ReplicaState& state, const Progress& mine, HandoverMeans means) {
  auto members = ask_all(comm, state, mine);
  if (!members.ok()) return members.error();
  HandoverOutcome outcome;
  if (std::ranges::none_of(*members, [](const Member& member) { return member.progress.has_state; })) {
    auto restored = restore_somewhere(comm, means.kept);
    if (!restored.ok()) return restored.error();
    outcome.restored = restored->progress.has_value();
    outcome.unused = restored->unused;
    members = ask_all(comm, state, restored->progress.value_or(mine));
    if (!members.ok()) return members.error();
  }
  const std::vector<std::int64_t> steps = steps_of(*members);
  const int root = best_rank(steps);
  const std::int64_t newest = steps[static_cast<std::size_t>(root)];
  // Without any state all ranks start from the initial values of the root.
  std::vector<bool> lacks;
  for (int rank = 0; rank < comm.size(); ++rank) {
    lacks.push_back(rank != root && (newest == kNoState || steps[static_cast<std::size_t>(rank)] < newest));
  }
  const auto receivers = std::count(lacks.begin(), lacks.end(), true);
  outcome.progress = (*members)[static_cast<std::size_t>(root)].progress;
  outcome.progress.has_state = true;
  outcome.received = lacks[static_cast<std::size_t>(comm.rank())];
  // Each rank reports for itself whether its program has ended, unless all ranks that have the newest state report it.
  const bool all_ended = std::ranges::all_of(
      *members, [&](const Member& member) { return member.step() != newest || member.progress.finishing; });
  outcome.progress.finishing = outcome.received ? all_ended : mine.finishing;
  if (receivers == 0) return outcome;
  const auto moved = means.transfer.send_rest(comm, root, lacks);
  if (!moved.ok()) return moved.error();
  outcome.bytes_moved = receivers * *moved;
  return outcome;
}

}  // namespace tidepool::runtime
