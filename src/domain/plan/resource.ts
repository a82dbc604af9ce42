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
  if (usedBytes !== null && usedAtMs !== null) return `all its data (${usedBytes} bytes at ${formatTime(usedAtMs)})`
  return sizeGb === null ? 'all its data' : `all its data (up to ${sizeGb} GB)`
}

/** Deleting a template that no pod and no endpoint was made from (DRY-9). */
export function planTemplateDeletion(resource: ChangedResource, isPublic: boolean): ChangeEffect[] {
  return [
    effect(resource, 'DELETES', 'LOSS', 'its settings are deleted'),
    ...(isPublic ? [effect(resource, 'REFUSES', 'WARNING', 'other accounts cannot create resources from it')] : []),
  ]
}

/** Deleting a registry credential that no pod and no endpoint uses: templates that name it lose the reference (DRY-9). */
export function planRegistryDeletion(resource: ChangedResource, templates: Named<NamedThing>): ChangeEffect[] {
  return [
    effect(resource, 'DELETES', 'LOSS', 'its user name and password are deleted'),
    ...eachOf(resource, templates, ({ id, name }) =>
      effect(
        { kind: 'template', id, name },
        'CHANGES',
        'WARNING',
        'it loses its credential: resources that are created from it pull without one',
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
  const effectOf = ({ kind, id, name }: Reader) => {
    const when = kind === 'template' ? 'a resource that is created from it' : kind === 'pod' ? 'its next container' : 'its next worker'
    return effect({ kind, id, name }, 'CHANGES', 'WARNING', `${when} gets an empty string in its place; running containers keep the value`)
  }
  const unseen = { ...effect(resource, 'CHANGES', 'INFO', `${leftOut} older ones were not checked`), amount: leftOut }
  return [effect(resource, 'DELETES', 'LOSS', 'its value is deleted'), ...readers.map(effectOf), ...(leftOut > 0 ? [unseen] : [])]
}

/**
 * Revoking a delegation (DRY-9): pods, endpoints and templates that pull from its repository. `isCovered`: another delegation still allows
 * that.
 */
export function planDelegationRevocation(resource: ChangedResource, users: readonly Reader[], isCovered: boolean): ChangeEffect[] {
  const effectOf = ({ kind, id, name }: Reader) =>
    isCovered
      ? effect({ kind, id, name }, 'STAYS', 'INFO', 'another delegation still lets it pull')
      : effect(
          { kind, id, name },
          'REFUSES',
          'WARNING',
          'its next start cannot pull its image from there; the running container is not affected',
        )
  return [effect(resource, 'DELETES', 'WARNING', 'the delegation is deleted; it can be created again'), ...users.map(effectOf)]
}
