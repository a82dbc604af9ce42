import type { PodRow } from '../../db/pods/pods.ts'
import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { podLogStub } from '../../objects/stubs.ts'
import { logEvent } from '../../platform/log.ts'

/** The plane writes into the log of a pod beside the pod's workloads; no workload has this name, because theirs end in a number. */
export const PLANE_WRITER = 'plane'

/** The same for what env says of secrets, in the logs of pods and workers. */
export const SECRETS_WRITER = 'plane-secrets'
/** Names of one line. */
const MAX_NAMES = 20

/**
 * Adds a `system` line about names in env that stand for no secret (ACC-6), once for each start: `start` counts those of the log. Best effort, as
 * below.
 */
export async function noteUnknownSecrets(
  env: Env,
  log: { kind: 'pod' | 'worker'; id: string; ownerId: string; start: number },
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  const line = `env names secrets that the account does not have, and each stands for an empty text: ${names.slice(0, MAX_NAMES).join(', ')}${more}`
  try {
    const writer = { kind: log.kind, ownerId: log.ownerId, workloadId: SECRETS_WRITER }
    await podLogStub(env, asPlane(log.kind, log.id, 'notes what it did')).append(writer, [
      { seq: log.start, at: Date.now(), source: 'system', line },
    ])
  } catch (error) {
    logEvent('warn', 'a note could not be written', { ownerId: log.ownerId, error })
  }
}

/**
 * Adds a `system` line of the plane's own to the log of a pod, in the name of the transition that made this version: told once, however often
 * it is called (PP-110). Null: there is nothing to tell. Best effort: a log that cannot be written must not undo what has happened.
 */
export async function notePod(env: Env, pod: Pick<PodRow, 'id' | 'version'>, line: string | null): Promise<void> {
  if (line === null) return
  try {
    const writer = { kind: 'pod', ownerId: pod.id, workloadId: PLANE_WRITER } as const
    await podLogStub(env, asPlane('pod', pod.id, 'notes what it did')).append(writer, [
      { seq: pod.version, at: Date.now(), source: 'system', line },
    ])
  } catch (error) {
    logEvent('warn', 'a note could not be written', { podId: pod.id, error })
  }
}
