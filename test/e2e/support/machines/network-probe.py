"""Probes the network and prints the results.

listen ADDRESS:PORT...   answers whatever comes over TCP and UDP, until it is ended
ask                      reads a JSON object of cells from stdin, {"name": ["tcp|udp|icmp|whole", "address", port]}, prints which of them answer;
                         `whole` is UDP with packets as large as the way there begins, none of which may be cut into fragments
sniff DEVICE TEXT        reads what a network interface carries until stdin ends, prints a JSON object: ports of UDP, and whether TEXT was seen
names                    reads a JSON list of questions from stdin, [["udp|tcp", "server", "name", type]], prints a list of the answers in hexadecimal,
                         null where there is none
hurry SERVER NAME COUNT  asks for a name so many times at once, prints how many answers came
flood ADDRESS COUNT      begins so many connections over UDP
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
            # An address may be bound before the machine has it.
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
                data, source = server.recvfrom(65536)
                server.sendto(data, source)


def ask_tcp(address, port):
    # A listener that waits for a request first counts as reachable too.
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


def ask_whole(address, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(WAIT_S)
        client.setsockopt(socket.SOL_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
        client.connect((address, port))
        size = client.getsockopt(socket.SOL_IP, 14) - 28  # IP_MTU, without the headers
        client.send(b"w" * size)
        return len(client.recv(65536)) == size


def sniff(device, text):
    everything = 3
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(everything)) as wire:
        wire.bind((device, everything))
        print("listening", flush=True)
        ports, seen = set(), False
        while True:
            ready = select.select([wire, sys.stdin], [], [])[0]
            if wire not in ready:
                break
            frame = wire.recv(65536)
            seen = seen or text.encode() in frame
            if frame[12:14] == b"\x08\x00" and frame[23] == 17:
                ports.add(int.from_bytes(frame[36:38], "big"))
    print(json.dumps({"ports": sorted(ports), "seen": seen}))


ASK = {"tcp": ask_tcp, "udp": ask_udp, "icmp": ask_icmp, "whole": ask_whole}


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


def ask_name(kind, server, name, number):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    message = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + labels + b"\x00" + number.to_bytes(2, "big") + b"\x00\x01"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as client:
        client.settimeout(2 * WAIT_S)
        client.connect((server, 53))
        if kind == "udp":
            client.send(message)
            return client.recv(65536)
        client.sendall(len(message).to_bytes(2, "big") + message)
        with client.makefile("rb") as answers:
            return answers.read(int.from_bytes(answers.read(2), "big"))


def hurry(server, name, count):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    message = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + labels + b"\x00\x00\x01\x00\x01"
    answered = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        client.connect((server, 53))
        for _ in range(count):
            client.send(message)
        client.settimeout(WAIT_S)
        try:
            while client.recv(65536):
                answered += 1
        except OSError:
            pass
    print(answered)


def names(questions):
    answers = []
    for question in questions:
        try:
            answers.append(ask_name(*question).hex())
        except OSError:
            answers.append(None)
    print(json.dumps(answers))


def flood(address, count):
    # One source port for each thousand destination ports.
    for start in range(0, count, 1000):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            for port in range(min(1000, count - start)):
                try:
                    client.sendto(b"x", (address, 10_000 + port))
                except OSError:
                    pass


if sys.argv[1] == "listen":
    listen(sys.argv[2:])
elif sys.argv[1] == "sniff":
    sniff(*sys.argv[2:])
elif sys.argv[1] == "hurry":
    hurry(sys.argv[2], sys.argv[3], int(sys.argv[4]))
elif sys.argv[1] == "names":
    names(json.load(sys.stdin))
elif sys.argv[1] == "flood":
    flood(sys.argv[2], int(sys.argv[3]))
else:
    ask(json.load(sys.stdin))
