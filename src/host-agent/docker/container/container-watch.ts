import { uptime } from 'node:os'
import { backoffMs, sleep } from '../../../node/backoff.ts'
import type { ContainerFacts, DockerEngine, ListedContainer } from '../../engine/engine.ts'
import { EngineClientEnded, engineText, ignoring } from '../../engine/engine-errors.ts'
import { describeExit, OUTPUT_TAIL_LINES } from '../../exit-reason.ts'
import type { WorkloadExit } from '../../runtime.ts'
import { endedByOutage, extendOutage, type Outage } from '../engine/engine-outage.ts'
import { parseDockerLogs } from '../streams/logs.ts'

const RETRY_BASE_MS = 500
const RETRY_MAX_MS = 10_000
/** Failed inspections of a container after which the engine's list is used instead. */
const UNSEEN_MAX = 3
const VANISHED: WorkloadExit = {
  exitCode: null,
  reason: 'the container was removed externally',
  endedAtMs: null,
  byHost: true,
  vanished: true,
}

export interface WatchOptions {
  engine: DockerEngine
  name: string
  /** Facts about the container, if it belongs to this host. */
  inspect(): Promise<ContainerFacts | undefined>
  /** The container in the engine's list, if it belongs to this host. */
  list(): Promise<ListedContainer | undefined>
  onAway(reason: string): void
}

/** Waits for the end of a container, also across restarts of the engine. */
export async function watchContainer({ engine, name, inspect: read, list, onAway }: WatchOptions): Promise<WorkloadExit> {
  let outage: Outage | undefined
  let unseen = 0
  const inspect = async () => {
    try {
      return await read()
    } catch (error) {
      unseen += 1
      if (unseen < UNSEEN_MAX) throw error
      return listedFacts(await list())
    }
  }
  for (let failures = 0; ; ) {
    try {
      await ignoring([404], engine.wait(name))
      const facts = await inspect()
      if (facts === undefined) return VANISHED
      if (isEnded(facts)) return await describe(engine, facts, outage)
      // The container is being removed, for example; without a pause this loop would call as fast as the engine answers.
      await sleep(RETRY_BASE_MS)
      failures = 0
    } catch (error) {
      // The engine is restarting, for example: the container may still run.
      onAway(engineText(error))
      const previous = outage
      // While the client process is down the engine cannot be reached, but it runs, and so do its containers.
      outage = error instanceof EngineClientEnded ? previous : extendOutage(previous, Date.now())
      failures = outage !== undefined && outage.fromMs === previous?.fromMs ? failures + 1 : 0
      await sleep(backoffMs(failures, RETRY_BASE_MS, RETRY_MAX_MS))
    }
  }
}

/** For a container that cannot be inspected, the list states whether it runs, but not how it ended (HOST-109). */
function listedFacts(listed: ListedContainer | undefined): ContainerFacts | undefined {
  return (
    listed && {
      ...listed,
      exitCode: null,
      outOfMemory: false,
      startedAtMs: null,
      endedAtMs: null,
      addresses: [],
      anonymousVolumes: [],
      pid: null,
      hostsPath: null,
    }
  )
}

/** Whether a container has stopped for good; a restarting one has not. */
export function isEnded({ status }: Pick<ContainerFacts, 'status'>): boolean {
  return status === 'exited' || status === 'dead'
}

async function describe(engine: DockerEngine, facts: ContainerFacts, outage: Outage | undefined): Promise<WorkloadExit> {
  const raw = await engine.readLogs(facts.name, OUTPUT_TAIL_LINES).catch(() => Buffer.alloc(0))
  const { exitCode, outOfMemory, endedAtMs } = facts
  const reason = describeExit({ exitCode, outOfMemory, signal: null, tail: parseDockerLogs(raw) })
  if (facts.startedAtMs !== null && facts.startedAtMs < bootedAtMs())
    return { exitCode, reason: `${reason}; the machine was restarted`, endedAtMs, byHost: true }
  if (endedByOutage(endedAtMs, outage))
    return { exitCode, reason: `${reason}; the container engine was restarted`, endedAtMs, byHost: true }
  return { exitCode, reason, endedAtMs }
}

/** By this machine's current clock. */
function bootedAtMs(): number {
  return Date.now() - uptime() * 1_000
}
