import { connect } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { inParallel } from '../../../in-parallel.ts'

/** Usually without a listener; a refused connection is an answer too. */
const PORT = 9
const TIMEOUT_MS = 2_000
const AT_A_TIME = 64

/**
 * Main function of a process that the agent starts in the network of a container: it reads addresses and prints those that do not answer.
 * Any kernel answers a connection to a port without a listener, so the probed container needs no program for it.
 */
export async function runReachProbe(): Promise<void> {
  const addresses = z.array(z.ipv4()).parse(await json(process.stdin))
  const silent: string[] = []
  await inParallel(addresses, AT_A_TIME, async (address) => {
    if (!(await answers(address))) silent.push(address)
  })
  process.stdout.write(JSON.stringify(silent))
}

function answers(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: PORT, timeout: TIMEOUT_MS })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED'))
  })
}
