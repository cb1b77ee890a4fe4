// Shared by all commands that talk to the daemon: requests that fail with the daemon's message, complete reads of
// lists, lookup of jobs by id or name, and output in the requested format.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "schedctl/http_client.hpp"
#include "schedctl/pages.hpp"
#include "schedctl/words.hpp"

namespace tidepool::ctl {

enum class OutputFormat { kTable, kJson, kYaml };

// As given on the command line and in the environment; empty = not given.
struct Settings {
  std::string url;
  std::string token;
  std::string token_file;
  std::string ca_file;
  std::string format = "table";
  long timeout_s = 30;
};

// The address comes from --url, TIDEPOOL_URL or `schedctl login`. A stored login is used for its address only. The
// authority of an https:// daemon: --ca, TIDEPOOL_CA, the login, on loopback the file in the daemon's state directory,
// else the system's authorities. The token: --token, --token-file, TIDEPOOL_TOKEN, the login, on loopback the file that
// the daemon writes at its first start. Throws Failure if a named file cannot be read, or if a token would leave this
// machine without TLS.
[[nodiscard]] Endpoint resolve_endpoint(const Settings& settings);

// Items read from a cursor list. They include events up to `as_of_seq`, so a stream from there has no gap.
struct Listed {
  nlohmann::json items = nlohmann::json::array();
  std::uint64_t as_of_seq = 0;
  bool has_more = false;  // than were asked for
};

class Session {
 public:
  explicit Session(const Settings& settings);

  // The body of a 2xx answer. Throws Failure with problem_text() for any other status.
  nlohmann::json get(const std::string& path);
  // The same for a body that is not JSON.
  HttpReply get_text(const std::string& path);
  nlohmann::json send(const HttpRequest& request, const ProblemSource& source = {});
  // The items of a cursor list, read in large pages: all of them, or the first `limit`.
  Listed list(const std::string& path, std::size_t limit = SIZE_MAX);
  // The same for a list too long for memory: calls `take` with each item.
  Listed each(const std::string& path, const std::function<void(nlohmann::json)>& take, std::size_t limit = SIZE_MAX);
  // The id of the job with this id or name. A name that several jobs have means the one that has not ended.
  std::string job_id(const std::string& id_or_name);

  // `as_text` is called only for the table form.
  void print(const nlohmann::json& value, const std::function<std::string()>& as_text) const;
  // Prints additional information to standard error, because standard output may go to a program. Only in the table
  // format.
  void advise(const std::string& text) const;
  // One of many that are printed as they come: a text, a line of JSON, or a document of YAML.
  void print_next(const nlohmann::json& value, const std::function<std::string()>& as_text) const;

  [[nodiscard]] OutputFormat format() const { return format_; }
  [[nodiscard]] const Style& style() const { return style_; }
  [[nodiscard]] bool on_terminal() const { return on_terminal_; }
  [[nodiscard]] const Endpoint& endpoint() const { return client_.endpoint(); }

 private:
  HttpClient client_;
  OutputFormat format_;
  bool on_terminal_;
  Style style_;
};

// Of standard output: its width, and whether it takes colours.
[[nodiscard]] Style output_style();

// "2026-11-20T21:53:31Z".
[[nodiscard]] std::string time_now();

// Writes to standard output and flushes; a closed pipe ends the program as in any Unix tool.
void write_out(const std::string& text);

// The daemon or an agent is away, or overloaded: a retry may succeed.
[[nodiscard]] bool is_retryable(const HttpReply& reply);

// Throws Failure, with the daemon's own words, unless the status is 2xx.
void require_success(const HttpReply& reply, const ProblemSource& source = {});

// Throws Failure unless the reply is 2xx; else its body as JSON (null if empty).
[[nodiscard]] nlohmann::json body_of(const HttpReply& reply, const ProblemSource& source = {});

}  // namespace tidepool::ctl
