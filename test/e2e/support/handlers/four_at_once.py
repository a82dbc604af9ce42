"""Four jobs at a time in one process; each returns the number of concurrent jobs that it saw."""

import asyncio
import os

import runpod

running = 0
most = 0


async def handler(job):
    global running, most
    running += 1
    most = max(most, running)
    await asyncio.sleep(job["input"]["seconds"])
    running -= 1
    return {"most": most, "worker": os.environ["RUNPOD_POD_ID"]}


runpod.serverless.start({"handler": handler, "concurrency_modifier": lambda current: 4})
