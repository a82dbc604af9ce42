import type { ChangedResource, ChangeEffect } from '../../contract/change-plan.ts'
import type { NetworkVolumeRecord } from '../resources/network-volume.ts'
import type { TemplateConfig } from '../resources/record.ts'
import { sameValue } from '../same-value.ts'
import { eachOf, effect, type Named, noEffect, rateEffect } from './effect.ts'
import type { Reader } from './resource.ts'

// Plans for changes of volumes, templates and secrets that pods and endpoints use. Pure.

type NamedThing = Pick<Reader, 'id' | 'name'>

/** Renaming or growing a volume: its new name, size and cost (DRY-20). */
export function planVolumeChange(
  resource: ChangedResource,
  before: NetworkVolumeRecord,
  after: NetworkVolumeRecord,
  nanosPerHour: { before: number; after: number },
): ChangeEffect[] {
  const grows = `its size: ${before.sizeGb} GB becomes ${after.sizeGb} GB, and it cannot shrink again`
  const effects = [
    ...(before.name === after.name ? [] : [effect(resource, 'CHANGES', 'INFO', `its name: ${before.name} becomes ${after.name}`)]),
    ...(before.sizeGb === after.sizeGb ? [] : [effect(resource, 'CHANGES', 'WARNING', grows)]),
    ...rateEffect(resource, nanosPerHour.before, nanosPerHour.after),
  ]
  return effects.length > 0 ? effects : noEffect(resource)
}

/** Pods and endpoints that were made from a template: the first ones, and the number of all. */
export interface MadeFrom {
  pods: Named<NamedThing>
  endpoints: Named<NamedThing>
}

/** Changing a template (DRY-21): existing pods and endpoints retain their settings, and only later ones differ. */
export function planTemplateChange(
  resource: ChangedResource,
  before: TemplateConfig,
  after: TemplateConfig,
  { pods, endpoints }: MadeFrom,
): ChangeEffect[] {
  const previous = templateFields(before)
  const fields = Object.entries(templateFields(after)).flatMap(([name, value]) => (sameValue(previous[name], value) ? [] : [name]))
  if (fields.length === 0) return noEffect(resource)
  const keeps = (kind: 'pod' | 'endpoint') => (row: NamedThing) =>
    effect({ kind, ...row }, 'STAYS', 'INFO', 'it was created from it, and keeps its configuration')
  return [
    effect(resource, 'CHANGES', 'INFO', `changes ${fields.join(', ')} of resources that are created from it later`),
    ...(before.isPublic && !after.isPublic
      ? [effect(resource, 'REFUSES', 'WARNING', 'other accounts cannot create resources from it')]
      : []),
    ...(!before.isPublic && after.isPublic ? [effect(resource, 'CHANGES', 'WARNING', 'every account can read it, its env included')] : []),
    ...eachOf(resource, pods, keeps('pod')),
    ...eachOf(resource, endpoints, keeps('endpoint')),
  ]
}

// Fields of a template by their names in the API.
function templateFields({ id: _id, teamId: _teamId, container, persistent, isPublic, ...same }: TemplateConfig): Record<string, unknown> {
  const { diskGb, ...rest } = container
  return { ...same, ...rest, disk: diskGb, mounts: persistent, public: isPublic }
}

/** A pod, endpoint or template whose variables name a secret. */
export interface SecretReader extends Reader {
  /** For a pod: its container runs, with the value that it was started with. */
  isRunning: boolean
}

/** Changing a secret (DRY-22): running pods and workers retain the previous value until they start again. */
export function planSecretChange(
  resource: ChangedResource,
  { describes, hasNewValue }: { describes: boolean; hasNewValue: boolean },
  readers: readonly SecretReader[],
  leftOut: number,
): ChangeEffect[] {
  const unseen = { ...effect(resource, 'CHANGES', 'INFO', `${leftOut} older ones were not checked`), amount: leftOut }
  const effects = [
    ...(describes ? [effect(resource, 'CHANGES', 'INFO', 'its description')] : []),
    ...(hasNewValue
      ? [
          effect(resource, 'CHANGES', 'LOSS', 'its value: the previous one cannot be read again'),
          ...readers.map(readerEffect),
          ...(leftOut > 0 ? [unseen] : []),
        ]
      : []),
  ]
  return effects.length > 0 ? effects : noEffect(resource)
}

function readerEffect({ kind, id, name, isRunning }: SecretReader): ChangeEffect {
  const resource = { kind, id, name }
  if (kind === 'template') return effect(resource, 'CHANGES', 'INFO', 'resources that are created from it get the new value')
  if (kind === 'endpoint')
    return effect(resource, 'STAYS', 'WARNING', 'running workers keep the previous value; workers that start later get the new one')
  return isRunning
    ? effect(resource, 'STAYS', 'WARNING', 'it keeps the previous value until it is restarted')
    : effect(resource, 'CHANGES', 'INFO', 'it gets the new value when it starts')
}
