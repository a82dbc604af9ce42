import type { Env } from '../../env.ts'
import type { PodMark } from '../../objects/host.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { hostStub } from '../../objects/stubs.ts'
import { logEvent } from '../../platform/log.ts'

/** A host that acts on a pod's row: reached by its stub, or the host's object itself, which need not call itself. */
export interface PodHost {
  hostId: string
  /** The row is about to change. */
  mark(podId: string): Promise<PodMark>
  /** The row has not changed after all. */
  unmark(podId: string): Promise<void>
  /** The row may have changed. */
  sync(podId: string): Promise<void>
}

/** A host as the rest of the plane reaches it. */
export function podHost(env: Env, hostId: string): PodHost {
  const object = hostStub(env, asPlane('host', hostId, 'places work'))
  return {
    hostId,
    mark: async (podId) => object.markPod(hostId, podId),
    unmark: async (podId) => object.unmarkPod(podId),
    sync: async (podId) => object.syncPod(hostId, podId),
  }
}

/** What becomes of the marks when the row is written, or is not. */
interface AfterWrite<Outcome> {
  /** Whether this outcome means that nothing was written: then there is nothing to look at. */
  isUntouched?: (outcome: Outcome) => boolean
  /** Done beside the looks, and waited for like them. */
  beside?: (outcome: Outcome) => Promise<void>
}

/**
 * Writes a pod's row between a mark and a look of every host that it concerns, in their order (adr/0012). Whoever dies in between leaves the
 * marks, and the hosts look by themselves; so do those whose look fails now. Throws what `write` throws, and when a host cannot be marked.
 */
export async function withMarkedPod<Outcome>(
  hosts: readonly PodHost[],
  podId: string,
  write: (marks: readonly PodMark[]) => Promise<Outcome>,
  { isUntouched = () => false, beside = async () => {} }: AfterWrite<Outcome> = {},
): Promise<Outcome> {
  const marks: PodMark[] = []
  for (const host of hosts) marks.push(await host.mark(podId))
  let outcome: Outcome
  try {
    outcome = await write(marks)
  } catch (error) {
    // Nobody knows whether the row was written.
    await settle(hosts, podId, 'sync')
    throw error
  }
  await Promise.all([settle(hosts, podId, isUntouched(outcome) ? 'unmark' : 'sync'), beside(outcome)])
  return outcome
}

async function settle(hosts: readonly PodHost[], podId: string, step: 'sync' | 'unmark'): Promise<void> {
  for (const host of hosts) {
    try {
      await host[step](podId)
    } catch (error) {
      logEvent('warn', 'a host could not be told of a pod', { hostId: host.hostId, podId, error })
    }
  }
}
