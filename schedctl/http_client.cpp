#include "schedctl/http_client.hpp"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "schedctl/failure.hpp"

namespace tidepool::ctl {
namespace {

constexpr std::size_t kBodyMax = 64U << 20U;

struct Sink {
  std::string* body = nullptr;
  std::string pending;  // of the last, unfinished line
  const std::function<bool(std::string_view)>* on_line = nullptr;
  CURL* curl = nullptr;
  bool stopped = false;
  std::exception_ptr thrown;  // by on_line; must not pass through libcurl's C frames
};

bool accepts_line(Sink& sink, std::string_view line) {
  try {
    return (*sink.on_line)(line);
  } catch (...) {
    sink.thrown = std::current_exception();
    return false;
  }
}

// Returning less than was given makes libcurl stop the transfer.
std::size_t take_body(char* data, std::size_t, std::size_t size, void* user) {
  auto& sink = *static_cast<Sink*>(user);
  long status = 0;
  curl_easy_getinfo(sink.curl, CURLINFO_RESPONSE_CODE, &status);
  if (sink.on_line == nullptr || status != 200) {
    if (sink.body->size() + size > kBodyMax) return 0;
    sink.body->append(data, size);
    return size;
  }
  sink.pending.append(data, size);
  std::size_t begin = 0;
  for (auto end = sink.pending.find('\n'); end != std::string::npos; end = sink.pending.find('\n', begin)) {
    std::string_view line(sink.pending.data() + begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    begin = end + 1;
    if (!accepts_line(sink, line)) {
      sink.stopped = true;
      return 0;
    }
  }
  sink.pending.erase(0, begin);
  return sink.pending.size() > kBodyMax ? 0 : size;
}

std::size_t take_header(char* data, std::size_t, std::size_t size, void* user) {
  auto& headers = *static_cast<std::map<std::string, std::string>*>(user);
  const std::string_view line(data, size);
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  std::string name(line.substr(0, colon));
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto first = line.find_first_not_of(" \t\r\n", colon + 1);
  const auto last = line.find_last_not_of(" \t\r\n");
  headers[name] = first == std::string_view::npos ? "" : std::string(line.substr(first, last + 1 - first));
  return size;
}

[[noreturn]] void fail_for_now(std::string message) {
  throw Failure{.exit_code = kExitNoDaemon, .message = std::move(message), .may_pass = true};
}

// OpenSSL's and curl's words say which of three it is.
std::string advice(const Endpoint& endpoint, std::string_view detail) {
  const auto says = [&](std::string_view word) { return detail.find(word) != std::string_view::npos; };
  if (says("expired")) return "the daemon's certificate must be renewed, or the clock here is wrong";
  if (says("not yet valid")) return "look at the clocks of the daemon's machine and of this one";
  if (says("match") || says("alternative")) {
    return "call the daemon by a name in its certificate, or add this one there (tls: {names: [NAME]} of its "
           "configuration, or in a certificate of your own)";
  }
  if (endpoint.ca_of_login) {
    return "the authority that login has kept is not that of this daemon; if it was replaced there, log in again: "
           "schedctl login --fingerprint sha256:..., with the new one (ca_fingerprint in the ready line of the daemon)";
  }
  if (!endpoint.ca.empty() || !endpoint.ca_file.empty())
    return "the authority that was given is not that of this daemon (tls/ca.pem of its state directory)";
  return "give the authority of this daemon (tls/ca.pem of its state directory) with --ca or TIDEPOOL_CA";
}

// What was asked for, and whether the daemon had answered anything before.
struct Asked {
  const HttpRequest& request;
  bool answered_before = false;
  bool connected = true;  // to it, or to a proxy
};

// Of an answer that did not come: what that leaves open; empty where nothing was to be changed.
std::string left_open(const HttpRequest& request) {
  const bool changes =
      request.method != "GET" && request.path != "/v1/plan" && request.path.find("dry_run=true") == std::string::npos;
  if (!changes) return "";
  return "; it is not known whether it was carried out: " +
         (request.if_unanswered.empty() ? "look before you ask again" : request.if_unanswered);
}

std::string closed_early(const Endpoint& endpoint, const Asked& asked, const char* detail) {
  const bool plain = !endpoint.url.starts_with("https:");
  const std::string open = left_open(asked.request);
  if (plain && open.empty() && !asked.answered_before) {
    return "the daemon at " + endpoint.url +
           " closed the connection; if it speaks TLS, its address begins with https://";
  }
  const std::string what = "the daemon at " + endpoint.url + " closed the connection before it answered" +
                           (plain ? "" : std::string(" (") + detail + ")");
  if (open.empty()) return what + "; look whether it still runs, and ask again";
  const bool may_be_tls = plain && !asked.answered_before;
  return what + open + (may_be_tls ? "; if it speaks TLS, its address begins with https://" : "");
}

struct NamedProxy {
  const char* variable;
  std::string value;
};

// As libcurl looks for it: HTTP_PROXY in capitals is not taken, because a CGI client could set it.
std::optional<NamedProxy> named_proxy(const std::string& url) {
  const bool secure = url.starts_with("https:");
  for (const char* variable : std::array{secure ? "https_proxy" : "http_proxy", secure ? "HTTPS_PROXY" : "http_proxy",
                                         "all_proxy", "ALL_PROXY"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return NamedProxy{variable, value};
  }
  return std::nullopt;
}

// Without the password that may stand before it.
std::string host_in(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), curl_url_cleanup);
  char* text = nullptr;
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_GUESS_SCHEME) != CURLUE_OK) return "";
  if (curl_url_get(parsed.get(), CURLUPART_HOST, &text, 0) != CURLUE_OK) return "";
  std::string host(text);
  curl_free(text);
  return host;
}

// Of a request to `url` that failed with libcurl's words `detail`: what the environment's proxy has to do with it and
// what to do; empty where none was asked.
std::string proxy_trouble(const std::string& url, std::string_view detail) {
  const auto proxy = is_loopback_url(url) ? std::nullopt : named_proxy(url);  // loopback is never sent through one
  if (!proxy) return "";
  const std::string host = host_in(proxy->value);
  const auto says = [&](std::string_view word) { return detail.find(word) != std::string_view::npos; };
  const bool asked = says("CONNECT tunnel") || says("resolve proxy") || says("connect to " + host + " port");
  if (!asked) return "";
  return "no way to the daemon at " + url + " through the proxy that " + proxy->variable + " names (" + host +
         "): " + std::string(detail) + "; where it is reached without a proxy, add " + host_in(url) + " to no_proxy";
}

// A daemon to try things out would not be the one that is asked for by TLS or on another machine.
std::string no_daemon(const Endpoint& endpoint) {
  const bool here = endpoint.url.starts_with("http://127.0.0.1:") || endpoint.url.starts_with("http://localhost:");
  return "no daemon answers at " + endpoint.url +
         (here ? "; start it; to try things out: schedulerd --dev"
               : "; check that it runs, its address and its port, and that no firewall is between");
}

[[noreturn]] void explain_and_fail(CURLcode code, const Endpoint& endpoint, const Asked& asked, const char* detail) {
  if (std::string why = proxy_trouble(endpoint.url, detail); !why.empty()) fail_for_now(std::move(why));
  switch (code) {
    case CURLE_COULDNT_CONNECT: fail_for_now(no_daemon(endpoint));
    case CURLE_OPERATION_TIMEDOUT:
      if (!asked.connected) fail_for_now(no_daemon(endpoint));
      fail(kExitTimeout, "the daemon at " + endpoint.url + " did not answer within " +
                             std::to_string(endpoint.timeout_s) + " s; look at its log, or allow more with --timeout" +
                             left_open(asked.request));
    case CURLE_COULDNT_RESOLVE_HOST:
      fail(kExitNoDaemon, "the host in " + endpoint.url + " is not known; check --url or TIDEPOOL_URL");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      fail(kExitNoDaemon,
           "the daemon at " + endpoint.url + " is not trusted: " + detail + "; " + advice(endpoint, detail));
    case CURLE_SSL_CONNECT_ERROR:
      fail(kExitNoDaemon, "no TLS connection with the daemon at " + endpoint.url + ": " + detail +
                              "; if it speaks plain HTTP, its address begins with http://");
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR: fail_for_now(closed_early(endpoint, asked, detail));
    case CURLE_UNSUPPORTED_PROTOCOL:
      if (std::string_view(detail).find("HTTP/0.9") != std::string_view::npos) {
        fail(kExitNoDaemon,
             "what answers at " + endpoint.url +
                 (endpoint.url.starts_with("https:")
                      ? " does not speak HTTP, as the daemon's port for agents; its address for schedctl is "
                        "the url in its ready line"
                      : " does not speak plain HTTP; if it speaks TLS, its address begins with https://"));
      }
      [[fallthrough]];
    case CURLE_URL_MALFORMAT:
      fail(kExitUsage, "\"" + endpoint.url + "\" is no address of a daemon; it looks like http://127.0.0.1:7480");
    default: break;
  }
  fail(kExitNoDaemon, "the connection to " + endpoint.url + " failed: " +
                          (detail[0] != '\0' ? std::string(detail) : std::string(curl_easy_strerror(code))) +
                          (code == CURLE_PARTIAL_FILE ? left_open(asked.request) : ""));
}

struct HeaderList {
  HeaderList() = default;
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
  ~HeaderList() { curl_slist_free_all(list); }
  void add(const std::string& line) { list = curl_slist_append(list, line.c_str()); }
  curl_slist* list = nullptr;
};

}  // namespace

struct HttpClient::Handle {
  CURL* curl = curl_easy_init();
  char detail[CURL_ERROR_SIZE] = {};

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { curl_easy_cleanup(curl); }

  void begin(const Endpoint& endpoint, const HttpRequest& request, HeaderList& headers, Sink& sink) {
    curl_easy_reset(curl);  // keeps the connection
    detail[0] = '\0';
    sink.curl = curl;
    const std::string url = endpoint.url + request.path;
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 5L);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_3));
    if (!endpoint.ca.empty()) {
      curl_blob authority{
          .data = const_cast<char*>(endpoint.ca.data()), .len = endpoint.ca.size(), .flags = CURL_BLOB_COPY};
      curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &authority);
      curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);
    } else if (!endpoint.ca_file.empty()) {
      curl_easy_setopt(curl, CURLOPT_CAINFO, endpoint.ca_file.c_str());
      curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);  // else the system's authorities would be good as well
    }
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &sink);
    // A proxy in the environment cannot reach this machine's own loopback.
    if (is_loopback_url(endpoint.url)) curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (request.method != "GET") curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (!request.body.empty() || request.method == "POST") {
      curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
      curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, request.body.c_str());
      headers.add("Content-Type: application/json");
      headers.add("Expect:");
    }
    if (!endpoint.token.empty()) headers.add("Authorization: Bearer " + endpoint.token);
    for (const auto& line : request.headers) headers.add(line);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.list);
  }

  [[nodiscard]] bool connected() const {
    curl_off_t took_us = 0;
    curl_easy_getinfo(curl, CURLINFO_CONNECT_TIME_T, &took_us);
    return took_us > 0;
  }

  [[nodiscard]] long status() const {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
  }
};

HttpClient::HttpClient(Endpoint endpoint) : handle_(std::make_unique<Handle>()), endpoint_(std::move(endpoint)) {
  while (endpoint_.url.ends_with('/')) endpoint_.url.pop_back();
  if (handle_->curl == nullptr) fail(kExitInternal, "the HTTP library could not be started: out of memory");
}

HttpClient::~HttpClient() = default;

HttpReply HttpClient::send(const HttpRequest& request) {
  HttpReply reply;
  Sink sink{.body = &reply.body};
  HeaderList headers;
  headers.add("Accept: application/json, text/plain");
  handle_->begin(endpoint_, request, headers, sink);
  curl_easy_setopt(handle_->curl, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(handle_->curl, CURLOPT_HEADERDATA, &reply.headers);
  curl_easy_setopt(handle_->curl, CURLOPT_TIMEOUT, endpoint_.timeout_s);
  const CURLcode code = curl_easy_perform(handle_->curl);
  if (code != CURLE_OK)
    explain_and_fail(code, endpoint_, {request, answered_, answered_ || handle_->connected()}, handle_->detail);
  answered_ = true;
  reply.status = handle_->status();
  return reply;
}

HttpReply HttpClient::stream(const std::string& path, const std::function<bool(std::string_view)>& on_line,
                             long limit_s) {
  HttpReply reply;
  Sink sink{.body = &reply.body, .on_line = &on_line};
  HeaderList headers;
  headers.add("Accept: text/event-stream");
  const HttpRequest request{.path = path};
  handle_->begin(endpoint_, request, headers, sink);
  curl_easy_setopt(handle_->curl, CURLOPT_TIMEOUT, limit_s);
  curl_easy_setopt(handle_->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle_->curl, CURLOPT_LOW_SPEED_TIME, 60L);
  const CURLcode code = curl_easy_perform(handle_->curl);
  if (sink.thrown) std::rethrow_exception(sink.thrown);
  reply.status = handle_->status();
  const bool began = reply.status == 200;  // what breaks later is the end of a stream, not a failure
  if (code != CURLE_OK && !sink.stopped && !began) {
    explain_and_fail(code, endpoint_, {request, answered_, answered_ || handle_->connected()}, handle_->detail);
  }
  answered_ = true;
  return reply;
}

std::string HttpClient::shown_certificate(const std::function<bool(const std::string& pem)>& is_it) {
  // A connection of its own, closed at the end: none that was not verified may carry a token later.
  Handle asking;
  std::string body;
  Sink sink{.body = &body};
  HeaderList headers;
  Endpoint untrusted = endpoint_;
  untrusted.token.clear();
  const HttpRequest request{.path = "/"};
  asking.begin(untrusted, request, headers, sink);
  curl_easy_setopt(asking.curl, CURLOPT_NOBODY, 1L);
  curl_easy_setopt(asking.curl, CURLOPT_SSL_VERIFYPEER, 0L);
  curl_easy_setopt(asking.curl, CURLOPT_SSL_VERIFYHOST, 0L);
  curl_easy_setopt(asking.curl, CURLOPT_CERTINFO, 1L);
  curl_easy_setopt(asking.curl, CURLOPT_TIMEOUT, untrusted.timeout_s);
  const CURLcode code = curl_easy_perform(asking.curl);
  if (code != CURLE_OK) explain_and_fail(code, untrusted, {request, answered_, asking.connected()}, asking.detail);
  curl_certinfo* shown = nullptr;
  if (curl_easy_getinfo(asking.curl, CURLINFO_CERTINFO, &shown) != CURLE_OK || shown == nullptr) return "";
  constexpr std::string_view kField = "Cert:";
  for (int at = 0; at < shown->num_of_certs; ++at) {
    for (const curl_slist* field = shown->certinfo[at]; field != nullptr; field = field->next) {
      const std::string_view text = field->data;
      if (!text.starts_with(kField)) continue;
      std::string pem(text.substr(kField.size()));
      if (is_it(pem)) return pem;
    }
  }
  return "";
}

bool is_loopback_url(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), curl_url_cleanup);
  char* text = nullptr;
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return false;
  if (curl_url_get(parsed.get(), CURLUPART_HOST, &text, 0) != CURLUE_OK) return false;
  const std::string host(text);
  curl_free(text);
  in_addr address{};
  const bool is_ipv4 = inet_pton(AF_INET, host.c_str(), &address) == 1;
  return host == "localhost" || host == "[::1]" || (is_ipv4 && (ntohl(address.s_addr) >> 24U) == 127);
}

std::string escape_url(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '~';
    const auto byte = static_cast<unsigned char>(c);
    if (plain) {
      escaped += c;
    } else {
      escaped += '%';
      escaped += "0123456789ABCDEF"[byte >> 4U];
      escaped += "0123456789ABCDEF"[byte & 0xfU];
    }
  }
  return escaped;
}

}  // namespace tidepool::ctl
