"""No worker: uses as much of its host as a container can, for `FLOOD_SECONDS`, and writes the obtained amounts to /tmp/flood."""

import ctypes
import json
import mmap
import os
import random
import socket
import struct
import sys
import threading
import time
from urllib.parse import urlsplit

SECONDS = float(os.environ["FLOOD_SECONDS"])
UNTIL = time.monotonic() + SECONDS
# All of them leave capacity on the machine that runs the test; their limits are not tested here.
INOTIFY, PROCESSES, DISK_BYTES, MEMORY_BYTES = 256, 300, 128 * 2**20, 256 * 2**20
COUNTS = {}


def count(what, amount=1):
    COUNTS[what] = COUNTS.get(what, 0) + amount


def relay_request(template, worker, key):
    url = urlsplit(os.environ[template].replace("$RUNPOD_POD_ID", worker).replace("$ID", worker))
    text = f"GET {url.path}?{url.query}&job_in_progress=0 HTTP/1.1\r\nhost: {url.netloc}\r\nauthorization: {key}\r\n\r\n"
    return (url.hostname, url.port), text.encode()


def flood_relay(template, own_key, pipelined):
    """With its own key, and with unknown keys and names. Its own pings make it look like a worker."""
    worker, key = os.environ["RUNPOD_POD_ID"], os.environ["RUNPOD_AI_API_KEY"]
    address, request = relay_request(template, *((worker, key) if own_key else ("w%d" % random.randrange(10**9), "nonsense")))
    try:
        with socket.create_connection(address, timeout=1) as connection:
            connection.sendall(request * pipelined)
            count("relay", pipelined)
            connection.recv(4096)
    except OSError:
        pass


def flood_dns():
    resolvers = [line.split()[1] for line in open("/etc/resolv.conf") if line.startswith("nameserver")] or ["127.0.0.1"]
    name = b"".join(bytes([len(part)]) + part for part in (b"%d" % random.randrange(10**9), b"invalid")) + b"\0"
    query = struct.pack(">HHHHHH", random.randrange(65536), 0x0100, 1, 0, 0, 0) + name + struct.pack(">HH", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        try:
            udp.sendto(query, (resolvers[0], 53))
            count("dns")
        except OSError:
            pass


def flood_disk():
    with open("/tmp/flood.bin", "wb") as file:
        for _ in range(DISK_BYTES // 2**20):
            file.write(os.urandom(2**20))
            count("disk", 2**20)
        file.flush()
        os.fsync(file.fileno())


def flood_memory():
    with mmap.mmap(-1, MEMORY_BYTES) as memory:
        for offset in range(0, MEMORY_BYTES, 4096):
            memory[offset] = 1
        count("memory", MEMORY_BYTES)


def flood_log():
    for _ in range(500):
        sys.stdout.write("x" * 200 + "\n")
    sys.stdout.flush()
    count("log", 500)


def take_inotify():
    libc = ctypes.CDLL(None)
    while COUNTS.get("inotify", 0) < INOTIFY and libc.inotify_init() >= 0:
        count("inotify")


def take_processes():
    for _ in range(PROCESSES):
        try:
            if os.fork() == 0:
                time.sleep(max(0, UNTIL - time.monotonic()))
                os._exit(0)
        except OSError:
            return
        count("processes")


def repeat(attack, *arguments):
    while time.monotonic() < UNTIL:
        attack(*arguments)


take_inotify()
take_processes()
ATTACKS = [(flood_dns,), (flood_disk,), (flood_memory,), (flood_log,)] + [
    (flood_relay, "RUNPOD_WEBHOOK_GET_JOB", True, 2000),
    (flood_relay, "RUNPOD_WEBHOOK_GET_JOB", False, 2000),
    (flood_relay, "RUNPOD_WEBHOOK_PING", True, 1),
    (flood_relay, "RUNPOD_WEBHOOK_PING", False, 2000),
] * 6
THREADS = [threading.Thread(target=repeat, args=attack, daemon=True) for attack in ATTACKS]
for thread in THREADS:
    thread.start()
while time.monotonic() < UNTIL:
    time.sleep(0.5)
    with open("/tmp/flood.tmp", "w") as file:
        json.dump(COUNTS, file)
    os.replace("/tmp/flood.tmp", "/tmp/flood")
time.sleep(3600)
