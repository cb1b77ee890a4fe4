// Words of a command line that its program does not know, each as a sentence. Pure; for all programs alike.
#pragma once

#include <string>
#include <vector>

namespace tidepool {

// Adds the long names of the options that a command takes to `known`. `App`: CLI::App, which this folder does not know.
template <class App>
void add_option_names(const App& app, std::vector<std::string>& known) {
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) known.push_back("--" + name);
  }
}

// `words` in their order, as they were given; `known`: options by their long names, "--slots". What stands behind an
// option that is not known is taken for its value.
[[nodiscard]] std::vector<std::string> unknown_options(const std::vector<std::string>& words,
                                                       const std::vector<std::string>& known);

}  // namespace tidepool
