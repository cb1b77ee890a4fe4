"""Links between hosts that are slow and lose packets, where the kernel has no netem: takes the place of the bridge.
Each frame that a port receives leaves at the port of its destination after the delay, or never.
usage: lossy_links.py DELAY_MS LOSS SEED PORT...     run in the namespace of the ports; prints "ready", ends at a signal
"""

import heapq
import random
import selectors
import socket
import sys
import time

ANY_PROTOCOL = 0x0003
OUTGOING = 4  # packet type: what this program itself has sent


def main(delay, loss, seed, ports):
    chance = random.Random(seed)
    selector = selectors.DefaultSelector()
    links, homes = [], {}  # homes: MAC address -> link
    for port in ports:
        link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ANY_PROTOCOL))
        link.bind((port, 0))
        link.setblocking(False)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        selector.register(link, selectors.EVENT_READ)
        links.append(link)
    under_way, number = [], 0  # (when it arrives, its number, the link, the frame)
    print("ready", flush=True)
    while True:
        wait = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
        for key, _ in selector.select(wait):
            link = key.fileobj
            frame, (_, _, kind, _, _) = link.recvfrom(65536)
            if kind == OUTGOING:
                continue
            homes[frame[6:12]] = link
            home = homes.get(frame[:6])
            for target in [home] if home is not None else [other for other in links if other is not link]:
                if chance.random() >= loss:
                    number += 1
                    heapq.heappush(under_way, (time.monotonic() + delay, number, target, frame))
        while under_way and under_way[0][0] <= time.monotonic():
            _, _, target, frame = heapq.heappop(under_way)
            try:
                target.send(frame)
            except OSError:
                pass  # a full queue loses it, as a switch does


if __name__ == "__main__":
    main(float(sys.argv[1]) / 1000, float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
