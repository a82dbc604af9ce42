import { afterEach, describe, expect, it } from 'vitest'
import { ApiError, connect } from '../../../src/client/client.ts'
import { parseEvents } from '../../../src/client/events.ts'
import { type Answer, FakePlane } from './fake-plane.ts'

const planes: FakePlane[] = []
afterEach(() => Promise.all(planes.splice(0).map((plane) => plane.close())))

async function clientOf(...answers: Answer[]) {
  const plane = await FakePlane.open(answers)
  planes.push(plane)
  return { plane, client: connect({ url: plane.url, credentials: { key: 'k' }, pause: async () => {} }) }
}

const read = async <T>(events: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const event of events) all.push(event)
  return all
}

function chunksOf(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
      controller.close()
    },
  })
}

describe('events of a stream', () => {
  it('are read from any split into pieces', async () => {
    const text = ': ping\n\nid: 1\nevent: line\ndata: grüße\ndata:zwei\n\r\n\rid: 2\r\ndata: x\r\n\r\ndata: cut off'
    for (const size of [1, 2, 3, 7, 1_000]) {
      expect(await read(parseEvents(chunksOf(text, size)))).toEqual([
        { id: '1', event: 'line', data: 'grüße\nzwei' },
        { id: '2', event: 'message', data: 'x' },
      ])
    }
  })

  it('resume after the last one when the stream is interrupted', async () => {
    const { plane, client } = await clientOf(
      { status: 200, text: 'id: 7\ndata: a\n\nid: 8\ndata: b\n\nid: 9\ndata: lo', breaks: true },
      'hang up',
      { status: 503 },
      { status: 200, text: 'id: 9\ndata: c\n\n' },
    )
    const link: boolean[] = []
    const onLink = (isOpen: boolean) => void link.push(isOpen)
    const events = await read(client.getPodLogs({ path: { id: 'p' } }, { lastEventId: '6', onLink }))
    expect(link).toEqual([true, false, true])
    expect(events.map(({ id, data }) => [id, data])).toEqual([
      ['7', 'a'],
      ['8', 'b'],
      ['9', 'c'],
    ])
    expect(plane.requests[0]?.headers['last-event-id']).toBe('6')
    expect(plane.requests.at(-1)?.headers['last-event-id']).toBe('8')
  })

  it('of a request that must not be repeated are read once, despite interruptions', async () => {
    const { plane, client } = await clientOf(
      { status: 200, text: 'data: a\n\ndata: b', breaks: true, headers: { 'content-type': 'text/event-stream' } },
      { status: 200, text: 'data: c\n\n' },
    )
    const events = client.events('POST', '/v2/e/openai/v1/chat/completions', { stream: true })
    expect((await events.next()).value).toMatchObject({ data: 'a' })
    await expect(events.next()).rejects.toThrow('broke off')
    expect(plane.requests.map(({ method }) => method)).toEqual(['POST'])
  })

  it('of any GET resume like those of a log', async () => {
    const { plane, client } = await clientOf(
      { status: 200, text: 'id: 1\ndata: a\n\n', breaks: true },
      { status: 200, text: 'id: 2\ndata: b\n\n' },
    )
    const events = await read(client.events('GET', '/v2/e/stream/j'))
    expect(events.map(({ data }) => data)).toEqual(['a', 'b'])
    expect(plane.requests.at(-1)?.headers['last-event-id']).toBe('1')
  })

  it('end with a refusal', async () => {
    const { client } = await clientOf({ status: 404, body: { detail: 'pod not found' } })
    await expect(read(client.getPodLogs({ path: { id: 'p' } }))).rejects.toThrow(ApiError)
  })

  it('end with the signal of the reader', async () => {
    const { client } = await clientOf({ status: 200, text: 'data: a\n\n', staysOpen: true })
    const stop = new AbortController()
    const seen: string[] = []
    const reading = (async () => {
      for await (const { data } of client.getPodLogs({ path: { id: 'p' } }, { signal: stop.signal })) {
        seen.push(data)
        stop.abort(new Error('enough'))
      }
    })()
    await expect(reading).rejects.toThrow('enough')
    expect(seen).toEqual(['a'])
  })
})
