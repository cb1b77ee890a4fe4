// A round's facts as the host reads them: the daemon's region, through pointers that were checked once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "policies/host/shared_image.hpp"

namespace tidepool::policies::host::process {

struct Facts {
  tidepool_view view{};
  std::span<const ParamRecord> params;
  std::uint64_t seed = 0;
  std::array<const double*, TIDEPOOL_JOB_COLUMNS> job{};
  std::array<const double*, TIDEPOOL_NODE_COLUMNS> node{};
  std::array<const double*, TIDEPOOL_TENANT_COLUMNS> tenant{};
  std::array<const double*, TIDEPOOL_POOL_COLUMNS> pool{};
  std::array<const double*, TIDEPOOL_COST_COLUMNS> cost{};

  // False if the region does not contain what its header says; `view` is then invalid. A Facts must not be moved
  // afterwards: the view points into it.
  [[nodiscard]] bool read(const void* region);
  // The hooks that there is something to ask of: share where tenants share the pool, provision where there are pools,
  // and that alone where nothing could be done for jobs.
  [[nodiscard]] std::uint32_t hooks_asked() const;
  Facts() = default;
  Facts(const Facts&) = delete;
  Facts& operator=(const Facts&) = delete;
};

// Where answers go, with room for every job, tenant row and pool row of the round.
class Answers {
 public:
  Answers(void* region, const tidepool_view& view)
      : bytes_(static_cast<std::byte*>(region)),
        layout_(view.jobs, view.tenant_rows, view.pool_rows),
        jobs_(view.jobs) {}

  [[nodiscard]] AnswersHeader& header() const { return *reinterpret_cast<AnswersHeader*>(bytes_); }
  [[nodiscard]] double* admit() const { return at(layout_.admit); }
  [[nodiscard]] double* order() const { return at(layout_.order); }
  [[nodiscard]] double* sizes() const { return at(layout_.sizes); }
  [[nodiscard]] double* marks() const { return at(layout_.marks); }
  [[nodiscard]] double* share() const { return at(layout_.share); }
  [[nodiscard]] double* provision() const { return at(layout_.provision); }
  [[nodiscard]] WhyRecord& why(std::uint32_t row) const {
    return reinterpret_cast<WhyRecord*>(bytes_ + layout_.why)[row];
  }
  [[nodiscard]] WhyRecord& why_pool(std::uint32_t row) const {
    return reinterpret_cast<WhyRecord*>(bytes_ + layout_.why_pool)[row];
  }
  [[nodiscard]] std::uint32_t jobs() const { return jobs_; }
  // The hook admit has answered that the job may not run.
  [[nodiscard]] bool refused(std::uint32_t row) const { return admit()[row] == 0; }

 private:
  [[nodiscard]] double* at(std::uint64_t offset) const { return reinterpret_cast<double*>(bytes_ + offset); }

  std::byte* bytes_;
  AnswersLayout layout_;
  std::uint32_t jobs_;
};

// Copies as much as fits and ends it with a 0.
void copy_text(std::string_view text, char* into, std::size_t bytes);

// Where a failure is written: always at the beginning of the region, in any round.
struct Failure {
  const char* code;  // one of PolicyFault's names
  const char* hook = "";
  std::int64_t row = -1;
};
void write_failure(AnswersHeader& header, const Failure& failure, std::string_view message);

}  // namespace tidepool::policies::host::process
