// What --help prints, no wider than the terminal: names on the left, and what they mean broken at blanks beside them.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "schedctl/words.hpp"

namespace tidepool::ctl {

class HelpPage final : public CLI::Formatter {
 public:
  explicit HelpPage(const Style& style) : style_(style) {}

  [[nodiscard]] std::string make_description(const CLI::App* app) const override;
  [[nodiscard]] std::string make_usage(const CLI::App* app, std::string name) const override;
  [[nodiscard]] std::string make_option(const CLI::Option* option, bool is_positional) const override;
  [[nodiscard]] std::string make_subcommand(const CLI::App* command) const override;
  // How a command ends, and where those options stand that all commands have.
  [[nodiscard]] std::string make_footer(const CLI::App* app) const override;

 private:
  [[nodiscard]] std::string entry(const std::string& name, const std::string& meaning) const;

  Style style_;
};

}  // namespace tidepool::ctl
