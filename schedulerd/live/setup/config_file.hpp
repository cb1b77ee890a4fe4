// The configuration file, section by section.
#pragma once

#include <string>

#include "schedulerd/live/setup/config.hpp"
#include "schedulerd/live/setup/config_fields.hpp"

namespace tidepool::live {

// Reads the file into `config`; `fields` reads its single values into the same, and collects all errors. The error for
// an unknown field names the nearest known one.
void read_config_file(const std::string& path, const ConfigInputs& known, Config& config, ConfigFields& fields);

}  // namespace tidepool::live
