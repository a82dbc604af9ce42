import type { Workload } from '../src/host-protocol/messages.ts'
import { startIdleHost, workerUrl } from '../test/conformance/support/idle-host.ts'

/** One worker's access to the worker protocol. */
export interface WorkerAccess {
  workerId: string
  key: string
  takePath: string
  /** Path of a job's result; `$ID` stands for the job. */
  donePath: string
}

/** A worker of this plane, which also pings. */
export interface PingingWorker extends WorkerAccess {
  pingPath: string
}

export interface FakeHost {
  /** Resolves with the workers that the plane starts here, once there are as many as fit. */
  workers: Promise<PingingWorker[]>
  close(): void
}

/** Workers that fit on the host. A worker has one take at a time, so this is the concurrency of the queue. */
export const WORKERS = 32
/** vCPUs of one worker of the bench's endpoint. */
export const WORKER_VCPUS = 2

/** The only host of the bench's plane; the bench plays its workers. */
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
