import { setTimeout as sleep } from 'node:timers/promises'
import { call, type Demo } from './plane.ts'

const PATHS = ['/v2/serverless', '/v2/pods', '/v2/templates']
const TIMEOUT_MS = 5_000
const REFUSED_PAUSE_MS = 20

/** REST clients that send one request after another, also while there is no plane. */
export class RestClients {
  answered = 0
  private closed = false
  private readonly loops: Promise<void>[]

  constructor(demo: Demo, count: number) {
    this.loops = Array.from({ length: count }, (_, index) => this.ask(demo, index))
  }

  async stop(): Promise<void> {
    this.closed = true
    await Promise.all(this.loops)
  }

  private async ask(demo: Demo, index: number): Promise<void> {
    for (let round = index; !this.closed; round += 1) {
      const { status } = await call(demo.url, demo.apiKey, 'GET', PATHS[round % PATHS.length] ?? '/', undefined, { timeoutMs: TIMEOUT_MS })
      if (status > 0) this.answered += 1
      else await sleep(REFUSED_PAUSE_MS)
    }
  }
}
