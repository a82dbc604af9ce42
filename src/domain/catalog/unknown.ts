import { badRequest, type Refusal } from '../../contract/problems.ts'
import { type Catalog, type CpuFlavor, vcpuCountsOf } from './catalog.ts'

// Refusals of ids that the catalog does not have, with suggestions. Pure.

const MOST_SUGGESTED = 3

/** Refuses an unknown GPU type (POD-9, CAT-19). In this file `at` is the place of the id in the body. */
export function unknownGpuType({ gpuTypes }: Catalog, id: string, at: string): Refusal {
  const known = gpuTypes.map((type) => type.id)
  return badRequest(`invalid GPU type id "${id}"`, [suggestion(at, closest(id, known), 'GET /v2/catalog/gpus')])
}

/** Refuses an unknown CPU flavor; `detail` is the error text of the interface in use (POD-9, CAT-19). */
export function unknownCpuFlavor({ cpuFlavors }: Catalog, id: string, at: string, detail: string): Refusal {
  const known = cpuFlavors.map((flavor) => flavor.id)
  return badRequest(detail, [suggestion(at, closest(id, known), 'GET /v2/catalog/cpus')])
}

/** Refuses an unknown pool; suggests similar pools, or the pools of the GPU type that was named in its place (END-4, CAT-19). */
export function unknownGpuPool({ gpuTypes }: Catalog, id: string, at: string): Refusal {
  const pools = [...new Set(gpuTypes.flatMap(({ pool }) => pool ?? []))]
  const named = closest(id, pools)
  const types = closest(
    id,
    gpuTypes.map((type) => type.id),
  )
  const ofTypes = [...new Set(gpuTypes.filter((type) => types.includes(type.id)).flatMap(({ pool }) => pool ?? []))]
  return {
    ...badRequest(`gpu pool ${id} not found`),
    errors: [suggestion(at, named.length > 0 ? named : ofTypes, 'GET /v2/catalog/gpus', 'the pool of each type')],
  }
}

/** Refuses a size that a flavor is not sold at (POD-8, CAT-19). */
export function unsoldSize(flavor: CpuFlavor, vcpuCount: number, at: string): Refusal {
  const sizes = vcpuCountsOf(flavor)
  return badRequest(`vcpuCount ${vcpuCount} is not valid for ${flavor.id}`, [`${at}: ${flavor.id} is sold with ${sizes.join(', ')} vCPUs`])
}

function suggestion(at: string, ids: readonly string[], where: string, what = 'all'): string {
  const guess = ids.length === 0 ? '' : `did you mean ${ids.map((id) => `"${id}"`).join(' or ')}? `
  return `${at}: ${guess}${where} lists ${what}`
}

/**
 * The ids that contain `asked` or are contained in it, shortest first. Matches of whole words exclude others: `L4` finds NVIDIA L4, and
 * NVIDIA L40 only if there is no L4.
 */
function closest(asked: string, ids: readonly string[]): string[] {
  const word = plain(asked)
  if (word.length < 2) return []
  const within = ids.filter((id) => plain(id).includes(word) || word.includes(plain(id)))
  const whole = within.filter((id) => plain(id) === word || id.split(/[\s_-]+/).some((part) => plain(part) === word))
  return (whole.length > 0 ? whole : within).toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MOST_SUGGESTED)
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}
