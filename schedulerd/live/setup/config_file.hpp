// The configuration file, section by section.
#pragma once

#include <string>

#include "schedulerd/live/setup/config.hpp"
#include "schedulerd/live/setup/config_fields.hpp"

namespace tidepool::live {

// Reads the file into `config`; `fields` reads its single values into the same, and is told of all that is wrong. Of a
// field that is unknown the nearest known one is named.
void read_config_file(const std::string& path, const ConfigInputs& known, Config& config, ConfigFields& fields);

}  // namespace tidepool::live
