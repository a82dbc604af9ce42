import { env, runInDurableObject, vi } from '../harness.ts'
import { hostStub } from '../runner/stubs.ts'
import { sizeOf, watchObjectCalls } from './calls.ts'

/** Where an operation's statements run, and its calls end. */
export type Place = 'd1' | 'objects'

/** A statement or a call, or the sum of several. */
export interface Cost {
  /** Rows that statements read and wrote. An entry of an index is a row. */
  read: number
  written: number
  /** Calls of D1 or of a Durable Object. A batch of D1 is one. */
  calls: number
  /** Bytes of arguments and results of these calls, as JSON. */
  bytes: number
}

/** A statement or a call, for the message of an exceeded budget. */
export interface Counted extends Cost {
  place: Place
  text: string
}

const NOTHING: Cost = { read: 0, written: 0, calls: 0, bytes: 0 }

/** The part of D1's client that sends statements. Every way to run one ends here, also those that return no `meta`. */
interface Sender {
  _sendOrThrow: (endpoint: string, text: string | string[], values: unknown[], format: string) => Promise<D1Result | D1Result[]>
}

/**
 * Records from the call on every statement of D1 and of all Durable Objects, and every call of these. The tests, the plane and its objects
 * share one isolate, so the runtime's own classes are the place that sees all of them. Ends with `vi.restoreAllMocks()`.
 */
export async function recordCosts(): Promise<Counted[]> {
  const counted = await runInDurableObject(hostStub(env, 'any'), (_, { storage }) => recordStatements(storage.sql))
  watchObjectCalls((call) =>
    counted.push({
      ...{ ...NOTHING, place: 'objects', text: call.text, calls: 1 },
      get bytes() {
        return call.bytes
      },
    }),
  )
  return counted
}

/** Records the statements alone, given the database of any object. */
export function recordStatements(sql: SqlStorage): Counted[] {
  const counted: Counted[] = []
  recordObjects(Object.getPrototypeOf(sql) as SqlStorage, counted)
  recordDatabase(counted)
  return counted
}

function recordObjects(prototype: SqlStorage, counted: Counted[]): void {
  const { exec } = prototype
  vi.spyOn(prototype, 'exec').mockImplementation(function (this: SqlStorage, text, ...values) {
    const cursor = exec.call(this, text, ...values)
    // Read at the end: a cursor counts rows as they are read.
    counted.push({
      ...{ ...NOTHING, place: 'objects', text },
      get read() {
        return cursor.rowsRead
      },
      get written() {
        return cursor.rowsWritten
      },
    })
    return cursor
  } as SqlStorage['exec'])
}

function recordDatabase(counted: Counted[]): void {
  const sender = senderOf(env.DB)
  const send = sender._sendOrThrow
  vi.spyOn(sender, '_sendOrThrow').mockImplementation(async function (this: Sender, endpoint, text, values, format) {
    const answer = await send.call(this, endpoint, text, values, format)
    for (const [index, { meta, ...result }] of [answer].flat().entries()) {
      // The first statement of a batch stands for its call. D1's notes on a result are no data of the plane.
      const call = { calls: index === 0 ? 1 : 0, bytes: sizeOf([[text].flat()[index], result]) + (index === 0 ? sizeOf(values) : 0) }
      counted.push({ place: 'd1', text: String([text].flat()[index]), read: meta.rows_read, written: meta.rows_written, ...call })
    }
    return answer
  })
}

/** The sums of what was recorded, by place. */
export function sumOfCosts(counted: readonly Counted[]): Record<Place, Cost> {
  const sum = (place: Place) =>
    counted
      .filter((one) => one.place === place)
      .reduce<Cost>(
        (total, { read, written, calls, bytes }) => ({
          read: total.read + read,
          written: total.written + written,
          calls: total.calls + calls,
          bytes: total.bytes + bytes,
        }),
        NOTHING,
      )
  return { d1: sum('d1'), objects: sum('objects') }
}

/** Stops the alarms of all objects, because they come by the clock and belong to no operation. Returns a function that lets them go on. */
export async function withoutAlarms(): Promise<() => void> {
  // Files share one runtime, so the function must be put back.
  return runInDurableObject(hostStub(env, 'any'), (_, { storage }) => {
    const prototype = Object.getPrototypeOf(storage) as DurableObjectStorage
    const { setAlarm } = prototype
    prototype.setAlarm = () => Promise.resolve()
    return () => {
      prototype.setAlarm = setAlarm
    }
  })
}

function senderOf(database: D1Database): Sender {
  let found: object | null = (database as unknown as { alwaysPrimarySession: object }).alwaysPrimarySession
  while (found && !Object.hasOwn(found, '_sendOrThrow')) found = Object.getPrototypeOf(found) as object | null
  if (!found) throw new Error("the runtime's D1 client has changed: find the function that sends statements")
  // Checked above: the object has the function as its own.
  return found as Sender
}
