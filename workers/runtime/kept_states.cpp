#include "workers/runtime/kept_states.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.hpp"
#include "workers/runtime/checkpoint/checkpoint_folder.hpp"
#include "workers/runtime/log.hpp"

namespace tidepool::runtime {
namespace fs = std::filesystem;

SavedStates::SavedStates(KeepOptions options, WorkerId self, ReplicaState& replica, std::uint64_t samples)
    : options_(std::move(options)), self_(self), replica_(replica), samples_(samples), tag_(tag_of(options_.owner)) {}

SavedStates::~SavedStates() {
  finish_writing();
}

void SavedStates::finish_writing() {
  if (writer_.joinable()) writer_.join();
}

bool SavedStates::due(TimePoint now) const {
  return options_.every.count() > 0 && !options_.checkpoint_folder.empty() && now - last_ >= options_.every;
}

CheckpointHeader SavedStates::header_of(const Progress& progress) const {
  const ProgressWords words = to_words(progress);
  return {.owner = options_.owner,
          .layout = replica_.layout(),
          .step = progress.steps,
          .progress = {words.begin(), words.end()}};
}

std::vector<NamedBytes> SavedStates::pieces_in(std::span<const std::byte> bytes) const {
  std::vector<NamedBytes> pieces;
  for (const ReplicaState::Piece& piece : replica_.pieces()) {
    pieces.push_back({.name = piece.name, .bytes = bytes.first(piece.memory.size())});
    bytes = bytes.subspan(piece.memory.size());
  }
  return pieces;
}

Result<SavedState> SavedStates::write(const fs::path& folder, const CheckpointHeader& header,
                                      std::span<const NamedBytes> pieces) const {
  const TimePoint begin = Clock::now();
  auto path = publish_checkpoint(folder, {.tag = tag_, .step = header.step, .worker = self_},
                                 [&](const fs::path& file) { return write_checkpoint(file, header, pieces); });
  if (!path.ok()) return path.error();
  return SavedState{.path = *std::move(path),
                    .step = header.step,
                    .bytes = replica_.bytes(),
                    .write_ms = millis_between(begin, Clock::now())};
}

void SavedStates::take(const Progress& progress, Done done) {
  if (options_.checkpoint_folder.empty()) return done(invalid_argument("TIDEPOOL_CHECKPOINT_DIR names no folder"));
  TP_CHECK(!writing_, "one checkpoint is written at a time");
  finish_writing();
  copy_.resize(static_cast<std::size_t>(replica_.bytes()));
  if (const Status copied = replica_.copy_to(copy_); !copied.ok()) return done(copied.error());
  writing_ = true;
  writer_ = std::thread([this, header = header_of(progress), done = std::move(done)] {
    const auto kept = write(options_.checkpoint_folder, header, pieces_in(copy_));
    writing_ = false;
    if (kept.ok()) prune_checkpoints(options_.checkpoint_folder, {.tag = tag_, .step = kept->step}, options_.keep);
    done(kept);
  });
}

Result<SavedState> SavedStates::park(const Progress& progress) {
  std::vector<NamedBytes> pieces;
  std::vector<std::vector<std::byte>> copies(replica_.pieces().size());  // copies of memory on the GPU
  for (const ReplicaState::Piece& piece : replica_.pieces()) {
    const auto bytes = replica_.view(piece.memory, piece.lies, copies[pieces.size()]);
    if (!bytes.ok()) return bytes.error();
    pieces.push_back({piece.name, *bytes});
  }
  std::string why;
  for (const fs::path& folder : {options_.park_folder, options_.checkpoint_folder}) {
    if (folder.empty()) continue;
    // A checkpoint of the same step has the same name there.
    if (folder == options_.checkpoint_folder) finish_writing();
    auto kept = write(folder, header_of(progress), pieces);
    if (kept.ok()) return kept;
    log_warning(kept.error().message);
    why = kept.error().message;
  }
  return Error{ErrorCode::kIo, why.empty() ? "there is no place to keep the state: neither TIDEPOOL_PARK_DIR nor "
                                             "TIDEPOOL_CHECKPOINT_DIR is set"
                                           : "the state could not be kept: " + why};
}

namespace {

// Classifies the error of opening or reading a file: damaged() returns kInvalidArgument.
UnusedWhy why_unused(const Error& error) {
  return error.code == ErrorCode::kInvalidArgument ? UnusedWhy::kDamaged : UnusedWhy::kUnreadable;
}

}  // namespace

void SavedStates::drop(api::UnusedState dropped, const std::string& said) {
  log_warning("skipped: " + said);
  if (dropped.step > api::kWorkMax) return;  // a file's name may contain any number
  if (!unused_ || dropped.step > unused_->step) unused_ = dropped;
}

void SavedStates::look_for_candidates() {
  candidates_.emplace();
  // Memory first: a file that the agent is moving to disk is seen in at least one of the two folders.
  for (const fs::path& folder : {options_.park_folder, options_.checkpoint_folder}) {
    if (folder.empty()) continue;
    remove_unfinished(folder, tag_);  // no living process could finish it
    for (const fs::path& path : checkpoints_in(folder, tag_)) {
      auto file = CheckpointFile::open(path);
      std::error_code error;
      if (!file.ok() && !fs::exists(path, error) && !error)
        continue;  // it is being moved, and is seen in the other folder
      const std::int64_t step = CheckpointName::parse(path.filename().string())->step;
      if (!file.ok()) {
        drop({.step = step, .why = why_unused(file.error())}, file.error().message);
      } else if (file->header().owner != options_.owner || file->header().layout != replica_.layout()) {
        drop({.step = step, .why = UnusedWhy::kOtherLayout},
             path.string() + " is of another program or other data: its layout differs");
      } else {
        candidates_->push_back({.path = path, .file = *std::move(file)});
      }
    }
  }
  const auto key = [](const Candidate& candidate) { return std::tie(candidate.file.header().step, candidate.path); };
  std::sort(candidates_->begin(), candidates_->end(),
            [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
}

std::optional<std::int64_t> SavedStates::newest_step() {
  if (!candidates_) look_for_candidates();
  if (candidates_->empty()) return std::nullopt;
  return candidates_->back().file.header().step;
}

std::optional<Progress> SavedStates::restore_newest() {
  // It stays the newest candidate: if this generation fails before it begins, the next one restores it again.
  const Candidate& newest = candidates_->back();
  auto progress = restore(newest);
  if (progress.ok()) return *progress;
  const CheckpointHeader& header = newest.file.header();
  const bool fits = check_progress_words(header.progress, samples_).ok();
  drop({.step = header.step, .why = fits ? why_unused(progress.error()) : UnusedWhy::kOtherLayout},
       progress.error().message);
  candidates_->pop_back();
  return std::nullopt;
}

Result<Progress> SavedStates::restore(const Candidate& candidate) {
  auto progress = check_progress_words(candidate.file.header().progress, samples_);
  if (!progress.ok()) return invalid_argument(candidate.path.string() + ": " + progress.error().message);
  const auto bytes = candidate.file.read();
  if (!bytes.ok()) return bytes.error();
  if (std::cmp_not_equal(bytes->size(), replica_.bytes())) {
    return invalid_argument(candidate.path.string() + " holds " + std::to_string(bytes->size()) + " bytes instead of " +
                            std::to_string(replica_.bytes()));
  }
  TP_TRY(replica_.adopt(*bytes));
  restored_ = {.path = candidate.path, .step = progress->steps, .bytes = replica_.bytes()};
  log_info("continues from step " + std::to_string(progress->steps) + " of " + candidate.path.string());
  return progress;
}

}  // namespace tidepool::runtime
