import { Problem } from '../../contract/problems.ts'
import { flatVolume } from '../../domain/flat/volumes.ts'
import { v1Template } from '../../domain/v1/resources.ts'
import { mapAtOnce } from '../../platform/at-once.ts'
import type { VerbContext } from '../../services/context.ts'
import { listVolumes } from '../../services/resources/network-volumes.ts'
import { toTemplate } from '../../services/resources/template-view.ts'
import { getTemplate } from '../../services/resources/templates.ts'

/** Whether a flag of the query is set, in the spelling of Go or Python clients. */
export function isAsked(query: URLSearchParams, name: string): boolean {
  return ['true', 'True', '1'].includes(query.get(name) ?? '')
}

/** Returns a lookup of the account's network volumes by id. It needs the scope to read them. */
export async function includeVolumes(ctx: VerbContext): Promise<(id: string | null) => ReturnType<typeof flatVolume> | null> {
  const volumes = new Map((await listVolumes(ctx)).map((volume) => [volume.id, flatVolume(volume)]))
  return (id) => volumes.get(id ?? '') ?? null
}

/** Most templates that one list includes: each needs a read of its own. */
const MAX_TEMPLATES = 200

/**
 * Returns a lookup of templates by id. It gives null for a template that is deleted or may not be read, and for ids after the first 200.
 */
export async function includeTemplates(
  ctx: VerbContext,
  ids: readonly (string | null)[],
): Promise<(id: string | null) => ReturnType<typeof v1Template> | null> {
  const distinct = [...new Set(ids)].filter((id) => id !== null).slice(0, MAX_TEMPLATES)
  const templates = new Map(await mapAtOnce(distinct, async (id) => [id, await templateOrNull(ctx, id)] as const))
  return (id) => templates.get(id ?? '') ?? null
}

async function templateOrNull(ctx: VerbContext, id: string): Promise<ReturnType<typeof v1Template> | null> {
  try {
    const template = await getTemplate(ctx, id)
    return v1Template(toTemplate(template), template.notes?.readme)
  } catch (error) {
    if (error instanceof Problem && (error.status === 404 || error.status === 403)) return null
    throw error
  }
}
