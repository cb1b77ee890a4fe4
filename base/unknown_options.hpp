// Finds words of a command line that its program does not know; one sentence for each. Pure; used by all programs.
#pragma once

#include <string>
#include <vector>

namespace tidepool {

// Adds the long names of the options that a command accepts to `known`. `App` is CLI::App, on which this folder does
// not depend.
template <class App>
void add_option_names(const App& app, std::vector<std::string>& known) {
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) known.push_back("--" + name);
  }
}

// `words` in the order given; `known`: options by their long names, "--slots". The word after an unknown option is
// treated as its value.
[[nodiscard]] std::vector<std::string> unknown_options(const std::vector<std::string>& words,
                                                       const std::vector<std::string>& known);

}  // namespace tidepool
