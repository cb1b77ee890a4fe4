#include "workers/agent/join.hpp"

#include <limits.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "api/node_token.hpp"
#include "workers/agent/agent_options.hpp"
#include "workers/agent/daemon_link.hpp"

namespace tidepool::agent {
namespace {

constexpr auto kAnswerPatience = std::chrono::seconds(60);
constexpr std::array<std::string_view, 2> kWordsOfJoin{"join", "--anew"};
constexpr std::array<std::string_view, 6> kOptionsOfJoin{"--daemon", "--token",     "--token-file",
                                                         "--name",   "--state-dir", "--lifeline"};

bool is_plain(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         std::string_view("-_./:,=+@%").find(letter) != std::string_view::npos;
}

// Unchanged if no character has a meaning to a shell; else in single quotes.
std::string shell_quoted(const std::string& text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string out = "'";
  for (const char letter : text) out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return out + "'";
}

Result<std::string> given_token(const JoinOptions& options) {
  if (!options.token.empty() || options.token_file.empty()) return options.token;
  return read_token(options.token_file);
}

// One request and one reply; the link ends with it.
Result<api::CertificateIssued> ask(const TcpAddress& daemon, const api::CertificateRequest& request) {
  boost::asio::io_context io(1);
  boost::asio::steady_timer patience(io, kAnswerPatience);
  std::optional<Result<api::CertificateIssued>> answer;
  const auto end = [&](Result<api::CertificateIssued> result) {
    if (!answer) answer.emplace(std::move(result));
    io.stop();
  };
  const std::string place = daemon.host + ":" + daemon.port;
  std::unique_ptr<DaemonLink> link;
  link = std::make_unique<DaemonLink>(
      io, daemon,
      DaemonLink::Handlers{
          .on_opened = [&] { link->send(request); },
          .on_message =
              [&](api::DaemonToAgent message) {
                if (const auto* issued = std::get_if<api::CertificateIssued>(&message)) return end(*issued);
                const auto* refused = std::get_if<api::AgentRefuse>(&message);
                end(invalid_argument("the daemon refuses this node: " +
                                     (refused == nullptr ? "it answered something else" : refused->why)));
              },
          .on_closed =
              [&](const std::string& why) {
                end(Error{ErrorCode::kUnavailable,
                          why + "; check that " + place +
                              " is the agents' port of the daemon that made the token (agents.listen), that it runs, "
                              "and that no firewall is between; the token is still good"});
              }});
  patience.async_wait([&](boost::system::error_code failed) {
    if (!failed) end(Error{ErrorCode::kUnavailable, "the daemon at " + place + " does not answer; try again"});
  });
  link->open();
  io.run();
  return *std::move(answer);
}

Result<NodeIdentity> join(const std::filesystem::path& state_dir, const JoinOptions& options,
                          const api::NodeTokenText& token, const std::string& text) {
  const std::string node = options.node.empty() ? host_name() : options.node;
  auto address = parse_tcp_address(options.daemon);
  if (!address) return invalid_argument("--daemon: " + address.error().message);
  auto context = tls::client_context({.authorities = {}, .fingerprints = {token.ca_fingerprint}});
  if (!context) return context.error();
  address->tls = *std::move(context);
  auto key = key_to_join(state_dir, token.id, node);
  if (!key) return key.error();
  auto request = tls::signing_request(*key);
  if (!request) return request.error();
  const auto issued = ask(*address, {.token = text, .node = node, .request = *request});
  if (!issued) return issued.error();
  NodeIdentity identity{.daemon = options.daemon,
                        .node = node,
                        .authorities = {token.ca_fingerprint},
                        .key = *std::move(key),
                        .certificate = issued->certificate};
  if (const Status kept = write_identity(state_dir, identity); !kept.ok()) {
    return Error{kept.error().code, kept.error().message +
                                        "; the daemon has let this machine in: mend that and run the same command "
                                        "again with the same state directory, which takes no further use of the token"};
  }
  forget_join(state_dir);
  spdlog::info("joined the daemon at {} as node {}; from now on no token is needed: agentd --state-dir {}{}",
               identity.daemon, node, shell_quoted(state_dir.string()), options.node_options);
  return identity;
}

// Whether the stored identity matches the options; else says what to do.
Status check_kept(const NodeIdentity& kept, const JoinOptions& options, const std::filesystem::path& state_dir) {
  if (options.node.empty() || options.node == kept.node) return ok_status();
  return conflict(state_dir.string() + " is the folder of node " + kept.node + "; for " + options.node +
                  " choose another --state-dir, or give up that node with --anew");
}

bool has_expired(const NodeIdentity& kept) {
  const auto said = tls::read_client(kept.certificate);
  return !said || said->validity.until_unix_s <= unix_seconds();
}

// A node that has joined needs no token. A token of another daemon shows that this may be the wrong folder.
Status check_token(const NodeIdentity& kept, const JoinOptions& options, const std::string& text,
                   const std::filesystem::path& state_dir) {
  const auto token = api::read_node_token(text);
  if (!token || std::ranges::find(kept.authorities, token->ca_fingerprint) != kept.authorities.end()) {
    return ok_status();
  }
  const std::string whose = state_dir.string() + " is the folder of node " + kept.node + " of the daemon at " +
                            kept.daemon + ", and this token is of another authority than that daemon's";
  if (!options.daemon.empty() && options.daemon != kept.daemon) {
    return conflict(whose + "; to join the daemon at " + options.daemon +
                    " in the place of that one, add --anew, or choose another --state-dir; if the same daemon has " +
                    "moved there, leave the token out");
  }
  spdlog::warn("{}: it is not used; if the daemon was set up anew, add --anew", whose);
  return ok_status();
}

Result<NodeIdentity> resume(const std::filesystem::path& state_dir, const JoinOptions& options, NodeIdentity kept) {
  TP_TRY(check_kept(kept, options, state_dir));
  if (has_expired(kept)) {
    spdlog::warn(
        "the certificate of node {} has expired by this machine's clock; if the daemon refuses it, join anew with a "
        "new token (schedctl node token create)",
        kept.node);
  }
  if (!options.daemon.empty() && options.daemon != kept.daemon) {
    kept.daemon = options.daemon;
    TP_TRY(write_identity(state_dir, kept));
  }
  spdlog::info("this machine has joined as node {}; its certificate is used, and no token", kept.node);
  return kept;
}

}  // namespace

std::string node_options_of(std::span<const char* const> words) {
  std::string options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    if (std::ranges::find(kWordsOfJoin, word) != kWordsOfJoin.end()) continue;
    const std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(kOptionsOfJoin, name) == kOptionsOfJoin.end()) {
      options += " " + shell_quoted(word);
    } else if (name == word) {
      ++i;  // its value
    }
  }
  return options;
}

Result<NodeIdentity> join_or_resume(const std::filesystem::path& state_dir, const JoinOptions& given) {
  JoinOptions options = given;
  auto kept = read_identity(state_dir);
  if (!kept) return kept.error();
  auto text = given_token(options);
  const bool needs_token = !*kept || options.anew;
  // The token's file is no longer needed and may have been removed.
  if (!text && (needs_token || std::filesystem::exists(options.token_file))) return text.error();
  if (!text) text = std::string();
  const bool joins = needs_token || (has_expired(**kept) && !text->empty());
  if (!joins) {
    TP_TRY(check_token(**kept, options, *text, state_dir));
    return resume(state_dir, options, **std::move(kept));
  }
  // The node keeps the name and the daemon stored in its folder.
  if (*kept && options.node.empty()) options.node = (*kept)->node;
  if (*kept && options.daemon.empty()) options.daemon = (*kept)->daemon;
  if (text->empty()) {
    return invalid_argument(state_dir.string() +
                            " has joined no daemon; ask an admin for a token (schedctl node token create) and give it "
                            "with --token");
  }
  if (options.daemon.empty()) return invalid_argument("to join, give --daemon HOST:PORT, the daemon's agents' port");
  const auto token = api::read_node_token(*text);
  if (!token) return token.error();
  return join(state_dir, options, *token, *text);
}

}  // namespace tidepool::agent
