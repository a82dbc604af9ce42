import type { Workload } from '../src/host-protocol/messages.ts'
import { startIdleHost, workerUrl } from '../test/conformance/support/idle-host.ts'

/** How the worker protocol is reached by one worker. */
export interface WorkerAccess {
  workerId: string
  key: string
  takePath: string
  /** Of a job's result; `$ID` stands for the job. */
  donePath: string
}

/** A worker of ours, which pings too. */
export interface PingingWorker extends WorkerAccess {
  pingPath: string
}

export interface FakeHost {
  /** The workers that the plane wants here, once there are as many as fit. */
  workers: Promise<PingingWorker[]>
  close(): void
}

/** Workers that fit on the host. A worker has one take at a time, so this is how many the queue serves at once. */
export const WORKERS = 32
/** Of one worker of the bench's endpoint. */
export const WORKER_VCPUS = 2

/** The one host of the bench's plane: the bench is its workers. */
export async function startFakeHost(options: { planeUrl: string; joinToken: string; stateDir: string }): Promise<FakeHost> {
  const found: PingingWorker[] = []
  let complete: (workers: PingingWorker[]) => void = () => undefined
  const workers = new Promise<PingingWorker[]>((resolve) => {
    complete = resolve
  })
  const host = await startIdleHost({
    ...options,
    name: 'bench',
    capacity: WORKERS,
    onStart(workload) {
      found.push(readAccess(workload))
      if (found.length === WORKERS) complete(found)
    },
  })
  return { workers, close: () => host.close() }
}

function readAccess(workload: Workload): PingingWorker {
  return {
    workerId: workload.id,
    key: workload.platformEnv.RUNPOD_AI_API_KEY ?? '',
    takePath: workerUrl(workload, '', 'RUNPOD_WEBHOOK_GET_JOB').replaceAll('$ID', workload.id),
    donePath: workerUrl(workload, '', 'RUNPOD_WEBHOOK_POST_OUTPUT'),
    pingPath: workerUrl(workload, '', 'RUNPOD_WEBHOOK_PING'),
  }
}
