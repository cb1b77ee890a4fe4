#include "schedctl/session.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <utility>

#include "base/ids.hpp"
#include "base/json.hpp"
#include "base/timestamp.hpp"
#include "base/word_list.hpp"
#include "schedctl/failure.hpp"
#include "schedctl/stored/environment.hpp"
#include "schedctl/stored/login.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

constexpr std::size_t kAnswerMax = 64U << 20U;
constexpr std::size_t kPageMax = 1'000;           // the daemon's
constexpr std::size_t kJobsComparedWith = 1'000;  // the newest, for a name that no job has

std::string trimmed(std::string text) {
  const auto end = text.find_last_not_of(" \t\r\n");
  text.erase(end == std::string::npos ? 0 : end + 1);
  return text;
}

// None: nothing says it.
std::optional<int> known_width(bool on_terminal) {
  if (const int columns = std::atoi(environment("COLUMNS").c_str()); columns >= 20) return columns;
  winsize size{};
  if (on_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  return std::nullopt;
}

OutputFormat format_named(const std::string& name) {
  if (name == "json") return OutputFormat::kJson;
  return name == "yaml" ? OutputFormat::kYaml : OutputFormat::kTable;
}

bool has_ended(const json& job) {
  return is_final_state(text_at(job, "/state"));
}

std::string token_from(const Settings& settings, const std::string& url, const std::string& of_login) {
  if (!settings.token.empty()) return settings.token;
  if (!settings.token_file.empty()) {
    std::string line;
    std::ifstream file(settings.token_file);
    if (!std::getline(file, line))
      fail(kExitUsage, "the token file " + settings.token_file + " cannot be read or is empty");
    return trimmed(line);
  }
  if (const std::string token = environment("TIDEPOOL_TOKEN"); !token.empty()) return token;
  if (!of_login.empty()) return of_login;
  std::string line;
  const std::string home = environment("HOME");
  // Never to another machine: the file holds the administrator's token of this one.
  if (!home.empty() && is_loopback_url(url)) {
    std::ifstream file(home + "/.local/share/tidepool/admin.token");
    std::getline(file, line);
  }
  return trimmed(line);
}

// None unless --ca, TIDEPOOL_CA or, on loopback, the daemon's own file says so.
std::string ca_file_from(const Settings& settings, const std::string& url, bool logged_in) {
  const std::string named = settings.ca_file.empty() ? environment("TIDEPOOL_CA") : settings.ca_file;
  if (!named.empty()) {
    if (access(named.c_str(), R_OK) != 0) fail(kExitUsage, "the authority " + named + " cannot be read");
    return named;
  }
  if (logged_in) return "";
  const std::string own = environment("HOME") + "/.local/share/tidepool/tls/ca.pem";
  return is_loopback_url(url) && access(own.c_str(), R_OK) == 0 ? own : "";
}

// A broken file does not matter where the command line names a daemon.
std::optional<Login> usable_login(bool needed) {
  auto login = stored_login(login_file());
  if (login.ok()) return *std::move(login);
  if (needed) fail(kExitUsage, login.error().message);
  return std::nullopt;
}

void require_no_clear_network(const std::string& url) {
  if (url.starts_with("https://") || is_loopback_url(url)) return;
  if (!url.starts_with("http://")) fail(kExitUsage, printable(url) + " is no address; write https://HOST:PORT");
  fail(kExitUsage, "the token would cross the network in clear to " + url + "; use its https:// address");
}

std::string without_end_slashes(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace

Endpoint resolve_endpoint(const Settings& settings) {
  Endpoint endpoint;
  const auto login = usable_login(settings.url.empty() && environment("TIDEPOOL_URL").empty());
  if (login) endpoint.url = login->url;
  if (!settings.url.empty()) {
    endpoint.url = settings.url;
  } else if (const std::string url = environment("TIDEPOOL_URL"); !url.empty()) {
    endpoint.url = url;
  }
  const bool logged_in = login && login->url == without_end_slashes(endpoint.url);
  endpoint.token = token_from(settings, endpoint.url, logged_in ? login->token : "");
  if (endpoint.token.find_first_of("\r\n") != std::string::npos) fail(kExitUsage, "a token has only one line");
  if (!endpoint.token.empty()) require_no_clear_network(endpoint.url);
  if (endpoint.url.starts_with("https:")) endpoint.ca_file = ca_file_from(settings, endpoint.url, logged_in);
  if (logged_in && endpoint.ca_file.empty()) {
    endpoint.ca = login->ca;
    endpoint.ca_of_login = !login->ca.empty();
  }
  endpoint.timeout_s = settings.timeout_s;
  return endpoint;
}

Style output_style() {
  const bool on_terminal = isatty(STDOUT_FILENO) == 1;
  const auto width = known_width(on_terminal);
  const bool has_colours = on_terminal && environment("TERM") != "dumb";
  return {.width = width.value_or(80),
          .colour = has_colours && environment("NO_COLOR").empty(),
          .terminal = on_terminal,
          .whole = !width && !on_terminal,
          .now = time_now()};
}

Session::Session(const Settings& settings)
    : client_(resolve_endpoint(settings)),
      format_(format_named(settings.format)),
      on_terminal_(isatty(STDOUT_FILENO) == 1),
      style_(output_style()) {}

bool is_retryable(const HttpReply& reply) {
  return reply.status == 503 || reply.status == 429;
}

void require_success(const HttpReply& reply, const ProblemSource& source) {
  if (reply.status >= 200 && reply.status < 300) return;
  const auto problem = parse_json(reply.body);
  const bool may_pass = is_retryable(reply);
  if (!problem.ok() || !problem->is_object()) {
    throw Failure{.message = "the daemon answered with status " + std::to_string(reply.status) + " and no explanation",
                  .may_pass = may_pass,
                  .answered = true};
  }
  std::string text = problem_text(*problem, source);
  if (reply.status == 401) {
    text +=
        "\ngive a token with --token, --token-file (a new daemon writes admin.token into its state directory) or "
        "TIDEPOOL_TOKEN, or: schedctl login";
  }
  throw Failure{.message = std::move(text), .may_pass = may_pass, .answered = true};
}

json body_of(const HttpReply& reply, const ProblemSource& source) {
  require_success(reply, source);
  if (reply.body.empty()) return nullptr;
  auto body = reply.body.size() > kAnswerMax ? Result<json>(invalid_argument("larger than 64 MiB"))
                                             : parse_own_json(reply.body);
  if (!body.ok()) fail(kExitApi, "the daemon's answer is " + body.error().message + "; is it a tidepool daemon?");
  return std::move(body).value();
}

HttpReply Session::get_text(const std::string& path) {
  HttpReply reply = client_.send({.path = path});
  require_success(reply);
  return reply;
}

json Session::get(const std::string& path) {
  return body_of(client_.send({.path = path}));
}

json Session::send(const HttpRequest& request, const ProblemSource& source) {
  return body_of(client_.send(request), source);
}

Listed Session::list(const std::string& path, std::size_t limit) {
  json items = json::array();
  Listed listed = each(path, [&](json item) { items.push_back(std::move(item)); }, limit);
  listed.items = std::move(items);
  return listed;
}

Listed Session::each(const std::string& path, const std::function<void(json)>& take, std::size_t limit) {
  Listed listed;
  const std::string query = path + (path.find('?') == std::string::npos ? "?" : "&") + "limit=";
  std::string cursor;
  std::size_t left = limit;
  do {
    const std::size_t wanted = std::clamp<std::size_t>(left, 1, kPageMax);
    json page = get(query + std::to_string(wanted) + (cursor.empty() ? "" : "&cursor=" + escape_url(cursor)));
    // The first page's number: what happens while the others are read is seen twice rather than never.
    if (cursor.empty()) listed.as_of_seq = static_cast<std::uint64_t>(number_at(page, "/as_of_seq").value_or(0));
    cursor = text_at(page, "/next_cursor");
    if (list_at(page, "/items").empty()) continue;
    for (json& item : page.at("items")) {
      if (left == 0) break;
      --left;
      take(std::move(item));
    }
  } while (!cursor.empty() && left > 0);
  listed.has_more = !cursor.empty();
  return listed;
}

std::string Session::job_id(const std::string& id_or_name) {
  if (JobId::parse(id_or_name)) return id_or_name;
  // No job has such a name, and a daemon refuses control characters wherever they stand.
  if (id_or_name.empty() || printable(id_or_name) != id_or_name) {
    fail(kExitApi, "no job is called \"" + printable(id_or_name) + "\"; see: schedctl ls");
  }
  std::vector<std::string> matches;
  std::vector<std::string> alive;
  for (const auto& job : list("/v1/jobs?name=" + escape_url(id_or_name)).items) {
    if (text_at(job, "/name") != id_or_name) continue;
    matches.push_back(text_at(job, "/id"));
    if (!has_ended(job)) alive.push_back(matches.back());
  }
  if (alive.size() == 1) return alive.front();
  if (matches.size() == 1) return matches.front();
  if (matches.empty()) {
    std::vector<std::string> names;
    for (const auto& job : list("/v1/jobs", kJobsComparedWith).items) names.push_back(text_at(job, "/name"));
    const auto near = nearest_word(id_or_name, names);
    fail(kExitApi, "no job is called \"" + printable(id_or_name) + "\"" +
                       (near ? "; did you mean \"" + printable(*near) + "\"?" : "; see: schedctl ls"));
  }
  fail(kExitUsage, "several jobs are called \"" + printable(id_or_name) +
                       "\"; name one by its id: " + word_list(alive.empty() ? matches : alive));
}

void Session::print(const json& value, const std::function<std::string()>& as_text) const {
  switch (format_) {
    case OutputFormat::kTable: return write_out(as_text());
    case OutputFormat::kJson: return write_out(value.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
    case OutputFormat::kYaml: return write_out(to_yaml(value));
  }
}

void Session::advise(const std::string& text) const {
  if (format_ == OutputFormat::kTable) std::fputs(text.c_str(), stderr);
}

void Session::print_next(const json& value, const std::function<std::string()>& as_text) const {
  switch (format_) {
    case OutputFormat::kTable: return write_out(as_text());
    case OutputFormat::kJson: return write_out(value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
    case OutputFormat::kYaml: return write_out("---\n" + to_yaml(value));
  }
}

std::string time_now() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return timestamp_text(std::chrono::duration_cast<std::chrono::seconds>(since_1970).count());
}

void write_out(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    fail(kExitInternal, "standard output cannot be written");
  }
}

}  // namespace tidepool::ctl
