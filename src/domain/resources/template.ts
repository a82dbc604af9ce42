import { TEMPLATE_DEFAULTS } from '../../contract/defaults.ts'
import { type Refusal, refused } from '../../contract/problems.ts'
import type { CreateTemplateRequest, UpdateTemplateRequest } from '../../contract/resources/templates.ts'
import { mergeArgs } from './container.ts'
import type { TemplateConfig, TemplateNotesPatch } from './record.ts'

/** Defaults of a create body (TPL-2). */
const DEFAULTS: Omit<TemplateConfig, 'id' | 'teamId'> = {
  name: '',
  container: { image: '', args: '', diskGb: TEMPLATE_DEFAULTS.disk, env: {}, ports: [], registry: null },
  persistent: null,
  serverless: TEMPLATE_DEFAULTS.serverless,
  isPublic: TEMPLATE_DEFAULTS.public,
  category: TEMPLATE_DEFAULTS.category,
  startSsh: TEMPLATE_DEFAULTS.startSsh,
  startJupyter: TEMPLATE_DEFAULTS.startJupyter,
  allowedCudaVersions: [],
}

/** A valid template, or its refusal. */
export type TemplateResult = { ok: true; template: TemplateConfig } | { ok: false; problem: Refusal }

/** Template that a create body requests (TPL-2, CON-2, CON-3), or why it is refused. */
export function createTemplate(body: CreateTemplateRequest & TemplateNotesPatch, ids: { id: string; teamId: string }): TemplateResult {
  return patchTemplate({ ...DEFAULTS, ...ids }, body)
}

/** Template after a PATCH (STRICT-3): absent fields stay. The caller checks that the registry credential exists. */
export function patchTemplate(template: TemplateConfig, patch: UpdateTemplateRequest & TemplateNotesPatch): TemplateResult {
  const { container } = template
  if (patch.image === '') return refused('image cannot be empty')
  const args = mergeArgs(container.args, patch)
  if (args === null) return refused('args and cmd or entrypoint describe different commands; send one form')
  const next: TemplateConfig = {
    ...template,
    name: patch.name ?? template.name,
    container: {
      ...container,
      image: patch.image ?? container.image,
      args,
      diskGb: patch.disk ?? container.diskGb,
      env: patch.env ?? container.env,
      ports: patch.ports ?? container.ports,
      registry: patch.registry === undefined ? container.registry : registryIdOf(patch.registry),
    },
    persistent: patch.mounts === undefined ? template.persistent : persistentOf(patch.mounts),
    serverless: patch.serverless ?? template.serverless,
    isPublic: patch.public ?? template.isPublic,
    category: patch.category ?? template.category,
    startSsh: patch.startSsh ?? template.startSsh,
    startJupyter: patch.startJupyter ?? template.startJupyter,
    allowedCudaVersions: patch.allowedCudaVersions ?? template.allowedCudaVersions,
  }
  return { ok: true, template: withNotes(next, patch) }
}

/** GQL-42: absent notes stay, and the name of a removed port is removed too. */
function withNotes({ notes: before = {}, ...template }: TemplateConfig, patch: TemplateNotesPatch): TemplateConfig {
  const readme = patch.readme ?? before.readme
  const advancedStart = patch.advancedStart ?? before.advancedStart
  const named = Object.entries(patch.portNames ?? before.portNames ?? {})
  const portNames = Object.fromEntries(named.filter(([port, name]) => name !== '' && template.container.ports.includes(port)))
  const notes = {
    ...(readme && { readme }),
    ...(Object.keys(portNames).length > 0 && { portNames }),
    ...(advancedStart !== undefined && { advancedStart }),
  }
  return Object.keys(notes).length > 0 ? { ...template, notes } : template
}

/**
 * A template as another account sees and uses it: without the owner's registry credential (TPL-3), and without grants of the owner's
 * secrets (CAP-13).
 */
export function withoutCredential({ container, ...template }: TemplateConfig): TemplateConfig {
  const { secretGrants: _ofOthers, ...rest } = container
  return { ...template, container: { ...rest, registry: null } }
}

/** Id of the credential that a request names, as an id or as an object with an id (TPL-4); null for none. */
export function registryIdOf(asked: NonNullable<UpdateTemplateRequest['registry']> | null): string | null {
  return (typeof asked === 'object' ? asked?.id : asked) || null
}

function persistentOf({ persistent }: NonNullable<UpdateTemplateRequest['mounts']>): TemplateConfig['persistent'] {
  return persistent ? { sizeGb: persistent.size, path: persistent.path } : null
}
