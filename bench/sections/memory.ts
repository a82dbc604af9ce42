import { execFileSync } from 'node:child_process'
import { headersOf } from '../job-calls.ts'
import { HttpConnection } from '../load/http-connection.ts'
import { amountRow, type Row } from '../report.ts'
import { type BenchPlane, createEndpoint, startBenchPlane } from '../setup.ts'

const COUNTS = [1, 100, 1_000]
const SIDE_BY_SIDE = 8

/** Memory of the runtime with a number of active endpoint objects, and the time of its start with their data present. */
export async function measureMemory(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  const endpointIds = await createEndpoints(plane, COUNTS.at(-1) ?? 0)
  // Measured in a fresh process, because creating the endpoints needs more memory than keeping them active.
  const restartMs = await plane.restart()
  const used: { count: number; kilobytes: number }[] = []
  for (const count of COUNTS) {
    await askHealth(plane, endpointIds.slice(0, count))
    used.push({ count, kilobytes: readResidentKilobytes(plane.pid()) })
  }
  const [few, many] = [used[0], used.at(-1)]
  const each = few && many ? (many.kilobytes - few.kilobytes) / (many.count - few.count) : 0
  return [
    ...used.map(({ count, kilobytes }) => amountRow(`runtime with ${count} active endpoints`, kilobytes / 1024, 'MB')),
    amountRow('one more active endpoint', each, 'KB', { atMost: 350 }),
    amountRow(`ready again with ${COUNTS.at(-1)} endpoints stored`, restartMs, 'ms', { atMost: 2_000 }),
  ]
}

async function createEndpoints(plane: BenchPlane, count: number): Promise<string[]> {
  const ids: string[] = []
  const create = async () => {
    for (let left = count / SIDE_BY_SIDE; left > 0; left -= 1) ids.push(await createEndpoint(plane, { min: 0, max: 1 }))
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, create))
  return ids
}

// An object leaves memory after some seconds without a call, so all of them are called in quick succession.
async function askHealth(plane: BenchPlane, endpointIds: readonly string[]): Promise<void> {
  const connection = await HttpConnection.open(plane.url)
  for (const id of endpointIds) {
    const answer = await connection.request('GET', `/v2/${id}/health`, headersOf(plane))
    if (answer.status !== 200) throw new Error(`health answered ${answer.status}: ${answer.body}`)
  }
  connection.close()
}

function readResidentKilobytes(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
}
