#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "schedctl/app.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/progress.hpp"

namespace tidepool::ctl {
namespace {

using ValuesOf = std::map<std::string, std::set<std::string>>;  // by the option's name, "--state"

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string options_of(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) words += "--" + name + " ";
    for (const auto& name : option->get_snames()) words += "-" + name + " ";
  }
  return words;
}

std::string words_of(const CLI::App& command) {
  std::string words;
  for (const CLI::App* sub : commands_of(command)) words += sub->get_name() + " ";
  return words + options_of(command);
}

bool takes(const CLI::App& command, const std::set<std::string>& positionals) {
  const auto options = command.get_options([](const CLI::Option* option) { return option->get_positional(); });
  return std::any_of(options.begin(), options.end(),
                     [&](const CLI::Option* option) { return positionals.contains(option->get_name()); });
}

// A case for each command below: the deeper one first, because the first that fits is taken.
std::string cases_of(const CLI::App& command, const std::string& path, const std::string& shared) {
  std::string cases;
  for (const CLI::App* sub : commands_of(command)) cases += cases_of(*sub, path + sub->get_name() + " ", shared);
  if (path.empty()) return cases;
  const bool files = takes(command, {"file", "files", "path", "policy"});
  return cases + "    \"" + path + "\"*) words=\"" + words_of(command) + shared + "\"" +
         (takes(command, {"job"}) ? " jobs=1" : "") + (files ? " files=1" : "") + " ;;\n";
}

// Of options that take one of some words, "TEXT:{a,b}".
void add_values(ValuesOf& values, const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string type = option->get_type_name();
    const auto begin = type.find('{');
    if (begin == std::string::npos || !type.ends_with('}') || option->get_lnames().empty()) continue;
    std::string_view rest = std::string_view(type).substr(begin + 1, type.size() - begin - 2);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      values["--" + option->get_lnames().front()].emplace(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  for (const CLI::App* sub : commands_of(command)) add_values(values, *sub);
}

std::string value_cases(const CLI::App& app) {
  ValuesOf values;
  add_values(values, app);
  for (const auto& type : described_event_types()) values["--type"].insert(type);
  std::string cases;
  for (const auto& [option, words] : values) {
    cases += "    " + option + ") words=\"";
    for (const auto& word : words) cases += word + " ";
    cases += "\" ;;\n";
  }
  return cases;
}

// Written from the tree of commands, so it never lags behind it.
std::string bash_script(const CLI::App& app) {
  return "# schedctl completion for bash: source <(schedctl completion bash)\n"
         "_schedctl() {\n"
         "  local current=\"${COMP_WORDS[COMP_CWORD]}\" words=\"\" jobs=\"\" files=\"\"\n"
         "  case \"${COMP_WORDS[COMP_CWORD-1]}\" in\n" +
         value_cases(app) +
         "  esac\n"
         "  if [ -z \"$words\" ]; then case \"${COMP_WORDS[*]:1:COMP_CWORD-1} \" in\n" +
         cases_of(app, "", options_of(app)) + "    *) words=\"" + words_of(app) +
         "\" ;;\n"
         "  esac; fi\n"
         "  [ -n \"$jobs\" ] && words=\"$words $(schedctl ls --quiet 2>/dev/null)\"\n"
         "  COMPREPLY=($(compgen ${files:+-f} -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _schedctl schedctl\n";  // else files, as for --workload
}

}  // namespace

void add_completion_command(CLI::App& app, Chosen& chosen) {
  CLI::App* completion = app.add_subcommand("completion", "Print a script that completes commands in a shell");
  completion->require_subcommand(1);
  completion->add_subcommand("bash", "source <(schedctl completion bash)")->callback([&app, &chosen] {
    chosen.offline = [&app](const Settings&) {
      write_out(bash_script(app));
      return static_cast<int>(kExitOk);
    };
  });
}

}  // namespace tidepool::ctl
