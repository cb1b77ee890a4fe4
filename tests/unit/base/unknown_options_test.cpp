#include "base/unknown_options.hpp"

#include <catch2/catch.hpp>

namespace tidepool {

TEST_CASE("an option that is not known is told once, with the nearest, and its value is no error of its own") {
  const std::vector<std::string> known = {"--local-slots", "--listen", "--tls"};
  using Sentences = std::vector<std::string>;
  CHECK(unknown_options({}, known).empty());
  CHECK(unknown_options({"--local-slot", "4"}, known) ==
        Sentences{"--local-slot: no such option; did you mean --local-slots?"});
  CHECK(unknown_options({"--lisen=127.0.0.1:1", "more"}, known) ==
        Sentences{"--lisen: no such option; did you mean --listen?", "\"more\" is not expected here"});
  CHECK(unknown_options({"-x", "--colour", "red", "blue"}, known) ==
        Sentences{"-x: no such option", "--colour: no such option", "\"blue\" is not expected here"});
}

TEST_CASE("the names of a command's options are its long ones, added to those that are there") {
  struct Option {
    std::vector<std::string> names;
    [[nodiscard]] const std::vector<std::string>& get_lnames() const { return names; }
  };
  struct Command {
    std::vector<const Option*> options;
    [[nodiscard]] const std::vector<const Option*>& get_options() const { return options; }
  };
  const Option help{.names = {"help"}};
  const Option positional;
  const Option state{.names = {"state", "phase"}};
  std::vector<std::string> known = {"--url"};
  add_option_names(Command{.options = {&help, &positional, &state}}, known);
  CHECK(known == std::vector<std::string>{"--url", "--help", "--state", "--phase"});
}

}  // namespace tidepool
