import { afterEach, describe, expect, it } from 'vitest'
import { type ApiClient, ConnectionError, connect } from '../../../src/client/client.ts'
import type { Operation } from '../../../src/client/operation.ts'
import { OPERATIONS } from '../../../src/client/operations/operations.ts'
import { type Answer, FakePlane } from './fake-plane.ts'

// Every operation of the table, against a plane whose first answer is lost.

const planes: FakePlane[] = []
afterEach(() => Promise.all(planes.splice(0).map((plane) => plane.close())))

type Row = Pick<Operation, 'method' | 'path' | 'isCreate' | 'by'>
type Any = (given: { path: Record<string, string>; query?: object; body?: object }) => Promise<unknown>

async function planeWith(...answers: Answer[]) {
  const plane = await FakePlane.open(answers)
  planes.push(plane)
  const client = connect({ url: plane.url, credentials: { key: 'pp_secret' }, pause: async () => undefined })
  const call = (id: string, query = {}) => {
    const { path, method } = OPERATIONS[id as keyof typeof OPERATIONS] as Row
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, 'x1'])
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: { name: 'n' } }
    return (client[id as keyof ApiClient] as unknown as Any)({ path: Object.fromEntries(names), query, ...body })
  }
  return { plane, call }
}

const rows = Object.entries<Row>(OPERATIONS).flatMap(([id, operation]) => (operation.by === 'json' ? [{ id, ...operation }] : []))
const isRepeated = ({ method, isCreate }: Row) => isCreate || ['GET', 'PUT', 'DELETE'].includes(method)
const ANSWER: Answer = { status: 200, body: { id: 'x1' } }

/** Without an answer, and with one that breaks off in its middle. */
const LOSSES: [string, Answer][] = [
  ['does not come', 'hang up'],
  ['breaks off', { status: 200, text: '{"id":', breaks: true }],
]

describe.each(LOSSES)('an answer that %s', (_, loss) => {
  it.each(rows.filter(isRepeated))('[CMD-47] $id: is repeated, under one Idempotency-Key where it creates a resource', async (row) => {
    const { plane, call } = await planeWith(loss, ANSWER)
    expect(await call(row.id)).toEqual({ id: 'x1' })
    const keys = plane.requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual(row.isCreate ? [expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0]] : [undefined, undefined])
  })

  it.each(rows.filter((row) => !isRepeated(row)))('[CMD-47] $id: is sent once, with an unknown outcome', async ({ id }) => {
    const { plane, call } = await planeWith(loss, ANSWER)
    await expect(call(id)).rejects.toThrow(ConnectionError)
    expect(plane.requests).toHaveLength(1)
  })

  it.each(rows.filter(({ method }) => method === 'DELETE'))('[CMD-47] $id: a 404 on the repetition counts as deleted', async ({ id }) => {
    const { plane, call } = await planeWith(loss, { status: 404, body: { status: 404, title: 'Not Found', detail: 'not found' } })
    expect(await call(id)).toBeUndefined()
    expect(plane.requests).toHaveLength(2)
  })

  it.each(rows.filter(({ method }) => method !== 'GET'))('[CMD-47] $id: a dry run is a read', async ({ id }) => {
    const { plane, call } = await planeWith(loss, ANSWER)
    expect(await call(id, { dryRun: true })).toEqual({ id: 'x1' })
    expect(plane.requests).toHaveLength(2)
  })
})

it('[CMD-47] each kind has operations', () => {
  const kinds = rows.map((row) => (row.isCreate ? 'create' : isRepeated(row) ? row.method : 'once'))
  expect([...new Set(kinds)].toSorted()).toEqual(['DELETE', 'GET', 'PUT', 'create', 'once'])
})

describe('an interrupted stream', () => {
  const streams = Object.entries<Row>(OPERATIONS).flatMap(([id, { by, path }]) => (by === 'events' ? [{ id, path }] : []))

  it.each(streams)('[CMD-47] $id: resumes after its last event', async ({ id, path }) => {
    const headers = { 'content-type': 'text/event-stream' }
    const plane = await FakePlane.open([
      { status: 200, headers, text: 'id: 7\ndata: one\n\n', breaks: true },
      'hang up',
      { status: 200, headers, text: 'id: 8\ndata: two\n\n' },
    ])
    planes.push(plane)
    const client = connect({ url: plane.url, credentials: { key: 'pp_secret' }, pause: async () => undefined })
    const names = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, 'x1']))
    const read = client[id as keyof ApiClient] as unknown as (given: object) => AsyncIterable<{ data: string }>
    const seen: string[] = []
    for await (const { data } of read({ path: names })) seen.push(data)
    expect(seen).toEqual(['one', 'two'])
    expect(plane.requests.map(({ headers: sent }) => sent['last-event-id'])).toEqual([undefined, '7', '7'])
  })

  it('[CMD-47] there are streams among the operations', () => {
    expect(streams.length).toBeGreaterThan(0)
  })
})
