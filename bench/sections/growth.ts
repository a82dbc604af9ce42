import { callInside, JOB_INPUT, queueLength } from '../job-calls.ts'
import { amountRow, changeRow, median, type Row } from '../report.ts'
import { type BenchPlane, createEndpoint, startBenchPlane } from '../setup.ts'

const LEVELS = [1_000, 100_000, 1_000_000]
const FILL_BATCH = 20_000
const ROUNDS = 20
/** Operations per call. */
const OPERATIONS = { nothing: 0, insert: 2_000, takeAndFinish: 300 }
/** Printed first, because the jobs take a minute to insert. */
const PURPOSE = `growth: inserts queues of ${LEVELS.join(', ')} jobs inside their endpoint objects. Then it compares the time of an insert and of a
take with its result between the lengths, ${ROUNDS} rounds of each, and restarts the plane. Costs of the longest queue should be those of the shortest.`
type Measured = keyof typeof OPERATIONS

/** A queue of a given length, and the cost of operations on it: microseconds each, one value per round. */
interface Grown {
  length: number
  endpointId: string
  bytesPerJob: number
  insert: number[]
  take: number[]
}

/** Cost of inserts and takes inside the object while many jobs wait, and the storage of each job. */
export async function measureGrowth(): Promise<Row[]> {
  await using plane = await startBenchPlane()
  process.stdout.write(`\n${PURPOSE}\n`)
  const queues: Grown[] = []
  for (const length of LEVELS) queues.push(await growQueue(plane, length))
  // The lengths alternate round by round, and so does their order: the drift of the machine affects all of them alike, and none is always
  // measured first.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const queue of round % 2 === 0 ? queues : queues.toReversed()) await measureRound(plane, queue)
  }
  await plane.restart()
  return [...describe(queues), await describeFirstAnswer(plane, queues.at(-1))]
}

async function measureRound(plane: BenchPlane, queue: Grown): Promise<void> {
  const idleMs = await timeCall(plane, queue, 'nothing')
  const perOperation = async (connection: Measured) =>
    ((await timeCall(plane, queue, connection)) - idleMs) * (1_000 / OPERATIONS[connection])
  queue.insert.push(await perOperation('insert'))
  queue.take.push(await perOperation('takeAndFinish'))
  await callInside(plane, queue.endpointId, 'trim', OPERATIONS.insert - OPERATIONS.takeAndFinish)
}

async function growQueue(plane: BenchPlane, length: number): Promise<Grown> {
  const endpointId = await createEndpoint(plane, { min: 1, max: 1 })
  const emptyBytes = await readSize(plane, endpointId)
  for (let filled = 0; filled < length; filled += FILL_BATCH) {
    await callInside(plane, endpointId, 'fill', Math.min(FILL_BATCH, length - filled))
  }
  const bytesPerJob = ((await readSize(plane, endpointId)) - emptyBytes) / length - JOB_INPUT.length
  return { length, endpointId, bytesPerJob, insert: [], take: [] }
}

// The object counts its queue when it starts, so the first answer waits for that.
async function describeFirstAnswer(plane: BenchPlane, queue: Grown | undefined): Promise<Row> {
  if (!queue) throw new Error('no queue has grown')
  const startedAt = performance.now()
  await queueLength({ ...plane, endpointId: queue.endpointId })
  return amountRow(`first answer after a restart, ${queue.length} queued`, performance.now() - startedAt, 'ms', { atMost: 2_000 })
}

async function timeCall(plane: BenchPlane, queue: Grown, connection: Measured): Promise<number> {
  const startedAt = performance.now()
  await callInside(plane, queue.endpointId, connection, OPERATIONS[connection])
  return performance.now() - startedAt
}

async function readSize(plane: BenchPlane, endpointId: string): Promise<number> {
  return (await callInside(plane, endpointId, 'size')) as number
}

function describe(queues: readonly Grown[]): Row[] {
  const [short, longest] = [queues[0], queues.at(-1)]
  if (!short || !longest) throw new Error('no queue has grown')
  const costs = (what: string, kind: 'insert' | 'take'): Row[] => [
    ...queues.map((queue) => amountRow(`${what}, ${queue.length} queued`, median(queue[kind]), 'us')),
    changeRow(`${what}, ${longest.length} against ${short.length} queued`, longest[kind], short[kind], { atMost: 0.05 }),
  ]
  const stored = amountRow('stored for a queued job, beside its input', longest.bytesPerJob, 'B', { atMost: 200 })
  return [...costs('insert', 'insert'), ...costs('take and finish', 'take'), stored]
}
