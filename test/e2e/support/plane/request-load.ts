import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { realTime, waitUntil } from '../../../support/time.ts'
import type { TestPlane } from './plane.ts'

const PATIENCE_MS = 60_000
/** Pause of a client whose connection was refused. */
const REFUSED_MS = 20

/** Clients that send one call after another to a plane until they are stopped. */
export interface Load {
  /** Waits for this many answers of 200 from the call on. */
  answers(count: number): Promise<void>
  /** Waits until the log of the plane has this many lines of these calls, and returns their number. */
  linesLogged(atLeast: number): Promise<number>
  stop(): Promise<void>
}

/** Runs `clients` clients that list pods, one call after the other, over connections of their own. */
export function loadPlane({ port, apiKey, dataDir }: Pick<TestPlane, 'port' | 'apiKey' | 'dataDir'>, clients: number): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  let answered = 0
  let isOver = false
  const ask = () =>
    new Promise<boolean>((resolve) => {
      const request = get({ port, host: '127.0.0.1', path: '/v2/pods', agent, headers: { authorization: `Bearer ${apiKey}` } })
      request.once('response', (response) => {
        response.once('close', () => resolve(response.statusCode === 200))
        response.resume()
      })
      request.once('error', () => resolve(false))
    })
  const client = async () => {
    while (!isOver) {
      if (await ask()) answered++
      else await realTime(REFUSED_MS, 'a client that was refused asks again a moment later')
    }
  }
  const running = Array.from({ length: clients }, client)
  const countLines = () => readFileSync(join(dataDir, 'logs/plane.log'), 'utf8').split('"path":"/v2/pods"').length - 1
  return {
    async answers(count) {
      const goal = answered + count
      await waitUntil(`${count} answers`, () => answered >= goal, PATIENCE_MS)
    },
    async linesLogged(atLeast) {
      await waitUntil(`${atLeast} lines`, () => countLines() >= atLeast, PATIENCE_MS, 200)
      return countLines()
    },
    async stop() {
      isOver = true
      await Promise.all(running)
      agent.destroy()
    },
  }
}
