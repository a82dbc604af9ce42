import type { PodRow } from '../../db/pods/pods.ts'
import type { Env } from '../../env.ts'
import { asPlane } from '../../objects/ownership/as-plane.ts'
import { podLogStub } from '../../objects/stubs.ts'
import { tryLogged } from '../../platform/log.ts'
import type { LogWriter } from '../../rpc/pod-log.ts'
import { regionOf } from '../catalog.ts'

/** Writer name of the plane in a pod's log; workload names end in a number and therefore never equal it. */
export const PLANE_WRITER = 'plane'

/** Writer name of notes about secrets in env, in the logs of pods and workers. */
export const SECRETS_WRITER = 'plane-secrets'
/** Maximum number of names in one line. */
const MAX_NAMES = 20

/**
 * Adds a `system` line about names in env that match no secret (ACC-6), once per start; `start` numbers the starts of a log. Best effort,
 * like `notePod`. The line has the instant at which it is written, because objects start containers without a request.
 */
export async function noteUnknownSecrets(
  env: Env,
  { kind, id, ownerId, start, dataCenterId }: { kind: 'pod' | 'worker'; id: string; ownerId: string; start: number; dataCenterId: string },
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  const line = `env refers to secrets that the account does not have; each is replaced by an empty string: ${names.slice(0, MAX_NAMES).join(', ')}${more}`
  await append(env, { kind, id, ownerId, seq: start, workloadId: SECRETS_WRITER, dataCenterId }, line)
}

/**
 * Adds a `system` line of the plane to the log of a pod, under the version that the transition made: repeated calls write it once (LOG-17).
 * Null: nothing to write. Best effort: a log that cannot be written must not undo the transition. The line has the instant at which it is
 * written, so that the lines of a log are in order.
 */
export async function notePod(env: Env, pod: Pick<PodRow, 'id' | 'version' | 'dataCenterId'>, line: string | null): Promise<void> {
  const { id, version, dataCenterId } = pod
  if (line !== null) await append(env, { kind: 'pod', id, ownerId: id, seq: version, workloadId: PLANE_WRITER, dataCenterId }, line)
}

type Note = LogWriter & { id: string; seq: number; dataCenterId: string }

async function append(env: Env, { id, seq, dataCenterId, ...writer }: Note, line: string): Promise<void> {
  const { kind, ownerId } = writer
  await tryLogged('warn', 'a note could not be written', { ownerId }, () =>
    podLogStub(env, asPlane(kind, id, 'writes a system line'), regionOf([dataCenterId])).append(writer, [
      { seq, at: Date.now(), source: 'system', line },
    ]),
  )
}
