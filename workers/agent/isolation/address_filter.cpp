#include "workers/agent/isolation/address_filter.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

long ask_bpf(bpf_cmd command, bpf_attr& what) {
  return ::syscall(SYS_bpf, command, &what, sizeof what);
}

Result<UniqueFd> load_check(bpf_attach_type at, const BpfCode& code) {
  bpf_attr what{};
  what.prog_type = at == BPF_CGROUP_INET_SOCK_CREATE ? BPF_PROG_TYPE_CGROUP_SOCK : BPF_PROG_TYPE_CGROUP_SOCK_ADDR;
  what.expected_attach_type = at;
  what.insns = reinterpret_cast<std::uintptr_t>(code.data());
  what.insn_cnt = static_cast<__u32>(code.size());
  what.license = reinterpret_cast<std::uintptr_t>("none");  // the program calls no kernel functions
  UniqueFd program(static_cast<int>(ask_bpf(BPF_PROG_LOAD, what)));
  if (!program) return errno_error("this host's kernel takes no check of addresses");
  return program;
}

}  // namespace

Result<AddressFilter> AddressFilter::load(const AddressRules& rules) {
  const std::pair<bpf_attach_type, BpfCode> codes[] = {{BPF_CGROUP_INET4_CONNECT, ipv4_check(rules)},
                                                       {BPF_CGROUP_UDP4_SENDMSG, ipv4_check(rules)},
                                                       {BPF_CGROUP_INET6_CONNECT, ipv6_check(rules)},
                                                       {BPF_CGROUP_UDP6_SENDMSG, ipv6_check(rules)},
                                                       {BPF_CGROUP_INET_SOCK_CREATE, socket_check()}};
  AddressFilter filter;
  for (const auto& [at, code] : codes) {
    auto program = load_check(at, code);
    if (!program) return program.error();
    filter.checks_.push_back({*std::move(program), at});
  }
  return filter;
}

Status AddressFilter::attach(const std::filesystem::path& group) const {
  const UniqueFd folder(::open(group.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return errno_error("open the control group " + group.string());
  for (const Check& check : checks_) {
    bpf_attr what{};
    what.target_fd = static_cast<__u32>(folder.get());
    what.attach_bpf_fd = static_cast<__u32>(check.program.get());
    what.attach_type = check.at;  // without flags: replaces the group's own program
    if (ask_bpf(BPF_PROG_ATTACH, what) != 0) return errno_error("attach checks of addresses to " + group.string());
  }
  return ok_status();
}

}  // namespace tidepool::agent
