import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { effect, noEffect } from './effect.ts'

// Plans for API keys and SSH keys that lose access. Pure.

/** Age of the last use, in milliseconds, below which a key counts as in use. */
const RECENT_MS = 7 * 86_400_000

/** Fields of a key that a plan reads. */
export interface PlannedKey {
  id: string
  name: string
  lastUsedAt: number | null
}

/** Revoking a key (DRY-10): calls with it are refused. The severity depends on its last use. */
export function planKeyRevocation({ id, name, lastUsedAt }: PlannedKey, nowMs: number): ChangeEffect {
  const resource = { kind: 'api-key' as const, id, name }
  if (lastUsedAt === null) return effect(resource, 'REFUSES', 'INFO', 'requests with it are refused; it was never used')
  const isRecent = nowMs - lastUsedAt < RECENT_MS
  const what = `requests with it are refused; it was last used at ${formatTime(lastUsedAt)}`
  return effect(resource, 'REFUSES', isRecent ? 'LOSS' : 'WARNING', what)
}

/** Rotating a key (DRY-24): the instant from which the previous key is refused. The severity depends on its last use. */
export function planKeyRotation({ id, name, lastUsedAt }: PlannedKey, untilMs: number, nowMs: number): ChangeEffect[] {
  const resource = { kind: 'api-key' as const, id, name }
  const last = lastUsedAt === null ? 'it was never used' : `it was last used at ${formatTime(lastUsedAt)}`
  const isMissed = lastUsedAt !== null && nowMs - lastUsedAt < RECENT_MS
  return [
    effect(resource, 'CHANGES', 'INFO', 'a new key with another secret and the same permissions is created; it is shown once'),
    effect(resource, 'REFUSES', isMissed ? 'WARNING' : 'INFO', `the previous key is refused from ${formatTime(untilMs)}; ${last}`),
  ]
}

/** Replacing the SSH keys of an account (DRY-10): keys added and removed, and the number of running pods that retain their present ones. */
export function planSshKeys(
  account: ChangedResource,
  before: readonly string[],
  after: readonly string[],
  running: number,
): ChangeEffect[] {
  const gone = before.filter((key) => !after.includes(key))
  const come = after.filter((key) => !before.includes(key))
  if (gone.length + come.length === 0) return noEffect(account)
  const kept = { ...effect(account, 'STAYS', 'INFO', `${running} running pods keep the keys that they received`), amount: running }
  return [
    ...gone.map((key) => effect(sshKey(key), 'REFUSES', 'WARNING', 'it does not sign in to pods that start later')),
    ...come.map((key) => effect(sshKey(key), 'CHANGES', 'INFO', 'it signs in to pods that start later')),
    ...(running > 0 ? [kept] : []),
  ]
}

/** Identifies an SSH key by the last 16 characters of its data and by its comment. */
function sshKey(key: string): ChangedResource {
  const [type = '', data = '', ...comment] = key.split(' ')
  return { kind: 'ssh-key', id: `${type} …${data.slice(-16)}`, name: comment.join(' ') || null }
}
