import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import { formatTime } from '../../contract/timestamps.ts'
import { eachOf, effect, type Named, rateEffect } from './effect.ts'

// Plans for deletions of volumes, templates, credentials, secrets and delegations that pods and endpoints use. Pure.

interface NamedThing {
  id: string
  name: string
}

/** Deleting a volume: its data and its cost (DRY-9). */
export function planVolumeDeletion(
  resource: ChangedResource,
  { usedBytes, usedAtMs, sizeGb }: { usedBytes: number | null; usedAtMs: number | null; sizeGb: number | null },
  nanosPerHour: number,
): ChangeEffect[] {
  return [effect(resource, 'DELETES', 'LOSS', `${dataOf(usedBytes, usedAtMs, sizeGb)} is wiped`), ...rateEffect(resource, nanosPerHour, 0)]
}

function dataOf(usedBytes: number | null, usedAtMs: number | null, sizeGb: number | null): string {
  if (usedBytes !== null && usedAtMs !== null) return `all that is in it (${usedBytes} bytes at ${formatTime(usedAtMs)})`
  return sizeGb === null ? 'all that is in it' : `all that is in it (up to ${sizeGb} GB)`
}

/** Deleting a template that no pod and no endpoint was made from (DRY-9). */
export function planTemplateDeletion(resource: ChangedResource, isPublic: boolean): ChangeEffect[] {
  return [
    effect(resource, 'DELETES', 'LOSS', 'its settings are gone'),
    ...(isPublic ? [effect(resource, 'REFUSES', 'WARNING', 'other accounts can make nothing from it any more')] : []),
  ]
}

/** Deleting a registry credential that no pod and no endpoint uses: templates that name it lose the reference (DRY-9). */
export function planRegistryDeletion(resource: ChangedResource, templates: Named<NamedThing>): ChangeEffect[] {
  return [
    effect(resource, 'DELETES', 'LOSS', 'its user name and password are gone'),
    ...eachOf(resource, templates, ({ id, name }) =>
      effect(
        { kind: 'template', id, name },
        'CHANGES',
        'WARNING',
        'it names no credential any more: what is made from it pulls without one',
      ),
    ),
  ]
}

/** A pod, endpoint or template that uses the resource; a change of the resource affects it at its next start. */
export interface Reader {
  kind: 'pod' | 'endpoint' | 'template'
  id: string
  name: string
}

/** Deleting a secret (DRY-9): variables that name it are empty from the next start on. */
export function planSecretDeletion(resource: ChangedResource, readers: readonly Reader[], leftOut: number): ChangeEffect[] {
  const tell = ({ kind, id, name }: Reader) => {
    const when = kind === 'template' ? 'what is made from it' : kind === 'pod' ? 'its next container' : 'its next worker'
    return effect({ kind, id, name }, 'CHANGES', 'WARNING', `${when} gets an empty text in its place; what runs keeps it`)
  }
  const unseen = { ...effect(resource, 'CHANGES', 'INFO', `${leftOut} older ones were not looked through`), amount: leftOut }
  return [effect(resource, 'DELETES', 'LOSS', 'its value is gone'), ...readers.map(tell), ...(leftOut > 0 ? [unseen] : [])]
}

/**
 * Revoking a delegation (DRY-9): pods, endpoints and templates that pull from its repository. `isCovered`: another delegation still allows
 * that.
 */
export function planDelegationRevocation(resource: ChangedResource, users: readonly Reader[], isCovered: boolean): ChangeEffect[] {
  const tell = ({ kind, id, name }: Reader) =>
    isCovered
      ? effect({ kind, id, name }, 'STAYS', 'INFO', 'another delegation still lets it pull')
      : effect({ kind, id, name }, 'REFUSES', 'WARNING', 'its next start cannot pull its image from there; what runs goes on')
  return [effect(resource, 'DELETES', 'WARNING', 'the delegation is gone; it can be made again'), ...users.map(tell)]
}
