#include <CLI/CLI.hpp>

#include "schedctl/app.hpp"
#include "schedctl/failure.hpp"

namespace tidepool::ctl {
namespace {

std::string words_of(const CLI::App& command) {
  std::string words;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    words += sub->get_name() + " ";
  }
  for (const CLI::Option* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) words += "--" + name + " ";
    for (const auto& name : option->get_snames()) words += "-" + name + " ";
  }
  return words;
}

bool takes_job(const CLI::App& command) {
  const auto options = command.get_options();
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return option->get_name() == "job"; });
}

// Written from the tree of commands, so it never lags behind it.
std::string bash_script(const CLI::App& app) {
  std::string cases;
  std::string jobs;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    cases += "    " + command->get_name() + ") words=\"" + words_of(*command) + "\" ;;\n";
    if (takes_job(*command)) jobs += (jobs.empty() ? "" : "|") + command->get_name();
  }
  return "# schedctl completion for bash: source <(schedctl completion bash)\n"
         "_schedctl() {\n"
         "  local current=\"${COMP_WORDS[COMP_CWORD]}\" words=\"" +
         words_of(app) +
         "\"\n"
         "  if [ \"$COMP_CWORD\" -gt 1 ]; then case \"${COMP_WORDS[1]}\" in\n" +
         cases +
         "  esac; fi\n"
         "  case \"${COMP_WORDS[1]}\" in\n"
         "    " +
         jobs +
         ") [ \"$COMP_CWORD\" -gt 1 ] && words=\"$words $(schedctl ls --quiet 2>/dev/null)\" ;;\n"
         "    submit|sim) COMPREPLY=($(compgen -f -W \"$words\" -- \"$current\")); return ;;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -F _schedctl schedctl\n";
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
