"""Calls the endpoint at BASE_URL with the published client, once plain and once as a stream; prints the answers as JSON."""

import json
import os

from openai import OpenAI

client = OpenAI(api_key=os.environ["API_KEY"], base_url=os.environ["BASE_URL"], max_retries=0, timeout=120)
call = {
    "model": "smollm2-135m-instruct",
    "messages": [{"role": "user", "content": "What is the capital of France? Answer with its name."}],
    "max_tokens": 16,
    "temperature": 0,
}
plain = client.chat.completions.create(**call).choices[0].message.content
streamed = [chunk.choices[0].delta.content or "" for chunk in client.chat.completions.create(**call, stream=True) if chunk.choices]
print(json.dumps({"plain": plain, "streamed": streamed}))
