// Dry runs of submissions and of wishes for a size: the engine decides them on a copy of the published picture, on a
// thread of their own. The loop neither waits for one nor learns of it; what a dry run costs is its own thread's time.
#pragma once

#include <functional>
#include <memory>

#include "core/decide/engine_parts.hpp"
#include "core/explain/submit_preview.hpp"
#include "schedulerd/live/policies/task_thread.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live {

// What is tried, decided on a copy of `seen`, which stays as it is.
[[nodiscard]] Result<PreviewedSubmit> preview_on(const core::EngineParts& parts, const Published& seen,
                                                 const core::Tried& tried);

class SubmitPreviews {
 public:
  explicit SubmitPreviews(core::EngineParts parts) : parts_(std::move(parts)) {}

  // Calls `done` once on the thread of the previews, or at once with kUnavailable if too many wait already.
  void preview(std::shared_ptr<const Published> seen, core::Tried tried,
               std::function<void(Result<PreviewedSubmit>)> done);
  // What is under way is finished, what waits is dropped. Idempotent.
  void stop() { thread_.stop(); }

 private:
  core::EngineParts parts_;
  TaskThread thread_;  // the last member: it ends before what it uses
};

}  // namespace tidepool::live
