// Shapes of requests that servers read in different ways, each with the one outcome that ours must
// give. The unit test holds the validator against them, the integration test the whole server over a
// socket. `Host: H` stands for the server's own.
#pragma once

#include <string>
#include <vector>

namespace tidepool::test {

struct RequestShape {
  const char* name;
  std::string bytes;
  int status;           // of the answer, after which the connection closes; 0 = the request is good
  const char* code;     // of the problem
  bool in_head = true;  // refused on the head alone; else on the body
};

inline std::vector<RequestShape> request_shapes() {
  const std::string h = "POST /v1/jobs HTTP/1.1\r\nHost: H\r\nContent-Type: application/json\r\n";
  std::string many_headers = h;
  for (int i = 0; i < 1'500; ++i) many_headers += "A:\r\n";
  const std::string te = h + "Transfer-Encoding: chunked\r\n";
  return {
      {"length, then chunked", h + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
       "AmbiguousLength"},
      {"chunked, then length", te + "Content-Length: 3\r\n\r\n0\r\n\r\n", 400, "AmbiguousLength"},
      {"gzip with a length", h + "Transfer-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabcGET /smuggled", 400,
       "AmbiguousLength"},
      {"chunked is not last", h + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400, "BadTransferEncoding"},
      {"xchunked", h + "Transfer-Encoding: xchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 400, "BadTransferEncoding"},
      {"identity only", h + "Transfer-Encoding: identity\r\n\r\nGET /smuggled", 400, "BadTransferEncoding"},
      {"two encodings", te + "Transfer-Encoding: identity\r\n\r\n0\r\n\r\n", 400, "BadTransferEncoding"},
      {"two equal lengths", h + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400, "BadContentLength"},
      {"two lengths", h + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400, "BadContentLength"},
      {"a list of lengths", h + "Content-Length: 3,3\r\n\r\nabc", 400, "BadContentLength"},
      {"a signed length", h + "Content-Length: +3\r\n\r\nabc", 400, "BadContentLength"},
      {"a hexadecimal length", h + "Content-Length: 0x3\r\n\r\nabc", 400, "BadContentLength"},
      {"chunked in HTTP/1.0", "POST / HTTP/1.0\r\nHost: H\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
       400, "BadTransferEncoding"},
      {"bare line feeds", "POST / HTTP/1.1\nHost: H\nContent-Length: 0\n\n", 400, "BareLineFeed"},
      {"a folded header", h + "X: a\r\n b\r\nContent-Length: 0\r\n\r\n", 400, "FoldedHeader"},
      {"a blank before the colon", h + "Content-Length : 3\r\n\r\nabc", 400, "BadHeader"},
      {"NUL in a value", h + std::string("X: a\0b\r\nContent-Length: 0\r\n\r\n", 29), 400, "ControlByte"},
      {"no Host", "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 400, "BadHost"},
      {"two Hosts", h + "Host: b\r\nContent-Length: 0\r\n\r\n", 400, "BadHost"},
      {"an empty target", "POST  HTTP/1.1\r\nHost: H\r\n\r\n", 400, "BadTarget"},
      {"a target with a host", "POST http://evil/ HTTP/1.1\r\nHost: H\r\nContent-Length: 0\r\n\r\n", 400, "BadTarget"},
      {"a length in the trailers", te + "\r\n2\r\n{}\r\n0\r\nContent-Length: 10\r\n\r\n", 400, "BadBody", false},
      {"a token in the trailers", te + "\r\n2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n", 0, ""},
      {"a chunk extension of 20 kB", te + "\r\n3;" + std::string(20'000, 'a') + "\r\nabc\r\n0\r\n\r\n", 400, "BadBody",
       false},
      {"a chunk size of 17 digits", te + "\r\n10000000000000003\r\nabc\r\n0\r\n\r\n", 400, "BadBody", false},
      {"a header of 9 kB", h + "X: " + std::string(9'000, 'a') + "\r\nContent-Length: 0\r\n\r\n", 431, "HeadTooLarge"},
      {"1,500 tiny headers", many_headers + "\r\n", 431, "TooManyHeaders"},
      // beyond the 26 of the list above's source
      {"a bare carriage return", "GET / HTTP/1.1\r\nHost: H\rX: y\r\n\r\n", 400, "BareCarriageReturn"},
      {"an unknown method", "BREW / HTTP/1.1\r\nHost: H\r\n\r\n", 400, "UnknownMethod"},
      {"CONNECT", "CONNECT / HTTP/1.1\r\nHost: H\r\n\r\n", 400, "UnknownMethod"},
      {"a version from the future", "GET / HTTP/2.0\r\nHost: H\r\n\r\n", 400, "BadVersion"},
      {"no version", "GET /\r\n\r\n", 400, "BadRequestLine"},
      {"an asterisk", "OPTIONS * HTTP/1.1\r\nHost: H\r\n\r\n", 400, "BadTarget"},
      {"a header without a colon", "GET / HTTP/1.1\r\nHost: H\r\nhello\r\n\r\n", 400, "BadHeader"},
      {"a header without a name", "GET / HTTP/1.1\r\nHost: H\r\n: x\r\n\r\n", 400, "BadHeader"},
      {"an empty line first", "\r\nGET / HTTP/1.1\r\nHost: H\r\n\r\n", 400, "BadRequestLine"},
      {"TLS", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), 400, "ControlByte"},
      {"another Host", "GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421, "UnknownHost"},
      {"a Host that begins like ours", "GET /healthz HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", 421,
       "UnknownHost"},
      {"another Origin", "GET /healthz HTTP/1.1\r\nHost: H\r\nOrigin: http://evil.example\r\n\r\n", 403,
       "ForeignOrigin"},
      {"a null Origin", "GET /healthz HTTP/1.1\r\nHost: H\r\nOrigin: null\r\n\r\n", 403, "ForeignOrigin"},
      {"a form", "POST /v1/jobs HTTP/1.1\r\nHost: H\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", 415,
       "NotJson"},
      {"a packed body", h + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", 415, "EncodedBody"},
      {"a body of no type", "POST /v1/jobs HTTP/1.1\r\nHost: H\r\nContent-Length: 2\r\n\r\n{}", 415, "NotJson"},
      {"a body of 2 MB announced", h + "Content-Length: 2000000\r\n\r\n", 413, "BodyTooLarge"},
      {"a length beyond 64 bits", h + "Content-Length: 99999999999999999999\r\n\r\n", 400, "BadContentLength"},
      {"an odd expectation", h + "Expect: magic\r\nContent-Length: 2\r\n\r\n{}", 417, "UnknownExpectation"},
      {"a broken escape", "GET /v1/%zz HTTP/1.1\r\nHost: H\r\n\r\n", 400, "BadPath"},
      {"an encoded slash", "GET /v1%2fjobs HTTP/1.1\r\nHost: H\r\n\r\n", 400, "BadPath"},
      {"an encoded NUL", "GET /v1/%00 HTTP/1.1\r\nHost: H\r\n\r\n", 400, "BadPath"},
      {"a dot segment", "GET /v1/../metrics HTTP/1.1\r\nHost: H\r\n\r\n", 400, "BadPath"},
      {"an encoded dot segment", "GET /v1/%2e%2e/metrics HTTP/1.1\r\nHost: H\r\n\r\n", 400, "BadPath"},
      {"a parameter twice", "GET /v1/jobs?limit=1&limit=2 HTTP/1.1\r\nHost: H\r\n\r\n", 400, "RepeatedParameter"},
      {"a parameter without a name", "GET /v1/jobs?=2 HTTP/1.1\r\nHost: H\r\n\r\n", 400, "BadQuery"},
  };
}

inline std::string with_host(std::string bytes, const std::string& host) {
  const std::string mark = "Host: H\r";
  const auto at = bytes.find(mark);
  if (at != std::string::npos) bytes.replace(at, mark.size(), "Host: " + host + "\r");
  return bytes;
}

}  // namespace tidepool::test
