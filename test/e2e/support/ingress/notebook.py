"""A server like that of a notebook: a page, events, and a WebSocket that echoes."""
import asyncio
import base64
import hashlib

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


async def read_frame(reader):
    first, second = await reader.readexactly(2)
    length = second & 127
    if length == 126:
        length = int.from_bytes(await reader.readexactly(2), "big")
    mask = await reader.readexactly(4)
    data = await reader.readexactly(length)
    return first & 15, bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))


async def serve_socket(reader, writer, key):
    accept = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
    writer.write(f"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n".encode())
    while True:
        kind, data = await read_frame(reader)
        if kind == 8:
            writer.write(bytes([0x88, len(data)]) + data)
            return
        answer = b"kernel: " + data
        writer.write(bytes([0x81, len(answer)]) + answer)


async def serve_events(writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    for number in range(3):
        writer.write(f"data: {number}\n\n".encode())
        await writer.drain()
        await asyncio.sleep(0.2)


async def serve(reader, writer):
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *rest = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in rest)}
        path = line.split(" ")[1]
        if "sec-websocket-key" in headers:
            await serve_socket(reader, writer, headers["sec-websocket-key"])
        elif path.startswith("/events"):
            await serve_events(writer)
        else:
            body = f"{line} cookie={headers.get('cookie')} authorization={headers.get('authorization')}".encode()
            writer.write(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    # One port is bound to the pod's loopback alone.
    servers = [await asyncio.start_server(serve, "0.0.0.0", 8888), await asyncio.start_server(serve, "127.0.0.1", 9999)]
    print("ready", flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


asyncio.run(main())
