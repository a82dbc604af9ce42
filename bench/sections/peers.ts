import type { WorkerAccess } from '../fake-host.ts'
import { fillQueue, JOB_BODY, purge, submitTarget } from '../job-calls.ts'
import { measureRate } from '../load/closed-loop.ts'
import type { Target } from '../load/target.ts'
import { measureCycles } from '../load/worker-loop.ts'
import { describeMissing, PEER_NAMES, type Peer, type PeerName, startPeer } from '../peers/start.ts'
import { type Goal, type Row, rateRow, ratioRow } from '../report.ts'
import { type Queue, startBenchPlane, startQueue } from '../setup.ts'

const ROUNDS = 3
const SECONDS = 2
const BATCH = 10
const PREFILL = 12_000
const PREFILL_SECONDS = 1

type Measured = 'submit' | 'cycles' | 'cyclesBatch'

/** Targets of the plane's numbers, relative to each peer. */
const GOALS: Record<PeerName, Partial<Record<Measured, Goal>>> = {
  'pg-boss': { submit: { atLeast: 2 }, cycles: { atLeast: 2 }, cyclesBatch: { atLeast: 1.8 } },
  sqlite: { submit: { atLeast: 1.2 } },
  bullmq: { submit: { atLeast: 0.5 } },
}

/** A queue in the comparison. */
interface Contender {
  name: PeerName | 'podplane'
  url: string
  submit: Target
  workers: WorkerAccess[]
  /** Makes the queue long enough for one measurement of the workers. */
  prefill(): Promise<unknown>
}

/** Compares the plane with other job queues, each behind HTTP and flushing every commit, as far as this machine has them. */
export async function measurePeers(): Promise<Row[]> {
  const absent = PEER_NAMES.flatMap((name) => describeAbsence(name))
  const present = PEER_NAMES.filter((name) => describeMissing(name) === null)
  if (present.length === 0) return absent
  await using stack = new AsyncDisposableStack()
  const queue = await startQueue(stack.use(await startBenchPlane()))
  const contenders = [ourselves(queue)]
  for (const name of present) contenders.push(contenderOf(stack.use(await startPeer(name)), queue.workers.length))
  const rounds = contenders.map((): Record<Measured, number>[] => [])
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, contender] of contenders.entries()) rounds[index]?.push(await measureRound(contender))
    await purge(queue)
  }
  return [...describe(contenders.map(({ name }, index) => ({ name, rounds: rounds[index] ?? [] }))), ...absent]
}

async function measureRound({ url, workers, submit: target, prefill }: Contender): Promise<Record<Measured, number>> {
  const submit = await measureRate(target, SECONDS)
  await prefill()
  const cycles = await measureCycles(url, workers, SECONDS, 1)
  await prefill()
  const cyclesBatch = await measureCycles(url, workers, SECONDS, BATCH)
  return { submit, cycles, cyclesBatch }
}

function ourselves(queue: Queue): Contender {
  return { name: 'podplane', url: queue.url, submit: submitTarget(queue), workers: queue.workers, prefill: () => fillQueue(queue, PREFILL) }
}

function contenderOf({ name, url }: Peer, workerCount: number): Contender {
  const submit: Target = { url: `${url}/run`, method: 'POST', headers: { 'content-type': 'application/json' }, body: JOB_BODY }
  const workers = Array.from({ length: workerCount }, (_, index) => ({
    workerId: String(index),
    key: '',
    takePath: `/job-take/${index}?`,
    donePath: `/job-done/${index}/$ID`,
  }))
  return { name, url, submit, workers, prefill: () => measureRate(submit, PREFILL_SECONDS) }
}

function describeAbsence(name: PeerName): Row[] {
  const missing = describeMissing(name)
  return missing === null ? [] : [{ what: name, measured: `not measured; needs ${missing}` }]
}

interface Result {
  name: Contender['name']
  rounds: readonly Record<Measured, number>[]
}

function describe(results: readonly Result[]): Row[] {
  const [ours, ...peers] = results
  if (!ours) return []
  const of = ({ rounds }: Result, kind: Measured) => rounds.map((round) => round[kind])
  const compareIn = (kind: Measured, what: string): Row[] => [
    ...results.map((result) => rateRow(`${result.name}, ${what}`, of(result, kind))),
    ...peers.map((peer) => ratioRow(`${what}, podplane : ${peer.name}`, of(ours, kind), of(peer, kind), goalOf(peer.name, kind))),
  ]
  return [...compareIn('submit', 'submit'), ...compareIn('cycles', 'take and done'), ...compareIn('cyclesBatch', `batches of ${BATCH}`)]
}

function goalOf(name: Contender['name'], kind: Measured): Goal | undefined {
  return name === 'podplane' ? undefined : GOALS[name][kind]
}
