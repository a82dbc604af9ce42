/** What there is to say of an operation of the API: its method and path, and by its type what it takes and answers. */

import type { z } from 'zod'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/** Schemas are known by their types alone: nothing of them is part of a program that uses this room. */
type Schema = z.ZodType

/** Says of what type something is; at run time there is nothing of it. */
export interface Typed<Type> {
  readonly type?: Type
}

export interface Operation<Path extends string = string, Answer = unknown, Body = never> {
  method: Method
  path: Path
  /** It makes something, and repeating it under one `Idempotency-Key` makes it once (PP-125). */
  isCreate: boolean
  /** How it answers: with JSON, with server-sent events, or over a WebSocket that the caller opens. */
  by: 'json' | 'events' | 'socket'
  answer?: Typed<Answer>
  body?: Typed<Body>
}

/** Names in a path: `/v2/pods/{id}` has `id`. */
type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never

/** What a call is given beside its options: the parameters of the path by their names. */
export type PathOf<Op> = Op extends Operation<infer Path, unknown, unknown> ? { [Name in Names<Path>]: string } : never
export type AnswerOf<Op> = Op extends Operation<string, infer Answer, unknown> ? Answer : never
export type BodyOf<Op> = Op extends Operation<string, unknown, infer Body> ? Body : never

type Output<Type> = Type extends Schema ? z.output<Type> : Type
type Input<Type> = Type extends Schema ? z.input<Type> : Type

/** The type of a schema of the contract, or another one. */
export function as<Type>(): Typed<Type> {
  return {}
}
/** Answers nothing. */
export const NOTHING: Typed<undefined> = {}
/** Answers what the endpoint's own worker says. */
export const ANYTHING: Typed<unknown> = {}

function withMethod(method: Method, isCreate = false) {
  return <Path extends string, Answer, Body = never>(path: Path, _answer: Typed<Answer>, _body?: Typed<Body>) => {
    const operation: Operation<Path, Output<Answer>, Input<Body>> = { method, path, isCreate, by: 'json' }
    return operation
  }
}

export const get = withMethod('GET')
export const post = withMethod('POST')
export const put = withMethod('PUT')
export const patch = withMethod('PATCH')
export const remove = withMethod('DELETE')
export const create = withMethod('POST', true)

/** Answers with server-sent events. */
export function events<Path extends string>(path: Path): Operation<Path, undefined> & { by: 'events' } {
  return { method: 'GET', path, isCreate: false, by: 'events' }
}

/** Goes on over a WebSocket. */
export function socket<Path extends string>(path: Path): Operation<Path, undefined> & { by: 'socket' } {
  return { method: 'GET', path, isCreate: false, by: 'socket' }
}
