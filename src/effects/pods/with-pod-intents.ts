import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { hostStub } from '../../objects/stubs.ts'
import { tryLogged } from '../../platform/log.ts'
import type { PodIntent } from '../../rpc/host.ts'

/** A host that acts on a pod's row, reached by its stub; or the host's object itself, which calls its own methods directly. */
export interface PodHost {
  hostId: string
  /** Stores an intent record: the row is about to change. */
  recordIntent(podId: string): Promise<PodIntent>
  /** Removes one intent record: the row did not change. */
  clearIntent(podId: string): Promise<void>
  /** Has the host read the row, which may have changed, and removes one intent record. */
  sync(podId: string): Promise<void>
}

/** Returns a host as the rest of the plane reaches it. */
export function podHost(env: Env, hostId: string): PodHost {
  const object = hostStub(env, asPlane('host', hostId, 'places a workload'))
  return {
    hostId,
    recordIntent: async (podId) => object.recordPodIntent(hostId, podId),
    clearIntent: async (podId) => object.clearPodIntent(podId),
    sync: async (podId) => object.syncPod(hostId, podId),
  }
}

/** Handling of the intent records after the write. */
interface AfterWrite<Outcome> {
  /** Whether this outcome means that nothing was written, so that no host has to read the row. */
  isUntouched?: (outcome: Outcome) => boolean
  /** Runs beside the `sync` calls and is awaited with them. */
  beside?: (outcome: Outcome) => Promise<void>
}

/**
 * Writes a pod's row after an intent record on every host that it concerns, then has each host read the row, in order (adr/0012). After a
 * crash in between, the intent records remain and the hosts read the row by themselves; so do hosts whose `sync` fails. Throws what `write`
 * throws, and when a host cannot store its intent record.
 */
export async function withPodIntents<Outcome>(
  hosts: readonly PodHost[],
  podId: string,
  write: (intents: readonly PodIntent[]) => Promise<Outcome>,
  { isUntouched = () => false, beside = async () => {} }: AfterWrite<Outcome> = {},
): Promise<Outcome> {
  const intents: PodIntent[] = []
  for (const host of hosts) intents.push(await host.recordIntent(podId))
  let outcome: Outcome
  try {
    outcome = await write(intents)
  } catch (error) {
    // The row may or may not have been written.
    await finish(hosts, podId, 'sync')
    throw error
  }
  await Promise.all([finish(hosts, podId, isUntouched(outcome) ? 'clearIntent' : 'sync'), beside(outcome)])
  return outcome
}

async function finish(hosts: readonly PodHost[], podId: string, step: 'sync' | 'clearIntent'): Promise<void> {
  for (const host of hosts) {
    await tryLogged('warn', 'a host could not be notified of a pod', { hostId: host.hostId, podId }, () => host[step](podId))
  }
}
