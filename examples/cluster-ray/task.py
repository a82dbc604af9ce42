"""Asks every node of a RAY cluster for its address. Run it on the head: `python /task.py`."""

import os
import socket
import time

import ray

WANTED = int(os.environ["NUM_NODES"])


@ray.remote(scheduling_strategy="SPREAD")
def address():
    return ray.util.get_node_ip_address(), socket.gethostname()


ray.init(address="auto")
while len([node for node in ray.nodes() if node["Alive"]]) < WANTED:
    time.sleep(1)
found = set()
while len(found) < WANTED:
    found |= set(ray.get([address.remote() for _ in range(4 * WANTED)]))
for ip, name in sorted(found):
    print(f"{ip} {name}", flush=True)
