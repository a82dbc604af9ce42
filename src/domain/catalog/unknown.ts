import { badRequest, type Refusal } from '../../contract/problems.ts'
import { type Catalog, type CpuFlavor, vcpuCountsOf } from './catalog.ts'

// Ids that the catalog does not have, and what whoever wrote them may have meant. Pure.

const MOST_SUGGESTED = 3

/** A GPU type that there is none of (POD-9, CAT-19). Here as below, `at` is its place in the body. */
export function unknownGpuType({ gpuTypes }: Catalog, id: string, at: string): Refusal {
  const known = gpuTypes.map((type) => type.id)
  return badRequest(`invalid GPU type id "${id}"`, [suggestion(at, closest(id, known), 'GET /v2/catalog/gpus')])
}

/** A CPU flavor that there is none of; `detail`: as the interface words it (POD-9, CAT-19). */
export function unknownCpuFlavor({ cpuFlavors }: Catalog, id: string, at: string, detail: string): Refusal {
  const known = cpuFlavors.map((flavor) => flavor.id)
  return badRequest(detail, [suggestion(at, closest(id, known), 'GET /v2/catalog/cpus')])
}

/** A pool that there is none of: one of its name, or the pools of the GPU type that was named in its place (END-4, CAT-19). */
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

/** A size that a flavor is not sold at (POD-8, CAT-19). */
export function unsoldSize(flavor: CpuFlavor, vcpuCount: number, at: string): Refusal {
  const sizes = vcpuCountsOf(flavor)
  return badRequest(`vcpuCount ${vcpuCount} is not valid for ${flavor.id}`, [`${at}: ${flavor.id} is sold with ${sizes.join(', ')} vCPUs`])
}

function suggestion(at: string, ids: readonly string[], where: string, what = 'all'): string {
  const guess = ids.length === 0 ? '' : `did you mean ${ids.map((id) => `"${id}"`).join(' or ')}? `
  return `${at}: ${guess}${where} lists ${what}`
}

/** Ids of which the word is one, or a part: `L4` is NVIDIA L4, and NVIDIA L40 only if there were no such. The shortest first. */
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
