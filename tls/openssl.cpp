#include "tls/openssl.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>

#include "base/check.hpp"

namespace tidepool::tls {
namespace {

using Memory = std::unique_ptr<BIO, Freed<BIO_free_all>>;

Memory reader_of(const std::string& text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string text_in(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

std::string newest_complaint() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "no reason given" : reason;
}

Result<std::vector<CertificateHandle>> read_certificates(const std::string& pem) {
  const Memory memory = reader_of(pem);
  std::vector<CertificateHandle> found;
  while (X509* one = PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr)) found.emplace_back(one);
  const std::string why = newest_complaint();  // "no start line" after the last one
  if (found.empty()) return invalid_argument("there is no PEM certificate in it: " + why);
  return found;
}

Result<KeyHandle> read_key(const std::string& pem) {
  const Memory memory = reader_of(pem);
  // The empty password prevents OpenSSL from asking for one on a terminal.
  KeyHandle key(PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, const_cast<char*>("")));
  if (key == nullptr) return invalid_argument("there is no PEM key without a password in it: " + newest_complaint());
  return key;
}

std::string to_pem(X509& certificate) {
  const Memory memory(BIO_new(BIO_s_mem()));
  TP_CHECK(PEM_write_bio_X509(memory.get(), &certificate) == 1, "a certificate can be written to memory");
  return text_in(memory.get());
}

std::string to_pem(EVP_PKEY& key) {
  const Memory memory(BIO_new(BIO_s_mem()));
  TP_CHECK(PEM_write_bio_PrivateKey(memory.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
           "a key can be written to memory");
  return text_in(memory.get());
}

std::string fingerprint_of_bytes(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  TP_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) == 1,
           "SHA-256 is there");
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "sha256:";
  for (unsigned int at = 0; at < size; ++at) {
    text += kDigits[digest[at] >> 4U];
    text += kDigits[digest[at] & 0xfU];
  }
  return text;
}

std::string fingerprint_of(const X509& certificate) {
  unsigned char* bytes = nullptr;
  const int size = i2d_X509(&certificate, &bytes);
  TP_CHECK(size > 0, "a certificate that was read can be written");
  std::string text = fingerprint_of_bytes({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
  OPENSSL_free(bytes);
  return text;
}

}  // namespace tidepool::tls
