#include "schedulerd/live/setup/config_fields.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "api/worker_protocol.hpp"
#include "base/byte_size.hpp"
#include "base/number_text.hpp"
#include "base/word_list.hpp"

namespace tidepool::live {
namespace {

// Of NAME, NAME:PORT or [ADDRESS]:PORT: one with a port that no client can write would never be met.
bool has_good_port(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  if (end == std::string_view::npos) return !host.starts_with('[');
  std::string_view rest = host.substr(host[end] == ']' ? end + 1 : end);
  if (end == 0) return false;
  if (rest.empty()) return true;
  return rest.front() == ':' && parse_number<std::uint16_t>(rest.substr(1)).value_or(0) > 0;
}

}  // namespace

void ConfigFields::endpoint(const std::string& what, const std::string& text, Endpoint& into) {
  auto parsed = parse_endpoint(text);
  if (!parsed.ok()) return complain(what, parsed.error().message);
  into = *parsed;
}

void ConfigFields::listen(ObjectReader& in, const std::string& section, Endpoint& into) {
  if (!in.raw("listen").is_string())
    return in.fail("listen", "WrongType", "must be a text, such as \"127.0.0.1:7480\"");
  endpoint(section + "/listen", in.text("listen", ""), into);
}

void ConfigFields::refuse_open_binds() {
  const auto check = [&](const std::string& what, const Endpoint& bind) {
    if (config_.tls || is_loopback(bind)) return;
    complain(what, bind.host +
                       " is not a loopback address, and without TLS tokens would cross the network in clear; add "
                       "--tls (or tls: {} in the configuration), or serve 127.0.0.1, ::1 or localhost");
  };
  check("listen", config_.listen);
  if (config_.agents_listen) check("agents.listen", *config_.agents_listen);
}

void ConfigFields::slots(const std::string& what, std::int64_t count) {
  if (count < 0 || count > api::kNodeSlotsMax) {
    return complain(what, std::to_string(count) + " must be from 0 to " + std::to_string(api::kNodeSlotsMax));
  }
  config_.local_slots = static_cast<int>(count);
}

void ConfigFields::policy(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    config_.policy = name;
    return;
  }
  std::error_code failed;
  const bool there = std::filesystem::exists(name, failed);
  if (there || name.find('/') != std::string::npos || name.ends_with(".lua") || name.ends_with(".so")) {
    if (!there) complain(what, name + " is not there; give a .lua file, a .so library, or a folder with policy.yaml");
    config_.policy_file = name;
    return;
  }
  const auto near = nearest_word(name, known);
  complain(what, name + " is no policy" + (near ? "; did you mean " + *near + "?" : "") +
                     " (there are: " + word_list(known) + ")");
}

void ConfigFields::duration(const std::string& what, const std::string& text, Duration& into) {
  if (text.empty()) return;
  const auto parsed = parse_duration(text);
  if (!parsed.ok()) return complain(what, parsed.error().message);
  if (*parsed < Duration::millis(10)) return complain(what, text + " must be at least 10ms");
  into = *parsed;
}

void ConfigFields::duration(ObjectReader& in, const std::string& section, const std::string& name, Duration& into) {
  if (in.has(name) && in.raw(name).is_number()) {
    const std::string number = canonical_json(in.raw(name));
    return complain(section + "/" + name, number + " has no unit; write it as " + number + "s, or with another one");
  }
  duration(section + "/" + name, in.text(name, ""), into);
}

void ConfigFields::bytes(const std::string& what, const std::string& text, std::int64_t& into) {
  if (text.empty()) return;
  const auto size = parse_byte_size(text);
  if (!size.ok() || *size < 64 * kMebibyte) {
    return complain(what, text + " must be a whole number of MiB, GiB or TiB, at least 64MiB, such as 20GiB");
  }
  into = *size;
}

void ConfigFields::currency(const std::string& what, const std::string& code) {
  const bool is_code = code.size() == 3 && code.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
  if (!is_code) return complain(what, "\"" + code + "\" is no currency; write its three letters, such as EUR");
  config_.currency = code;
}

void ConfigFields::allowed_host(const std::string& what, const std::string& name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._[]:").find(c) != std::string_view::npos;
  };
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_good) || !has_good_port(name)) {
    return complain(what, "\"" + name + "\" is no host; write it as clients do, without scheme and path, such as " +
                              "pool.example.org, or pool.example.org:8443 where they give a port");
  }
  config_.allowed_hosts.push_back(name);
}

}  // namespace tidepool::live
