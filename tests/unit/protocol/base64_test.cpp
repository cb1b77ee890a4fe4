#include <catch2/catch.hpp>

#include "api/base64.hpp"

namespace tidepool::api {

// RFC 4648 section 10.
TEST_CASE("base64 gives the texts of the standard's own examples") {
  CHECK(encode_base64("").empty());
  CHECK(encode_base64("f") == "Zg==");
  CHECK(encode_base64("fo") == "Zm8=");
  CHECK(encode_base64("foo") == "Zm9v");
  CHECK(encode_base64("foob") == "Zm9vYg==");
  CHECK(encode_base64("fooba") == "Zm9vYmE=");
  CHECK(encode_base64("foobar") == "Zm9vYmFy");
}

TEST_CASE("base64 gives back every byte at every length") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    CHECK(decode_base64(encode_base64(bytes)) == bytes);
    bytes += static_cast<char>(i * 7);
  }
}

TEST_CASE("base64 refuses everything that it would not have written") {
  for (const char* text :
       {"Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm9v\n", " Zg=", "Z=g=", "====", "Zg==Zg==", "Zm-_"}) {
    CAPTURE(text);
    CHECK_FALSE(decode_base64(text).has_value());
  }
}

}  // namespace tidepool::api
