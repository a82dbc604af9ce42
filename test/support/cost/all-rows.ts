import { env, vi } from '../harness.ts'

/** Rows of one operation in D1 and in the Durable Objects, and its statements. */
export interface Rows {
  statements: number
  read: number
  written: number
}

/** Where an operation's statements run. */
type Place = 'd1' | 'objects'

/** A statement with its rows, for the message of a failed budget. */
export interface CountedStatement extends Rows {
  place: Place
  text: string
}

/** The part of D1's client that sends statements. Every way to run one ends here, also those that return no `meta`. */
interface Sender {
  _sendOrThrow: (endpoint: string, text: string | string[], values: unknown[], format: string) => Promise<D1Result | D1Result[]>
}

/**
 * Records the rows that every statement of D1 and of all Durable Objects reads and writes, from the call on. The tests, the plane and its
 * objects share one isolate, so the runtime's own classes are the place that sees all of them. Ends with `vi.restoreAllMocks()`.
 */
export function recordAllRows(sql: SqlStorage): CountedStatement[] {
  const cursors: CountedStatement[] = []
  const { exec } = Object.getPrototypeOf(sql) as SqlStorage
  vi.spyOn(Object.getPrototypeOf(sql) as SqlStorage, 'exec').mockImplementation(function (this: SqlStorage, text, ...values) {
    const cursor = exec.call(this, text, ...values)
    // Read at the end: a cursor counts rows as they are read.
    cursors.push({
      ...{ place: 'objects', text, statements: 1 },
      get read() {
        return cursor.rowsRead
      },
      get written() {
        return cursor.rowsWritten
      },
    })
    return cursor
  } as SqlStorage['exec'])
  const sender = senderOf(env.DB)
  const send = sender._sendOrThrow
  vi.spyOn(sender, '_sendOrThrow').mockImplementation(async function (this: Sender, endpoint, text, values, format) {
    const answer = await send.call(this, endpoint, text, values, format)
    for (const [index, { meta }] of [answer].flat().entries())
      cursors.push({ place: 'd1', text: String([text].flat()[index]), statements: 1, read: meta.rows_read, written: meta.rows_written })
    return answer
  })
  return cursors
}

/** The sums of what was recorded, by place. */
export function sumOfRows(counted: readonly CountedStatement[]): Record<Place, Rows> {
  const sum = (place: Place) =>
    counted
      .filter((one) => one.place === place)
      .reduce(
        (total, { read, written }) => ({
          statements: total.statements + 1,
          read: total.read + read,
          written: total.written + written,
        }),
        { statements: 0, read: 0, written: 0 },
      )
  return { d1: sum('d1'), objects: sum('objects') }
}

function senderOf(database: D1Database): Sender {
  let found: object | null = (database as unknown as { alwaysPrimarySession: object }).alwaysPrimarySession
  while (found && !Object.hasOwn(found, '_sendOrThrow')) found = Object.getPrototypeOf(found) as object | null
  if (!found) throw new Error("the runtime's D1 client has changed: find the function that sends statements")
  // Checked above: the object has the function as its own.
  return found as Sender
}
