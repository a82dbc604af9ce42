import { randomBytes } from 'node:crypto'
import { formatApiKey } from '../../src/domain/key-text.ts'
import { headersOf, JOB_BODY } from '../job-calls.ts'
import { HttpConnection } from './http-connection.ts'

// A separate program, so that the cost of generating the flood does not delay the measured calls. It starts with a `FloodTarget` as its
// first message, floods until the second message, and then reports the number of requests.

/** The target of the flood: an account with default quotas, and its own endpoint. */
export interface FloodTarget {
  url: string
  apiKey: string
  endpointId: string
}

/** Number of requests sent, and of those that the plane failed to serve. */
export interface FloodResult {
  sent: number
  faults: number
}

/** One kind of request, on a number of connections, each as soon as the previous one is answered. */
interface Flood {
  connections: number
  send(connection: HttpConnection, n: number): Promise<{ status: number }>
}

const MEMBERS = 800_000
/**
 * The header that a proxy in front of a plane sets: without it a plane knows no client addresses, and has no limits by address (KEY-10).
 */
const FROM = { 'x-forwarded-for': '198.51.100.7' }
const SERVER_FAULT = 500

/** The worst requests of another tenant, and of a client without an account. */
function floodsOf({ apiKey, endpointId }: FloodTarget): Flood[] {
  const headers = headersOf({ apiKey })
  const wide = `{"input":{},${Array.from({ length: MEMBERS }, (_, i) => `"k${i}":1`).join(',')}}`
  const otherTenant = () => ({ ...FROM, authorization: `Bearer ${formatApiKey('0000000000', randomBytes(32))}` })
  const random = () => randomBytes(7).toString('hex')
  const run = `/v2/${endpointId}/run`
  return [
    { connections: 8, send: (connection) => connection.request('GET', '/v2/pods', otherTenant()) },
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
      // The connection was closed because a body was refused before its end; the flood continues on another connection.
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
