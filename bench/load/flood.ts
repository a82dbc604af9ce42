import { randomBytes } from 'node:crypto'
import { formatApiKey } from '../../src/domain/key-text.ts'
import { headersOf, JOB_BODY } from '../job-calls.ts'
import { HttpConnection } from './http-connection.ts'

// A program of its own, so that what it costs to make a flood is not measured as a delay of those beside it. It starts with `FloodTarget` as
// its first message, pours until the second, and says then what it sent.

/** Whose flood it is: an account with default quotas, and an endpoint of its own. */
export interface FloodTarget {
  url: string
  apiKey: string
  endpointId: string
}

/** What was sent, and how much of it the plane failed to serve. */
export interface FloodResult {
  sent: number
  faults: number
}

/** One kind of request, on so many connections, each as soon as the one before is answered. */
interface Flood {
  connections: number
  send(connection: HttpConnection, n: number): Promise<{ status: number }>
}

const MEMBERS = 800_000
/** As the proxy in front of a plane writes it: without it a plane knows no addresses, and bounds nothing by them (PP-200). */
const FROM = { 'x-forwarded-for': '198.51.100.7' }
const SERVER_FAULT = 500

/** What a neighbour can think of, and somebody without an account. */
function floodsOf({ apiKey, endpointId }: FloodTarget): Flood[] {
  const headers = headersOf({ apiKey })
  const wide = `{"input":{},${Array.from({ length: MEMBERS }, (_, i) => `"k${i}":1`).join(',')}}`
  const stranger = () => ({ ...FROM, authorization: `Bearer ${formatApiKey('0000000000', randomBytes(32))}` })
  const random = () => randomBytes(7).toString('hex')
  const run = `/v2/${endpointId}/run`
  return [
    { connections: 8, send: (connection) => connection.request('GET', '/v2/pods', stranger()) },
    {
      connections: 2,
      send: (connection) => connection.request('GET', `/v2/${random()}/health`, { ...FROM, authorization: 'Bearer pp_nonsense' }),
    },
    { connections: 4, send: (connection) => connection.request('GET', `/v2/${random()}/health`, headers) },
    {
      connections: 2,
      send: (connection, n) => {
        const authorization = `Bearer${' '.repeat(1 + (n % 400))}${apiKey}`
        return connection.request('GET', `/v2/${endpointId}/health`, { authorization })
      },
    },
    { connections: 4, send: (connection) => connection.request('POST', run, headers, JOB_BODY) },
    { connections: 1, send: (connection) => connection.request('POST', run, headers, wide) },
  ]
}

const result: FloodResult = { sent: 0, faults: 0 }
let isOver = false

async function pour(url: string, flood: Flood): Promise<void> {
  let connection = await HttpConnection.open(url)
  for (let n = 0; !isOver; n += 1) {
    try {
      if ((await flood.send(connection, n)).status >= SERVER_FAULT) result.faults += 1
    } catch {
      // A body that was refused before its end: the connection is cut, and the flood goes on over another.
      connection.close()
      connection = await HttpConnection.open(url)
    }
    result.sent += 1
  }
  connection.close()
}

process.once('message', (target: FloodTarget) => {
  process.once('message', () => {
    isOver = true
  })
  const pouring = floodsOf(target).flatMap((flood) => Array.from({ length: flood.connections }, () => pour(target.url, flood)))
  void Promise.all(pouring).then(() => process.send?.(result, () => process.disconnect()))
})
