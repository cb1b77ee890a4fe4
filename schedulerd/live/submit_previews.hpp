// Dry runs of submissions and of resize requests: the engine decides them on a copy of the published picture, on a
// separate thread. The loop neither waits for one nor uses its result.
#pragma once

#include <functional>
#include <memory>

#include "core/decide/engine_parts.hpp"
#include "core/explain/submit_preview.hpp"
#include "schedulerd/live/policies/task_thread.hpp"
#include "schedulerd/live/service/service.hpp"

namespace tidepool::live {

// Decides the tried change on a copy of `seen`, which is not changed.
[[nodiscard]] Result<PreviewedSubmit> preview_on(const core::EngineParts& parts, const Published& seen,
                                                 const core::Tried& tried);

class SubmitPreviews {
 public:
  explicit SubmitPreviews(core::EngineParts parts) : parts_(std::move(parts)) {}

  // Calls `done` once on the thread of the previews, or at once with kUnavailable if too many wait already.
  void preview(std::shared_ptr<const Published> seen, core::Tried tried,
               std::function<void(Result<PreviewedSubmit>)> done);
  // Finishes the preview under way and drops the waiting ones. Idempotent.
  void stop() { thread_.stop(); }

 private:
  core::EngineParts parts_;
  TaskThread thread_;  // the last member: it ends before what it uses
};

}  // namespace tidepool::live
