"""A worker of a load-balancing endpoint: the behaviour of a tenant's own HTTP server, with the standard library alone."""

import base64
import hashlib
import os
import struct
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAME = os.environ["RUNPOD_POD_ID"]
SEEN = []
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def parse_request(self):
        SEEN.append(self.raw_requestline.decode("latin-1").strip())
        return super().parse_request()

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/seen":
            return self.answer("\n".join(SEEN).encode())
        if path == "/events":
            return self.events()
        if path == "/socket":
            return self.socket()
        if path == "/die":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"x" * 10)
            self.wfile.flush()
            os._exit(1)
        if path == "/hold":
            time.sleep(float(self.path.partition("?")[2] or 1))
        return self.answer(("%s %s" % (NAME, self.headers.get("Authorization"))).encode())

    def do_POST(self):
        """Echoes the body as it arrives; a chunked body once it is complete."""
        if self.headers.get("Transfer-Encoding") == "chunked":
            return self.answer(b"".join(self.chunks()))
        length = int(self.headers["Content-Length"])
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        while length > 0:
            part = self.rfile.read1(min(length, 65536))
            if not part:
                return
            self.wfile.write(part)
            length -= len(part)

    def chunks(self):
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def events(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for number in range(3):
            self.wfile.write(b"data: %d\n\n" % number)
            self.wfile.flush()
            time.sleep(0.4)

    def socket(self):
        key = self.headers["Sec-WebSocket-Key"].encode()
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", accept)
        self.end_headers()
        self.close_connection = True
        while True:
            kind, size = self.rfile.read(2)
            size &= 127
            if size == 126:
                (size,) = struct.unpack(">H", self.rfile.read(2))
            mask = self.rfile.read(4)
            body = bytes(byte ^ mask[at % 4] for at, byte in enumerate(self.rfile.read(size)))
            if kind & 15 == 9:
                continue
            head = struct.pack(">BBH", kind, 126, size) if size > 125 else struct.pack(">BB", kind, size)
            self.wfile.write(head + body)
            self.wfile.flush()
            if kind & 15 == 8:
                return

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("", int(os.environ["PORT"])), Handler).serve_forever()
