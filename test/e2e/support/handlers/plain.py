"""One coroutine handler; `do` in the input selects its action."""

import asyncio
import os
import time

import runpod


async def handler(job):
    wish = job["input"]
    todo = wish.get("do", "echo")
    print("begun", job["id"])
    if todo == "raise":
        raise ValueError("the handler gave up")
    if todo == "sleep":
        await asyncio.sleep(wish["seconds"])
    if todo == "block":
        # Blocks the event loop, so no stop order reaches this handler.
        time.sleep(wish["seconds"])
    if todo == "fail-until" and time.time() < wish["until"]:
        raise RuntimeError("too early")
    if todo == "bucket":
        return job["s3Config"]["bucketName"]
    if todo == "unserialisable":
        return {"values": {1, 2, 3}}
    if todo == "bytes":
        return {"data": "x" * wish["bytes"]}
    if todo == "environment":
        return {name: os.environ.get(name) for name in wish["names"]}
    return {"echo": wish, "worker": os.environ["RUNPOD_POD_ID"]}


runpod.serverless.start({"handler": handler})
