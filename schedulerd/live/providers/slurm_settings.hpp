// What a pool's entry in the configuration says to the provider slurm: "start" and "walltime", and "options" of sbatch.
//
// Rule: an option with which a pilot would not be one job that is found again by its name is refused, with the reason.
#pragma once

#include "schedulerd/live/providers/provider_table.hpp"

namespace tidepool::live {

void check_slurm_settings(const ProviderFields& fields, ObjectReader& in);

}  // namespace tidepool::live
