/** Description of an API operation: method and path, and, as types, its body and answer. */

import type { z } from 'zod'
import type { Closed } from './page.ts'

/** HTTP method of an operation. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/** Schemas are imported as types only, so that programs that use this folder contain no schema code. */
type Schema = z.ZodType

/** Carries a type; empty at run time. */
export interface Typed<Type> {
  readonly type?: Type
}

/** An operation of the API. `answer` and `body` carry types only. */
export interface Operation<Path extends string = string, Answer = unknown, Body = never> {
  method: Method
  path: Path
  /** Whether it creates a resource; repeats with the same `Idempotency-Key` create it once (IDEM-2). */
  isCreate: boolean
  /** Form of the answer: JSON, server-sent events, or a WebSocket that the caller opens. */
  by: 'json' | 'events' | 'socket'
  answer?: Typed<Answer>
  body?: Typed<Body>
}

/** Parameter names in a path: `/v2/pods/{id}` has `id`. */
type Names<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never

/** Path parameters of an operation, by name. */
export type PathOf<Op> = Op extends Operation<infer Path, unknown, unknown> ? { [Name in Names<Path>]: string } : never
/** Answer of an operation, as parsed; a page of a list has closed rows. */
export type AnswerOf<Op> = Op extends Operation<string, infer Answer, unknown> ? Closed<Answer> : never
/** Body of an operation, as it is sent. */
export type BodyOf<Op> = Op extends Operation<string, unknown, infer Body> ? Body : never

type Output<Type> = Type extends Schema ? z.output<Type> : Type
type Input<Type> = Type extends Schema ? z.input<Type> : Type

/** Type of a schema of the contract, or any other type. */
export function as<Type>(): Typed<Type> {
  return {}
}
/** Answer without a body. */
export const NOTHING: Typed<undefined> = {}
/** Answer whose content the endpoint's own worker defines. */
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

/** Operation that answers with server-sent events. */
export function events<Path extends string>(path: Path): Operation<Path, undefined> & { by: 'events' } {
  return { method: 'GET', path, isCreate: false, by: 'events' }
}

/** Operation that upgrades to a WebSocket. */
export function socket<Path extends string>(path: Path): Operation<Path, undefined> & { by: 'socket' } {
  return { method: 'GET', path, isCreate: false, by: 'socket' }
}
