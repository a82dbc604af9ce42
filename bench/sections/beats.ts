import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BEAT_INTERVAL_MS } from '../../src/host-protocol/messages.ts'
import { type BeatingHost, joinBeatingHost } from '../beating-host.ts'
import { ENTRY_HEADER } from '../inside/entries.ts'
import { amountRow, latencyRow, percentiles, type Row, rateRow } from '../report.ts'
import { type BenchPlane, startBenchPlane } from '../setup.ts'

const COUNTS = [1, 100, 400]
const SECONDS = 5
const JOINING_AT_ONCE = 8

interface Measured {
  hosts: number
  perSecond: number
  took: number[]
  statementsPerBeat: number
}

/** Heartbeats per second that one plane process acknowledges from a number of linked hosts, each sending the next one at once. */
export async function measureBeats(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  const directory = mkdtempSync(join(tmpdir(), 'podplane-beats-'))
  const hosts: BeatingHost[] = []
  const measured: Measured[] = []
  try {
    for (const count of COUNTS) {
      await joinHosts(plane, hosts, count, directory)
      measured.push(await measureRound(plane, hosts))
    }
  } finally {
    for (const host of hosts) host.close()
    rmSync(directory, { recursive: true, force: true })
  }
  return measured.flatMap(describe)
}

async function joinHosts(plane: BenchPlane, hosts: BeatingHost[], count: number, directory: string): Promise<void> {
  let joining = hosts.length
  const joinNext = async () => {
    while (joining < count) {
      const name = `bench-${joining++}`
      hosts.push(await joinBeatingHost(plane.url, await plane.createJoinToken(name), name, directory))
    }
  }
  await Promise.all(Array.from({ length: JOINING_AT_ONCE }, joinNext))
}

async function measureRound(plane: BenchPlane, hosts: readonly BeatingHost[]): Promise<Measured> {
  const before = await countStatements(plane)
  if (before === 0) throw new Error('the statements that joining costs were not counted, so those of beats would not be either')
  const startedAt = performance.now()
  const took = (await Promise.all(hosts.map((host) => host.beat(startedAt + SECONDS * 1_000)))).flat()
  const seconds = (performance.now() - startedAt) / 1_000
  const statementsPerBeat = ((await countStatements(plane)) - before) / took.length
  return { hosts: hosts.length, perSecond: took.length / seconds, took, statementsPerBeat }
}

async function countStatements(plane: BenchPlane): Promise<number> {
  const answer = await fetch(`${plane.url}/`, { headers: { [ENTRY_HEADER]: 'hostStatements' } })
  return Number(await answer.json())
}

function describe({ hosts, perSecond, took, statementsPerBeat }: Measured): Row[] {
  const what = `${hosts} linked ${hosts === 1 ? 'host' : 'hosts'}`
  return [
    rateRow(`beats with ${what}`, [perSecond]),
    amountRow(`hosts that this rate carries, with ${what}`, (perSecond * BEAT_INTERVAL_MS) / 1_000, 'hosts'),
    latencyRow(`a beat until its acknowledgement, with ${what}`, percentiles(took)),
    amountRow(`D1 statements a beat, with ${what}`, statementsPerBeat, 'statements', { atMost: 0 }),
  ]
}
