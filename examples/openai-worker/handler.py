"""A worker that answers OpenAI clients: it "thinks" by repeating the last message, word by word. Put a model where `words_of` is."""

import asyncio
import json
import time

import runpod

MODEL = "parrot"
#: Seconds a word takes; a call may ask for another pace with its own `seconds_per_word`.
SECONDS_PER_WORD = 0.05
MAX_CALLS_AT_ONCE = 30


async def handler(job):
    """`openai_route` says which call it is; `openai_input` is its body, absent when there was none."""
    route = job["input"].get("openai_route", "").split("?")[0]
    body = job["input"].get("openai_input") or {}
    if route == "/v1/models":
        yield {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "example"}]}
    elif route != "/v1/chat/completions":
        yield failure(404, "NotFoundError", f"this worker does not know {route}")
    elif body.get("model") != MODEL:
        yield failure(404, "NotFoundError", f"The model `{body.get('model')}` does not exist.")
    elif body.get("stream"):
        async for text in stream_answer(job["id"], body):
            yield text
    else:
        words = [word async for word in words_of(body)]
        yield completion(job["id"], "chat.completion", {"message": {"role": "assistant", "content": "".join(words)}})


def failure(status, kind, message):
    """A dict with `error` fails the job; the platform answers with the status that `code` names."""
    return {"error": {"message": message, "type": kind, "code": status}}


async def stream_answer(job_id, body):
    """Server-sent events as text. The platform sends them on as they are, so they may be cut anywhere."""
    async for word in words_of(body):
        event = f"data: {json.dumps(completion(job_id, 'chat.completion.chunk', {'delta': {'content': word}}, None))}\n\n"
        middle = len(event) // 2
        yield event[:middle]
        yield event[middle:]
    yield f"data: {json.dumps(completion(job_id, 'chat.completion.chunk', {'delta': {}}))}\n\n"
    yield "data: [DONE]\n\n"


def completion(job_id, kind, content, finish_reason="stop"):
    choice = {"index": 0, "finish_reason": finish_reason, **content}
    return {"id": f"chatcmpl-{job_id}", "object": kind, "created": int(time.time()), "model": MODEL, "choices": [choice]}


async def words_of(body):
    """When the client goes, the platform cancels the job and the SDK stops this at its next `await`; nothing has to be done for it."""
    for word in body["messages"][-1]["content"].split():
        yield f"{word} "
        await asyncio.sleep(body.get("seconds_per_word", SECONDS_PER_WORD))


runpod.serverless.start(
    {
        "handler": handler,
        # Clients that do not stream get the whole answer as the job's output.
        "return_aggregate_stream": True,
        "concurrency_modifier": lambda _current: MAX_CALLS_AT_ONCE,
    }
)
