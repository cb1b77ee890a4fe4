#include "schedctl/app.hpp"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "base/json.hpp"
#include "base/unknown_options.hpp"
#include "base/version.hpp"
#include "base/word_list.hpp"
#include "schedctl/checks.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/help_page.hpp"

namespace tidepool::ctl {
namespace {

void add_shared_options(CLI::App& app, Settings& settings) {
  app.add_option("--url", settings.url, "address of the daemon; else TIDEPOOL_URL, login, http://127.0.0.1:7480")
      ->check(not_empty());
  app.add_option("--token", settings.token,
                 "API token; else --token-file, TIDEPOOL_TOKEN, ~/.local/share/tidepool/admin.token")
      ->check(not_empty());
  app.add_option("--token-file", settings.token_file, "file whose first line is the token")->check(not_empty());
  app.add_option("--ca", settings.ca_file,
                 "file with the certificate authority of an https:// daemon (PEM); else TIDEPOOL_CA, else the system's")
      ->check(not_empty());
  app.add_option("-o,--output", settings.format, "output format: table, or json and yaml for programs")
      ->check(CLI::IsMember({"table", "json", "yaml"}));
  app.add_option("--timeout", settings.timeout_s, "how long to wait for an answer: 2m, or a number of seconds")
      ->capture_default_str()
      ->transform(seconds_of_duration())
      ->check(whole_number(1, 86'400));
}

void print_error(const std::string& message) {
  std::fprintf(stderr, "schedctl: %s\n", message.c_str());
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// The command that a word of other schedulers' tools stands for, else the one that is written nearly so.
std::optional<std::string> meant_command(const std::string& word, const std::vector<std::string>& names) {
  static const std::map<std::string, std::string> elsewhere = {
      {"apply", "submit"}, {"create", "submit"}, {"run", "submit"},    {"jobs", "ls"},
      {"ps", "ls"},        {"queue", "ls"},      {"status", "ls"},     {"show", "get"},
      {"info", "get"},     {"describe", "get"},  {"delete", "cancel"}, {"kill", "cancel"},
      {"rm", "cancel"},    {"stop", "cancel"},   {"scale", "resize"},  {"pause", "suspend"}};
  if (const auto found = elsewhere.find(word); found != elsewhere.end()) return found->second;
  return nearest_word(word, names);
}

// Also by its other name; null: there is none.
const CLI::App* command_named(const CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](const CLI::App* command) { return command->check_name(name); });
  return found.empty() ? nullptr : found.front();
}

// The commands that the line has named so far, each with a blank behind it.
std::string commands_named(const CLI::App& app) {
  std::string words;
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    words += at->get_name() + " ";
  }
  return words;
}

// Where the line leaves the tree of commands by a word that is none: what there is instead, and the nearest of it.
std::optional<std::string> unknown_command(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  std::string path = app.get_name();
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto names = command_names(*at);
    if (const CLI::App* known = command_named(*at, word); known != nullptr) {
      at = known;
      path += " " + word;
      continue;
    }
    const auto options = at->get_options([](const CLI::Option* option) { return option->get_positional(); });
    if (names.empty() || !options.empty() || word.empty() || word.starts_with('-')) return std::nullopt;
    const auto near = at == &app ? meant_command(word, names) : nearest_word(word, names);
    std::string message = "\"" + printable(word) + "\" is not a command";
    if (near) message += "; did you mean \"" + *near + "\"?";
    if (at != &app) message += (near ? " " + path : " of " + path + ", which") + " has: " + word_list(names);
    return message;
  }
  return std::nullopt;
}

// What the command that the line has chosen does not take, a line each; none: that is not what is wrong.
std::optional<std::string> unknown_words(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return std::nullopt;
  std::vector<std::string> known;
  for (const CLI::App* at = &app; at != nullptr;) {
    add_option_names(*at, known);
    const auto chosen = at->get_subcommands();
    at = chosen.empty() ? nullptr : chosen.front();
  }
  std::string text;
  for (const auto& each : unknown_options(app.remaining(true), known)) {
    text += (text.empty() ? "" : "\n") + printable(each);
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

// "job is required: id or name": CLI11's own words, and of an argument that is missing what to give.
std::string told_by_parser(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  const std::string message = error.what();
  for (const CLI::Option* option : at->get_options()) {
    const bool is_missing = option->get_positional() && message == option->get_name() + " is required";
    if (is_missing) return message + ": " + option->get_description();
  }
  return message;
}

// The parser's words, but for a word that is no command or option.
int usage_error(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  if (error.get_exit_code() == 0) {
    return app.exit(error);  // --help, --version
  }
  const auto command = unknown_command(app, argc, argv);
  const std::string message = command ? *command : unknown_words(app, error).value_or(told_by_parser(app, error));
  print_error(message + "\nsee: schedctl " + commands_named(app) + "--help");
  return kExitUsage;
}

// "schedctl help policy diff" is "schedctl policy diff --help".
int print_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  std::string name = app.get_name();
  for (const std::string& word : words) {
    const CLI::App* known = command_named(*at, word);
    if (known == nullptr) {
      const auto near = nearest_word(word, command_names(*at));
      fail(kExitUsage, "\"" + printable(word) + "\" is not a command" +
                           (near ? "; did you mean \"" + *near + "\"?" : "; see: schedctl --help"));
    }
    at = known;
    name += " " + word;
  }
  write_out(at->get_formatter()->make_help(at, name, CLI::AppFormatMode::Normal));
  return kExitOk;
}

void add_help_command(CLI::App& app, Chosen& chosen) {
  const auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* help = app.add_subcommand("help", "Show the help of a command, as its --help does");
  help->add_option("command", *words, "the command, such as: policy diff; without it all commands");
  help->callback(
      [&app, &chosen, words] { chosen.offline = [&app, words](const Settings&) { return print_help(app, *words); }; });
}

int run_chosen(const Chosen& chosen, const Settings& settings) {
  try {
    if (chosen.offline) return chosen.offline(settings);
    Session session(settings);
    return chosen.online(session);
  } catch (const Failure& failure) {
    print_error(failure.message);
    return failure.exit_code;
  } catch (const std::exception& error) {
    print_error(std::string("an error inside schedctl: ") + error.what());
    return kExitInternal;
  }
}

}  // namespace

int run(int argc, const char* const* argv, const AddCommands& extra) {
  CLI::App app("Tidepool's command line: submit elastic training jobs, see what they do and why.", "schedctl");
  app.formatter(std::make_shared<HelpPage>(output_style()));  // of all commands: each takes over its parent's
  app.require_subcommand(1);
  app.fallthrough();  // shared options may stand after the command
  Settings settings;
  Chosen chosen;
  add_shared_options(app, settings);
  add_job_commands(app, chosen);
  add_plan_command(app, chosen);
  add_watch_command(app, chosen);
  add_stream_commands(app, chosen);
  add_logs_command(app, chosen);
  add_trace_command(app, chosen);
  add_cluster_commands(app, chosen);
  add_node_trust_commands(app, chosen);
  add_pools_command(app, chosen);
  add_maintenance_command(app, chosen);
  add_tenant_commands(app, chosen);
  add_price_commands(app, chosen);
  if (extra) extra(app, chosen);
  add_completion_command(app, chosen);
  add_help_command(app, chosen);
  app.set_version_flag("--version", std::string("schedctl ") + kVersion, "Print the version and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error, argc, argv);
  }
  return run_chosen(chosen, settings);
}

void leave_on_interrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) {
    // Only async-signal-safe calls: end the half-drawn line and go.
    if (isatty(STDOUT_FILENO) == 1) (void)!write(STDOUT_FILENO, "\n", 1);
    _exit(kExitInterrupted);
  };
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace tidepool::ctl
