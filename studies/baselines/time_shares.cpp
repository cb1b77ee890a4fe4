#include "studies/baselines/time_shares.hpp"

#include <algorithm>

#include <cmath>
#include <utility>
#include "studies/models/embedded_program.hpp"

namespace tidepool::policies::cluster {

std::vector<double> slots_by_type(const View& view) {
  std::vector<double> slots;
  if (view.types.empty()) return {static_cast<double>(view.slots())};
  slots.reserve(view.types.size());
  for (std::size_t type = 0; type < view.types.size(); ++type) {
    slots.push_back(view.slots_of_type(static_cast<int>(type)));
  }
  return slots;
}

TypeTable wanted_speeds(const View& view) {
  TypeTable speeds(view.jobs.size(), std::max<std::size_t>(1, view.types.size()));
  const int slots_per_node = std::max(1, view.slots_per_node());
  for (std::size_t row = 0; row < speeds.jobs(); ++row) {
    Shape shape = packed(view.jobs[row].size_wanted, slots_per_node);
    for (std::size_t type = 0; type < speeds.types(); ++type) {
      shape.type = static_cast<int>(type);
      const double seconds = view.jobs[row].speed->step_seconds(shape);
      speeds.at(row, type) = std::isfinite(seconds) && seconds > 0 ? 1 / seconds : 0;
    }
  }
  return speeds;
}

std::vector<double> divided_speeds(const View& view, const TypeTable& speeds, Division division) {
  const std::vector<double> slots = slots_by_type(view);
  double all = 0;
  for (const double count : slots) all += count;
  std::vector<double> divided;
  for (std::size_t row = 0; row < speeds.jobs(); ++row) {
    const double each = all / static_cast<double>(speeds.jobs()) / view.jobs[row].size_wanted;  // sum of its shares
    const double whole = division == Division::kProportional ? 1 : std::min(1.0, each);
    double speed = 0;
    for (std::size_t type = 0; type < speeds.types(); ++type) {
      speed += speeds.at(row, type) * whole * (all > 0 ? slots[type] / all : 0);
    }
    divided.push_back(speed);
  }
  return divided;
}

ShareProgram::ShareProgram(const View& view)
    : jobs_(view.jobs.size()), types_(std::max<std::size_t>(1, view.types.size())), shares_(jobs_ * types_) {
  const std::vector<double> slots = slots_by_type(view);
  for (std::size_t type = 0; type < types_; ++type) {
    LinearProgram::Row room{.terms = {}, .high = slots[type]};
    for (std::size_t job = 0; job < jobs_; ++job) {
      room.terms.push_back({.column = column(job, type), .factor = double(view.jobs[job].size_wanted)});
    }
    rows_.push_back(std::move(room));
  }
  for (std::size_t job = 0; job < jobs_; ++job) {
    LinearProgram::Row whole{.terms = {}, .high = 1};
    for (std::size_t type = 0; type < types_; ++type) whole.terms.push_back({.column = column(job, type), .factor = 1});
    rows_.push_back(std::move(whole));
  }
}

void ShareProgram::reward(const TypeTable& factors) {
  for (std::size_t job = 0; job < jobs_; ++job) {
    for (std::size_t type = 0; type < types_; ++type) shares_[column(job, type)].objective = factors.at(job, type);
  }
}

void ShareProgram::maximize_least(const TypeTable& factors, const std::vector<double>& needed) {
  least_ = true;
  for (std::size_t job = 0; job < jobs_; ++job) {
    if (!(needed[job] > 0)) continue;
    LinearProgram::Row reaches{.terms = {}, .low = 0};
    for (std::size_t type = 0; type < types_; ++type) {
      if (factors.at(job, type) > 0) {
        reaches.terms.push_back({.column = column(job, type), .factor = factors.at(job, type)});
      }
    }
    reaches.terms.push_back({.column = shares_.size(), .factor = -needed[job]});
    rows_.push_back(std::move(reaches));
  }
}

LinearProgram ShareProgram::linear() const {
  LinearProgram program;
  for (const LinearProgram::Column& share : shares_) program.add(share);
  if (least_) program.add(LinearProgram::Column{.objective = 1});
  for (const LinearProgram::Row& row : rows_) program.add(row);
  return program;
}

ShareProgram::Answer ShareProgram::solve(Optimum optimum) const {
  return shares_of(maximize(linear(), optimum));
}

ShareProgram::Answer ShareProgram::solve_at_path_end() const {
  return shares_of(maximize_at_path_end(linear()));
}

ShareProgram::Answer ShareProgram::shares_of(const LinearAnswer& answer) const {
  Answer shares{.shares = TypeTable(jobs_, types_), .objective = answer.objective};
  if (answer.values.empty()) return shares;
  for (std::size_t job = 0; job < jobs_; ++job) {
    for (std::size_t type = 0; type < types_; ++type) {
      shares.shares.at(job, type) = std::clamp(answer.values[column(job, type)], 0.0, 1.0);
    }
  }
  return shares;
}

}  // namespace tidepool::policies::cluster
