import { normalizeArguments } from '../../../src/cli/core/arguments.ts'
import { formatDuration, formatRelative, parseDurationMs, parseInstant } from '../../../src/cli/core/durations.ts'
import { readSide } from '../../../src/cli/ingress/cp.ts'
import { readMapping } from '../../../src/cli/ingress/port-forward.ts'
import { sshArguments } from '../../../src/cli/ingress/ssh.ts'
import { afterEach, describe, expect, it } from '../../support/unit.ts'
import { NOW_MS, podplane, type Routes, ToyPlane } from './terminal.ts'

const line = (n: number, text: string, source = 'container') => ({
  n,
  id: `2026-06-01T12:00:0${n}Z/00000000000${n}`,
  ts: `2026-06-01T12:00:0${n}.000Z`,
  source,
  line: text,
})
const page = (lines: object[], more: object = {}) => ({
  body: { lines, older: null, newer: '>9', atEnd: true, truncatedAt: null, ...more },
})
const POD = { id: 'p1', name: 'box', status: 'RUNNING', statusReason: null, ports: [] }

let plane: ToyPlane | undefined
const at = async (routes: Routes) => (plane = await ToyPlane.open(routes))
afterEach(async () => {
  await plane?.close()
  plane = undefined
})

describe('podplane logs', () => {
  it('[CMD-13] prints text for people, time and source for pipes, objects with --json', async () => {
    const toy = await at({
      'GET /v2/pods/p1': { body: POD },
      'GET /v2/pods/p1/logs/lines': page([line(1, 'pulled', 'system'), line(2, 'hello\u001b[2Jthere')]),
    })
    expect((await podplane(['logs', 'p1'], { plane: toy, terminal: true })).stdout).toBe('· pulled\nhello[2Jthere\n')
    expect((await podplane(['logs', 'p1'], { plane: toy })).stdout).toBe(
      '2026-06-01T12:00:01.000Z\tsystem\tpulled\n2026-06-01T12:00:02.000Z\tcontainer\thello[2Jthere\n',
    )
    const [first] = (await podplane(['pods', 'logs', 'p1', '--json'], { plane: toy })).stdout.split('\n')
    expect(JSON.parse(String(first))).toEqual(line(1, 'pulled', 'system'))
  })

  it('[CMD-13] searches and bounds on the plane, and reads on from page to page', async () => {
    const toy = await at({
      'GET /v2/pods/p1': { body: POD },
      'GET /v2/pods/p1/logs/lines': ({ url }) =>
        url.includes('cursor') ? page([line(2, 'error two')]) : page([line(1, 'error one')], { atEnd: false, newer: '>1' }),
    })
    const { stdout } = await podplane(['logs', 'p1', '--since', '1h', '-g', 'error', '--source', 'container'], { plane: toy })
    expect(stdout.split('\n').map((text) => text.split('\t')[2])).toEqual(['error one', 'error two', undefined])
    const asked = new URLSearchParams(toy.asked.at(-1)?.url.split('?')[1])
    expect(Object.fromEntries(asked)).toEqual({
      limit: '1000',
      q: 'error',
      source: 'container',
      since: expect.stringMatching(/^2026-06-01T11:00:00/),
      cursor: '>1',
    })
  })

  it('[CMD-13] follows from the last line that was read', async () => {
    const event = (one: { id: string }) => `id: ${one.id}\ndata: ${JSON.stringify(one)}\n\n`
    const toy = await at({
      'GET /v2/pods/p1': { body: POD },
      'GET /v2/pods/p1/logs/lines': page([line(1, 'one')]),
      'GET /v2/pods/p1/logs': { headers: { 'content-type': 'text/event-stream' }, text: event(line(2, 'two')) + event(line(3, 'other')) },
    })
    const { stdout } = await podplane(['logs', 'p1', '-f', '-g', 'o'], { plane: toy, terminal: true })
    expect(stdout).toBe('one\ntwo\nother\n')
    expect((await podplane(['logs', 'p1', '-f', '-g', 'TWO'], { plane: toy, terminal: true })).stdout).toContain('two\n')
  })

  it('[CMD-13] of an endpoint are those of its workers by time; any other id is not found', async () => {
    const toy = await at({
      'GET /v2/serverless/e1/workers': { body: { workers: [{ id: 'w1' }, { id: 'w2' }], summary: {}, endpointVersion: 1 } },
      'GET /v2/serverless/e1/workers/w1/logs/lines': page([line(1, 'a'), line(3, 'c')]),
      'GET /v2/serverless/e1/workers/w2/logs/lines': page([line(2, 'b')]),
    })
    expect((await podplane(['logs', 'e1'], { plane: toy, terminal: true })).stdout).toBe('w1  a\nw2  b\nw1  c\n')
    const neither = await podplane(['logs', 'nope'], { plane: toy })
    expect({ code: neither.code, stderr: neither.stderr }).toEqual({ code: 4, stderr: 'error: nope is neither a pod nor an endpoint\n' })
  })
})

describe('arguments of the command line', () => {
  it('[CMD-13] durations and times', () => {
    expect(['90', '90s', '1.5h', '2d', '250ms', 'soon', '', '-1s'].map(parseDurationMs)).toEqual([
      undefined,
      90_000,
      5_400_000,
      172_800_000,
      250,
      undefined,
      undefined,
      undefined,
    ])
    expect(parseInstant('1h', NOW_MS)).toBe('2026-06-01T11:00:00.000Z')
    expect(parseInstant('2026-06-01T11:00:00+02:00', NOW_MS)).toBe('2026-06-01T09:00:00.000Z')
    expect(parseInstant('yesterday', NOW_MS)).toBeUndefined()
    expect([0, 59_999, 60_000, 3_600_000, 90_000_000].map(formatDuration)).toEqual(['0s', '59s', '1m', '1h', '1d'])
    expect([
      formatRelative('2026-06-01T11:00:00Z', NOW_MS),
      formatRelative('2026-06-01T14:00:00Z', NOW_MS),
      formatRelative('-', NOW_MS),
    ]).toEqual(['1h ago', 'in 2h', '-'])
  })

  it('[CMD-10] --json takes the next argument after a command, and none after --', () => {
    expect(normalizeArguments(['--json', 'pods', 'list'])).toEqual(['pods', 'list', '--json'])
    expect(normalizeArguments(['--url', 'x', '--json', 'pods'])).toEqual(['--url', 'x', 'pods', '--json'])
    expect(normalizeArguments(['pods', 'list', '--json', 'id,gpu.id'])).toEqual(['pods', 'list', '--json=id,gpu.id'])
    expect(normalizeArguments(['exec', 'p', '--', 'ls', '--json', 'x'])).toEqual(['exec', 'p', '--', 'ls', '--json', 'x'])
  })

  it('[CMD-31, CMD-32, CMD-33] sides of a copy, ports of a forward, arguments for ssh', () => {
    expect(['p1:/data', './a:b', '/abs', 'C:', 'file'].slice(0, 3).map(readSide)).toEqual([
      { pod: 'p1', path: '/data' },
      { pod: undefined, path: './a:b' },
      { pod: undefined, path: '/abs' },
    ])
    expect(() => readSide('p1:')).toThrow('a path has to follow the colon')
    expect([readMapping('8888'), readMapping('9000:8888'), readMapping('0:22')]).toEqual([
      { local: 8888, remote: 8888 },
      { local: 9000, remote: 8888 },
      { local: 0, remote: 22 },
    ])
    for (const text of ['http', '8888:', '70000', '1:2:3', '0']) expect(() => readMapping(text)).toThrow('it must be <port>')
    expect(sshArguments({ host: '127.0.0.1', port: 2222, username: 'p1-0a' })).toEqual(['-p', '2222', 'p1-0a@127.0.0.1'])
  })
})
