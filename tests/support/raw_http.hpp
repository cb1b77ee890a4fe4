// A client that sends exactly the bytes it is given, over a real socket: no HTTP library would send
// what the tests of the server must send. Every wait is bounded.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tidepool::test {

struct RawResponse {
  int status = 0;                              // 0 = the connection closed without an answer
  std::map<std::string, std::string> headers;  // lower-case names
  std::string body;                            // chunks joined
};

class RawConnection {
 public:
  // Connects to 127.0.0.1. `receive_buffer` > 0 asks for a small one, for slow readers.
  explicit RawConnection(int port, int receive_buffer = 0);
  ~RawConnection();
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  // False if the server has closed.
  bool send(std::string_view bytes);
  // The next response, whole. `head_request` = it has no body whatever its head says.
  RawResponse response(bool head_request = false);
  // Waits until `text` has come (it stays in seen()); false if the connection closed or 10 s passed.
  bool wait_for(std::string_view text);
  // Waits for the other side's close; false after 10 s.
  bool wait_for_close();
  // Whether the other side has closed, after waiting for that so long at most.
  bool closed_within(int milliseconds);
  // All bytes so far that no response has used.
  [[nodiscard]] const std::string& seen() const { return seen_; }

 private:
  bool read_more(int patience_ms);
  std::string take_chunks(std::size_t from);

  int socket_ = -1;
  bool closed_ = false;
  std::string seen_;
};

}  // namespace tidepool::test
