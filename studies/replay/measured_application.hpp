// One application as it was measured: step times per placement, and for each of several global batch sizes what each
// epoch of training brought. The data of Pollux's artifact (Qiao et al., OSDI 2021): files `placements.csv`,
// `scalability.csv`, `validation-<batch>.csv` of a folder per application.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "studies/models/measured_profile.hpp"

namespace tidepool::sim {

// The gradient's squared length and variance at the initial batch size.
struct GradientStatistics {
  double sqr = 0;
  double var = 0;
};

// One epoch at one global batch size. An epoch is a stretch of progress: about as many useful steps at every batch.
struct EpochMeasurement {
  double progress = 0;   // useful steps by its end
  double iteration = 0;  // real steps by its end
  GradientStatistics gradient;
};

// File name -> text.
using ApplicationFiles = std::map<std::string, std::string>;

class MeasuredApplication {
 public:
  // `local_batch_cap` lowers the largest batch of a worker; 0 = as measured. Errors name the file and line.
  [[nodiscard]] static Result<MeasuredApplication> read(const std::string& name, const ApplicationFiles& files,
                                                        int local_batch_cap);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const policies::MeasuredProfile& profile() const { return profile_; }
  [[nodiscard]] int initial_batch() const { return epochs_.begin()->first; }
  [[nodiscard]] int batch_max() const { return epochs_.rbegin()->first; }
  [[nodiscard]] int local_batch_min() const { return profile_.local_batch_min(); }
  [[nodiscard]] int local_batch_max() const { return local_batch_max_; }
  [[nodiscard]] int epochs() const { return epoch_count_; }

  // Useful steps by the end of `epoch` epochs: the least over the batch sizes. 0 <= epoch <= epochs().
  [[nodiscard]] double progress_after(int epoch) const;
  // During the given epoch (from 0), linear between the measured batch sizes.
  // Requires: initial_batch() <= batch <= batch_max(), 0 <= epoch < epochs().
  [[nodiscard]] double iterations(int batch, int epoch) const;
  [[nodiscard]] GradientStatistics gradient(int batch, int epoch) const;

 private:
  MeasuredApplication(std::string name, policies::MeasuredProfile profile)
      : name_(std::move(name)), profile_(std::move(profile)) {}
  template <class Read>
  [[nodiscard]] double interpolate(int batch, int epoch, Read read) const;

  std::string name_;
  policies::MeasuredProfile profile_;
  int local_batch_max_ = 0;
  int epoch_count_ = 0;
  std::map<int, std::vector<EpochMeasurement>> epochs_;  // by global batch size
};

}  // namespace tidepool::sim
