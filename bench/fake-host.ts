import { AccessTokens } from '../src/host-agent/access-tokens.ts'
import { PlaneClock } from '../src/host-agent/clock-offset.ts'
import { enrol } from '../src/host-agent/enrolment.ts'
import { HostKey } from '../src/host-agent/host-key.ts'
import { Link } from '../src/host-agent/link.ts'
import { createLog } from '../src/host-agent/log.ts'
import { createReportSender } from '../src/host-agent/send-reports.ts'
import {
  type Inventory,
  PROTOCOL_VERSION,
  RELAY_URL_PLACEHOLDER,
  type Workload,
  type WorkloadState,
} from '../src/host-protocol/messages.ts'

/** How the worker protocol is reached by one worker. */
export interface WorkerAccess {
  workerId: string
  key: string
  takePath: string
  /** Of a job's result; `$ID` stands for the job. */
  donePath: string
  pingPath: string
}

export interface FakeHost {
  /** The workers that the plane wants here, once there are as many as fit. */
  workers: Promise<WorkerAccess[]>
  close(): void
}

/** Workers that fit on the host. A worker has one take at a time, so this is how many the queue serves at once. */
export const WORKERS = 32
/** Of one worker of the bench's endpoint. */
export const WORKER_VCPUS = 2
const WORKER_MEMORY_MB = 16 * 1024
const WORKER_DISK_GB = 10

const INVENTORY: Inventory = {
  agentVersion: 'bench',
  protocolVersion: PROTOCOL_VERSION,
  os: 'bench',
  vcpus: WORKERS * WORKER_VCPUS,
  memoryMb: WORKERS * WORKER_MEMORY_MB,
  diskGb: WORKERS * WORKER_DISK_GB,
  gpus: [],
  runtimes: ['process'],
  simulated: true,
}

/** A host that joins as a real one does and reports its workloads as running, but runs nothing: the bench is its workers. */
export async function startFakeHost(options: { planeUrl: string; joinToken: string; stateDir: string }): Promise<FakeHost> {
  const { planeUrl } = options
  const clock = new PlaneClock()
  const log = createLog('error')
  const key = await HostKey.load(options.stateDir)
  const enrolled = await enrol({ ...options, name: 'bench', key, inventory: INVENTORY, clock })
  if ('retry' in enrolled) throw new Error(enrolled.retry)
  const tokens = new AccessTokens({ planeUrl, key, identity: enrolled.identity, clock })
  tokens.accept(enrolled.answer)
  const report = createReportSender(planeUrl, tokens, clock, log)
  const states = new Map<string, WorkloadState>()
  let sequence = 0

  const found: WorkerAccess[] = []
  let complete: (workers: WorkerAccess[]) => void = () => undefined
  const workers = new Promise<WorkerAccess[]>((resolve) => {
    complete = resolve
  })
  const apply = async (workload: Workload) => {
    const state = workload.desired === 'running' ? 'running' : 'gone'
    if (states.get(workload.id) === state) return
    states.set(workload.id, state)
    sequence += 1
    await report([{ workloadId: workload.id, state, exitCode: null, reason: null, at: Date.now(), sequence }])
    if (state === 'running') found.push(readAccess(workload))
    if (found.length === WORKERS) complete(found)
  }
  const link = new Link({
    planeUrl,
    tokens,
    log,
    hello: () => ({ type: 'hello', inventory: INVENTORY, workloads: [] }),
    beat: () => ({ workloads: [...states].map(([id, state]) => ({ id, state })) }),
    onDesired: (workloads) => {
      for (const workload of workloads) void apply(workload)
    },
    onLease: () => undefined,
    onRevoked: () => undefined,
  })
  void link.run()
  return { workers, close: () => link.close() }
}

function readAccess(workload: Workload): WorkerAccess {
  const env = workload.platformEnv
  const path = (name: string) => (env[name] ?? '').replace(RELAY_URL_PLACEHOLDER, '').replaceAll('$RUNPOD_POD_ID', workload.id)
  return {
    workerId: workload.id,
    key: env.RUNPOD_AI_API_KEY ?? '',
    takePath: path('RUNPOD_WEBHOOK_GET_JOB').replaceAll('$ID', workload.id),
    donePath: path('RUNPOD_WEBHOOK_POST_OUTPUT'),
    pingPath: path('RUNPOD_WEBHOOK_PING'),
  }
}
