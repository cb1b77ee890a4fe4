#include "schedulerd/live/submit_previews.hpp"

#include <utility>

namespace tidepool::live {
namespace {

constexpr std::size_t kDryRunsMost = 16;

}  // namespace

Result<PreviewedSubmit> preview_on(const core::EngineParts& parts, const Published& seen, const core::Tried& tried) {
  auto preview = core::preview_submit(parts, seen.state, tried, seen.now);
  if (!preview.ok()) return preview.error();
  auto picture = std::make_shared<Published>(seen);
  picture->state = std::move(preview->after);
  return PreviewedSubmit{.picture = std::move(picture),
                         .job = preview->job,
                         .places = std::move(preview->places),
                         .changes = std::move(preview->changes)};
}

void SubmitPreviews::preview(std::shared_ptr<const Published> seen, core::Tried tried,
                             std::function<void(Result<PreviewedSubmit>)> done) {
  const bool taken = thread_.post(
      [this, seen = std::move(seen), tried = std::move(tried), done] { done(preview_on(parts_, *seen, tried)); },
      kDryRunsMost);
  if (!taken) done(Error{ErrorCode::kUnavailable, "too many dry runs wait; try again in a second"});
}

}  // namespace tidepool::live
