#include "workers/agent/isolation/address_rules.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>

#include "workers/agent/isolation/confinement.hpp"

namespace tidepool::agent {
namespace {

constexpr std::size_t kInstructionsMax = 4'096;  // of kernels to this day, for programs of any user

// What the kernel answers, for the few instructions that are used; a jump back, or beyond the end, fails.
template <class Context>
std::uint64_t answer_of(const BpfCode& code, const Context& context) {
  std::array<std::uint64_t, 11> registers{};
  for (std::size_t at = 0; at < code.size(); ++at) {
    const bpf_insn& each = code[at];
    std::uint64_t& into = registers.at(each.dst_reg);
    const auto constant = static_cast<std::uint32_t>(each.imm);
    switch (each.code) {
      case BPF_LDX | BPF_MEM | BPF_W: {
        REQUIRE(each.src_reg == BPF_REG_1);
        REQUIRE(static_cast<std::size_t>(each.off) + 4 <= sizeof context);
        std::uint32_t word = 0;
        std::memcpy(&word, reinterpret_cast<const char*>(&context) + each.off, 4);
        into = word;
        break;
      }
      case BPF_ALU64 | BPF_MOV | BPF_K: into = constant; break;
      case BPF_ALU | BPF_MOV | BPF_X: into = static_cast<std::uint32_t>(registers.at(each.src_reg)); break;
      case BPF_ALU | BPF_AND | BPF_K: into = static_cast<std::uint32_t>(into) & constant; break;
      case BPF_JMP32 | BPF_JEQ | BPF_K:
      case BPF_JMP32 | BPF_JNE | BPF_K: {
        REQUIRE(each.off > 0);
        const bool equal = static_cast<std::uint32_t>(into) == constant;
        if (equal == (BPF_OP(each.code) == BPF_JEQ)) at += static_cast<std::size_t>(each.off);
        break;
      }
      case BPF_JMP | BPF_EXIT: return registers[BPF_REG_0];
      default: FAIL("an instruction that is not used: " << int(each.code));
    }
  }
  FAIL("the code has no end");
  return 0;
}

// Of both families: IPv4 as such, and through an IPv6 socket.
bool allowed(const AddressRules& rules, const std::string& address, int port = 80) {
  bpf_sock_addr socket{};
  socket.user_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, address.c_str(), &socket.user_ip4) != 1) {
    REQUIRE(::inet_pton(AF_INET6, address.c_str(), socket.user_ip6) == 1);
    return answer_of(ipv6_check(rules), socket) != 0;
  }
  const bool plain = answer_of(ipv4_check(rules), socket) != 0;
  socket.user_ip6[2] = htonl(0xffff);
  socket.user_ip6[3] = socket.user_ip4;
  CHECK((answer_of(ipv6_check(rules), socket) != 0) == plain);
  return plain;
}

AddressRules denying(std::initializer_list<const char*> texts, bool metadata = false) {
  AddressRules rules{.metadata = metadata};
  for (const char* text : texts) rules.denied.push_back(IpNetwork::parse(text).value());
  return rules;
}

}  // namespace

TEST_CASE("the metadata addresses of clouds are denied, but for the names that some of them resolve") {
  const AddressRules rules;
  for (const char* address : {"169.254.169.254", "fd00:ec2::254", "168.63.129.16", "fd20:ce::254"}) {
    CAPTURE(address);
    CHECK_FALSE(allowed(rules, address));
    CHECK_FALSE(allowed(rules, address, 0x3500));  // 53 with its bytes turned around
    CHECK(allowed(rules, address, 53));
  }
  for (const char* address : {"169.254.169.253", "168.254.169.254", "127.0.0.1", "10.0.0.1", "fd00:ec2::253", "::1",
                              "fd01:ec2::254", "::a9fe:a9fe"}) {
    CAPTURE(address);
    CHECK(allowed(rules, address));
  }
  CHECK(allowed({.metadata = false}, "169.254.169.254"));
}

TEST_CASE("a network that an operator denies is denied on every port, to its last address and no further") {
  const AddressRules rules = denying({"10.128.0.0/9", "192.168.1.7", "fd00:1::/33", "2001:db8::1"});
  for (const char* address :
       {"10.128.0.0", "10.255.255.255", "192.168.1.7", "fd00:1::", "fd00:1:7fff::9", "2001:db8::1"}) {
    CAPTURE(address);
    CHECK_FALSE(allowed(rules, address));
    CHECK_FALSE(allowed(rules, address, 53));
  }
  for (const char* address : {"10.127.255.255", "11.0.0.0", "192.168.1.6", "fd00:1:8000::", "2001:db8::2",
                              "2001:db8:0:1::1", "169.254.169.254"}) {
    CAPTURE(address);
    CHECK(allowed(rules, address));
  }
}

TEST_CASE("a metadata address that is denied by name, too, resolves no names either") {
  CHECK_FALSE(allowed(denying({"169.254.169.254"}, true), "169.254.169.254", 53));
}

TEST_CASE("where loopback is denied, the unspecified address that leads there is denied, too") {
  for (const char* address : {"127.0.0.1", "127.0.0.53", "0.0.0.0", "::"}) {
    CHECK_FALSE(allowed(denying({"127.0.0.0/8"}), address));
    CHECK(allowed(denying({"10.0.0.0/8"}), address));
  }
  CHECK_FALSE(allowed(denying({"::1"}), "::"));
  CHECK(allowed(denying({"::1"}), "0.0.0.0"));
  CHECK(allowed(denying({"127.0.0.53"}), "0.0.0.0"));  // leads to 127.0.0.1
}

TEST_CASE("all addresses of a family can be denied") {
  CHECK_FALSE(allowed(denying({"0.0.0.0/0"}), "10.0.0.1"));
  CHECK(allowed(denying({"0.0.0.0/0"}), "fd00::1"));
  CHECK_FALSE(allowed(denying({"::/0"}), "fd00::1", 53));
}

TEST_CASE("the kernel finds a way to each instruction") {
  for (const auto& check : {ipv4_check, ipv6_check}) {
    for (const char* network : {"0.0.0.0/0", "::/0", "127.0.0.0/8", "fd00::/8"}) {
      CAPTURE(network);
      const BpfCode code = check(denying({network}, true));
      std::set<std::size_t> reached{0};
      for (std::size_t at = 0; at < code.size(); ++at) {
        if (!reached.contains(at)) FAIL("none leads to " << at);
        const bool jumps = (code[at].code & 0x07) == BPF_JMP || (code[at].code & 0x07) == BPF_JMP32;
        const bool ends = code[at].code == (BPF_JMP | BPF_EXIT);
        if (!ends) reached.insert(at + 1);
        if (jumps && !ends) reached.insert(at + 1 + static_cast<std::size_t>(code[at].off));
      }
    }
  }
}

TEST_CASE("as many networks as the options take fit into what the kernel takes") {
  AddressRules rules;
  rules.denied.assign(kDeniedNetworksMax, IpNetwork::parse("fd00::1").value());
  CHECK(ipv6_check(rules).size() <= kInstructionsMax);
  rules.denied.back() = IpNetwork::parse("fd00::2").value();
  CHECK_FALSE(allowed(rules, "fd00::2"));
  CHECK(allowed(rules, "fd00::3"));
}

TEST_CASE("only sockets of protocols whose addresses are checked can be made") {
  const auto made = [](std::uint32_t protocol) {
    bpf_sock socket{};
    socket.protocol = protocol;
    return answer_of(socket_check(), socket) != 0;
  };
  constexpr std::uint32_t kMptcp = 262;
  constexpr std::uint32_t kSmc = 256;
  for (const std::uint32_t protocol :
       std::initializer_list<std::uint32_t>{IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_ICMPV6, kMptcp}) {
    CHECK(made(protocol));
  }
  for (const std::uint32_t protocol : std::initializer_list<std::uint32_t>{IPPROTO_SCTP, IPPROTO_DCCP, kSmc}) {
    CHECK_FALSE(made(protocol));
  }
}

TEST_CASE("addresses that are to be denied by name are not silently left open where jobs are not isolated") {
  IsolationOptions options{.mode = IsolationOptions::Mode::kNone, .metadata = IsolationOptions::Metadata::kDeny};
  const auto metadata = Confinement::open(options, {});
  REQUIRE_FALSE(metadata);
  CHECK_THAT(
      metadata.error().message,
      Catch::Contains("as --metadata deny asks: jobs are not isolated here, because --isolation none was given"));
  options.metadata = IsolationOptions::Metadata::kAllow;
  CHECK(Confinement::open(options, {}).ok());
  options.denied.push_back(IpNetwork::parse("10.0.0.0/8").value());
  const auto network = Confinement::open(options, {});
  REQUIRE_FALSE(network);
  CHECK_THAT(network.error().message, Catch::Contains("as --deny-address asks"));
}

}  // namespace tidepool::agent
