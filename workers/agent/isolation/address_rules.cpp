#include "workers/agent/isolation/address_rules.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace tidepool::agent {
namespace {

constexpr std::uint8_t kAnswer = BPF_REG_0;
constexpr std::uint8_t kContext = BPF_REG_1;
constexpr std::uint8_t kScratch = BPF_REG_6;
constexpr std::array<std::uint8_t, 4> kWord = {BPF_REG_2, BPF_REG_3, BPF_REG_4, BPF_REG_5};  // words of the address
constexpr std::uint16_t kDns = 53;
constexpr std::uint32_t kMptcp = 262;  // IPPROTO_MPTCP, defined in newer C libraries only

struct MaskedWord {
  std::uint32_t mask = 0;  // in the byte order in memory
  std::uint32_t value = 0;
};

MaskedWord word_at(const IpNetwork& network, std::size_t index) {
  std::array<std::uint8_t, 4> mask{};
  for (std::size_t byte = 0; byte < mask.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      if (static_cast<int>((index * 4 + byte) * 8) + bit < network.prefix) mask[byte] |= 0x80U >> bit;
    }
  }
  MaskedWord word;
  std::memcpy(&word.mask, mask.data(), 4);
  std::memcpy(&word.value, network.address.data() + index * 4, 4);
  return word;
}

// The kernel treats a connection to no address as a connection to loopback; :: from a socket of IPv4 addresses leads to
// 127.0.0.1.
std::vector<IpNetwork> with_ways_to_loopback(std::vector<IpNetwork> denied) {
  const auto network = [](const char* text) { return IpNetwork::parse(text).value(); };
  const bool v4 = holder_of(network("127.0.0.1"), denied) != nullptr;
  const bool v6 = holder_of(network("::1"), denied) != nullptr;
  if (v4) denied.push_back(network("0.0.0.0"));
  if (v4 || v6) denied.push_back(network("::"));
  return denied;
}

class AddressCode {
 public:
  void load(std::uint8_t into, std::size_t offset) {
    add({.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = into, .src_reg = kContext, .off = static_cast<__s16>(offset)});
  }
  void answer(bool allowed) {
    add({.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = kAnswer, .imm = allowed ? 1 : 0});
    add({.code = BPF_JMP | BPF_EXIT});
  }
  // Skips the next `count` instructions if the register has, or does not have, the value.
  void skip(std::uint8_t when, std::uint8_t left, std::uint32_t value, std::size_t count) {
    add({.code = static_cast<__u8>(BPF_JMP32 | when | BPF_K),
         .dst_reg = left,
         .off = static_cast<__s16>(count),
         .imm = static_cast<__s32>(value)});
  }
  // Denies the network, except on `spared_port` (0: none); the first of the address's words is `first`.
  void deny(const IpNetwork& network, std::size_t first, std::uint16_t spared_port) {
    AddressCode rest;
    if (spared_port != 0) {
      rest.load(kScratch, offsetof(bpf_sock_addr, user_port));
      rest.skip(BPF_JEQ, kScratch, htons(spared_port), 2);
    }
    rest.answer(false);
    for (std::size_t index = 4; index-- > first;) {
      const MaskedWord word = word_at(network, index);
      // For a network of all addresses one word is compared: the kernel refuses dead code.
      if (word.mask == 0 && index != 3) continue;
      AddressCode compare;
      compare.add({.code = BPF_ALU | BPF_MOV | BPF_X, .dst_reg = kScratch, .src_reg = kWord[index]});
      compare.add({.code = BPF_ALU | BPF_AND | BPF_K, .dst_reg = kScratch, .imm = static_cast<__s32>(word.mask)});
      compare.skip(BPF_JNE, kScratch, word.value, rest.code_.size());
      compare.append(rest);
      rest = std::move(compare);
    }
    append(rest);
  }
  void deny_all(const AddressRules& rules, bool only_v4) {
    const std::size_t first = only_v4 ? 3 : 0;
    for (const IpNetwork& network : with_ways_to_loopback(rules.denied)) {
      if (!only_v4 || network.v4) deny(network, first, 0);
    }
    if (!rules.metadata) return;
    for (const IpNetwork& network : metadata_addresses()) {
      if (!only_v4 || network.v4) deny(network, first, kDns);
    }
  }
  [[nodiscard]] BpfCode done() && {
    answer(true);
    return std::move(code_);
  }

 private:
  void add(const bpf_insn& instruction) { code_.push_back(instruction); }
  void append(const AddressCode& more) { code_.insert(code_.end(), more.code_.begin(), more.code_.end()); }

  BpfCode code_;
};

}  // namespace

const std::vector<IpNetwork>& metadata_addresses() {
  static const std::vector<IpNetwork> known = [] {
    std::vector<IpNetwork> result;
    for (const char* text : {"169.254.169.254",     // nearly all clouds
                             "fd00:ec2::254",       // EC2
                             "169.254.170.2",       // ECS
                             "169.254.170.23",      // EKS
                             "fd00:ec2::23",        // EKS
                             "fd20:ce::254",        // Google
                             "168.63.129.16",       // Azure, in addition to the first
                             "100.100.100.200",     // Alibaba
                             "fe80::a9fe:a9fe",     // OpenStack
                             "fd00:c1::a9fe:a9fe"}  // Oracle
    ) {
      result.push_back(IpNetwork::parse(text).value());
    }
    return result;
  }();
  return known;
}

BpfCode ipv4_check(const AddressRules& rules) {
  AddressCode code;
  code.load(kWord[3], offsetof(bpf_sock_addr, user_ip4));
  code.deny_all(rules, true);
  return std::move(code).done();
}

BpfCode ipv6_check(const AddressRules& rules) {
  AddressCode code;
  for (std::size_t index = 0; index < kWord.size(); ++index) {
    code.load(kWord[index], offsetof(bpf_sock_addr, user_ip6) + index * 4);
  }
  code.deny_all(rules, false);
  return std::move(code).done();
}

BpfCode socket_check() {
  AddressCode code;
  code.load(kScratch, offsetof(bpf_sock, protocol));
  const std::array<std::uint32_t, 6> seen = {IPPROTO_TCP,  IPPROTO_UDP,    IPPROTO_UDPLITE,
                                             IPPROTO_ICMP, IPPROTO_ICMPV6, kMptcp};
  for (std::size_t index = 0; index < seen.size(); ++index) {
    code.skip(BPF_JEQ, kScratch, seen[index], seen.size() - index - 1 + 2);
  }
  code.answer(false);
  return std::move(code).done();
}

}  // namespace tidepool::agent
