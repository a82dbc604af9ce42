import type { Context, TypedResponse } from 'hono'
import { inPieces } from '../platform/yield-thread.ts'
import type { AppEnv } from './app-env.ts'

/** Items of a list that are serialized in one step; a step takes a few milliseconds. */
const AT_ONCE = 100
const JSON_TYPE = 'application/json'

/** Encodes a long text piece by piece and yields in between, so that other requests do not wait for the whole of it (BIL-41, RATE-22). */
export async function bodyInPieces(pieces: AsyncIterable<string>): Promise<Uint8Array<ArrayBuffer>> {
  const [encoder, encoded] = [new TextEncoder(), [] as Uint8Array[]]
  for await (const piece of pieces) encoded.push(encoder.encode(piece))
  const whole = new Uint8Array(encoded.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const bytes of encoded) {
    whole.set(bytes, at)
    at += bytes.length
  }
  return whole
}

/** Like `c.json`, for a value whose lists may be long. */
export async function answerInPieces<Value extends object>(c: Context<AppEnv>, value: Value) {
  const response: Response = c.body(await bodyInPieces(jsonInPieces(value)), 200, { 'Content-Type': JSON_TYPE })
  return response as Response & TypedResponse<Value, 200, 'json'>
}

/** Yields the JSON of a value. Lists below its objects are serialized in steps of `AT_ONCE` items and may be lazy iterables. */
export async function* jsonInPieces(value: unknown): AsyncGenerator<string> {
  if (Array.isArray(value) ? value.length > AT_ONCE : isIterable(value)) yield* arrayInPieces(value as Iterable<unknown>)
  else if (Array.isArray(value) || typeof value !== 'object' || value === null || 'toJSON' in value) yield JSON.stringify(value)
  else yield* objectInPieces(value)
}

async function* objectInPieces(value: object): AsyncGenerator<string> {
  let before = '{'
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    yield* jsonInPieces(member)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

async function* arrayInPieces(items: Iterable<unknown>): AsyncGenerator<string> {
  let before = '['
  for await (const piece of inPieces(items, AT_ONCE)) {
    yield before + JSON.stringify(piece).slice(1, -1)
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}
