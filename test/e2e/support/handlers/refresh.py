"""A worker that asks for a fresh machine after every job."""

import os

import runpod


def handler(job):
    return {"worker": os.environ["RUNPOD_POD_ID"]}


runpod.serverless.start({"handler": handler, "refresh_worker": True})
