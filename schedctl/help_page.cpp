#include "schedctl/help_page.hpp"

#include <algorithm>

namespace tidepool::ctl {
namespace {

constexpr std::size_t kNames = 28;  // columns, with the two before a name and those behind it

// Each line with so many blanks before it, but not the first.
std::string indented(std::string text, std::size_t columns) {
  const std::string blanks(columns, ' ');
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    text.insert(at + 1, blanks);
  }
  return text;
}

// "TEXT:{a,b}" can then be broken; and that a flag says no is told by its name.
std::string breakable(const std::string& name) {
  std::string text;
  bool inside = false;
  for (const char c : name) {
    inside = c == '{' || (inside && c != '}');
    text += c;
    if (inside && c == ',') text += ' ';
  }
  const std::string negated = "{false}";
  if (const auto at = text.find(negated); at != std::string::npos) text.erase(at, negated.size());
  return text;
}

}  // namespace

std::string HelpPage::make_description(const CLI::App* app) const {
  const std::string text = app->get_description();
  return text.empty() ? text : wrapped(text, 0, style_) + "\n";
}

std::string HelpPage::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = CLI::Formatter::make_usage(app, std::move(name));
  while (!usage.empty() && usage.back() == '\n') usage.pop_back();
  return wrapped(usage, 7, style_) + "\n";  // below the first word behind "Usage:"
}

std::string HelpPage::make_option(const CLI::Option* option, bool is_positional) const {
  return entry(breakable(make_option_name(option, is_positional) + make_option_opts(option)), make_option_desc(option));
}

std::string HelpPage::make_subcommand(const CLI::App* command) const {
  return entry(command->get_display_name(), command->get_description());  // former names are not told
}

std::string HelpPage::make_footer(const CLI::App* app) const {
  if (app->get_parent() != nullptr) {
    return wrapped("Options of every command, such as -o json and --url: schedctl --help", 0, style_) + "\n";
  }
  return wrapped(
             "Exit codes: 0 done; 1 the answer is no, such as a job that failed; 2 the command line or a file is "
             "wrong; 3 the daemon refuses, as where it knows no such job; 4 the time given, as by --within, is over; "
             "5 no daemon answers; 6 schedctl itself fails, as where its output cannot be written; 130 Ctrl-C",
             0, style_) +
         "\n";
}

std::string HelpPage::entry(const std::string& name, const std::string& meaning) const {
  const auto width = static_cast<std::size_t>(std::max(style_.width, 60));
  const std::string left = "  " + indented(wrapped(name, 2, {.width = static_cast<int>(width - 2)}), 2);
  const std::string right = indented(wrapped(meaning, 0, {.width = static_cast<int>(width - kNames)}), kNames);
  if (right.empty()) return left + "\n";
  const std::size_t used = columns_of(left);
  const bool beside = left.find('\n') == std::string::npos && used + 2 <= kNames;
  return left + (beside ? std::string(kNames - used, ' ') : "\n" + std::string(kNames, ' ')) + right + "\n";
}

}  // namespace tidepool::ctl
