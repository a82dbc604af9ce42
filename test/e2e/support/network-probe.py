"""Talks over the network and says what came of it.

listen ADDRESS:PORT...   answers whatever comes over TCP and UDP, until it is ended
ask                      reads a JSON object of cells from stdin, {"name": ["tcp|udp|icmp", "address", port]}, prints which of them answer
"""
import json
import os
import select
import socket
import sys
import threading

WAIT_S = 1.5


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def listen(places):
    sockets = {}
    for place in places:
        address, port = place.rsplit(":", 1)
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            server = socket.socket(family_of(address), kind)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if ":" in address:
                server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            # An address may be bound before it is the machine's.
            server.setsockopt(socket.SOL_IP, 15, 1)
            server.bind((address, int(port)))
            if kind == socket.SOCK_STREAM:
                server.listen(64)
            sockets[server] = kind
    print("listening", flush=True)
    while True:
        for server in select.select(list(sockets), [], [])[0]:
            if sockets[server] == socket.SOCK_STREAM:
                connection, _ = server.accept()
                connection.sendall(b"here\n")
                connection.close()
            else:
                data, source = server.recvfrom(2048)
                server.sendto(data, source)


def ask_tcp(address, port):
    # A listener that waits for a request first is there too.
    with socket.create_connection((address, port), timeout=WAIT_S):
        return True


def ask_udp(address, port):
    with socket.socket(family_of(address), socket.SOCK_DGRAM) as client:
        client.settimeout(WAIT_S)
        client.connect(socket.getaddrinfo(address, port, type=socket.SOCK_DGRAM)[0][4])
        client.send(b"hello")
        return client.recv(16) == b"hello"


def ask_icmp(address, _port):
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as client:
        client.settimeout(WAIT_S)
        client.connect((address, 0))
        identity = os.urandom(2)
        head = b"\x08\x00%s" + identity + b"\x00\x01"
        words = head.replace(b"%s", b"\x00\x00")
        total = sum(int.from_bytes(words[i : i + 2], "big") for i in range(0, len(words), 2))
        total = (total >> 16) + (total & 0xFFFF)
        client.send(head.replace(b"%s", (~(total + (total >> 16)) & 0xFFFF).to_bytes(2, "big")))
        while True:
            answer = client.recv(256)
            message = answer[(answer[0] & 15) * 4 :]
            if message[0] == 0 and message[4:6] == identity:
                return True


ASK = {"tcp": ask_tcp, "udp": ask_udp, "icmp": ask_icmp}


def ask(cells):
    answers = {}

    def one(name, kind, address, port):
        try:
            answers[name] = ASK[kind](address, port)
        except OSError:
            answers[name] = False

    threads = [threading.Thread(target=one, args=(name, *cell)) for name, cell in cells.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(answers))


if sys.argv[1] == "listen":
    listen(sys.argv[2:])
else:
    ask(json.load(sys.stdin))
