"""Lets a virtual link send packets as a wire has them: with their checksum, none larger than the link's MTU.
usage: whole_packets.py INTERFACE     in the interface's namespace, as root
"""

import array
import fcntl
import socket
import struct
import sys

SIOCETHTOOL = 0x8946
SWITCHES = (0x17, 0x1F, 0x24)  # ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO of linux/ethtool.h

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    for switch in SWITCHES:
        off = array.array("I", [switch, 0])
        request = struct.pack("16sP16x", sys.argv[1].encode(), off.buffer_info()[0])
        fcntl.ioctl(any_socket, SIOCETHTOOL, request)
