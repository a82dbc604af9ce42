import type { Template } from '../../contract/resources/templates.ts'
import { templateCreate, templatePatch } from '../v1/resources.ts'
import { type ContainerInput, flatPatch } from './pod-inputs.ts'
import { envPairs, type Mapped } from './words.ts'

/** What a template is saved from. */
export interface TemplateInput extends ContainerInput {
  id?: string | null
  isServerless?: boolean | null
  isPublic?: boolean | null
  startSsh?: boolean | null
  startJupyter?: boolean | null
  startScript?: string | null
  category?: string | null
}

const NO_SCRIPT = '$.startScript: there are no start scripts here; put the command into dockerArgs'

/** Whether what a change asks for depends on what the template has now. */
export { needsMount } from '../v1/resources.ts'

/** A new template in v2 (GQL-22). The caller checks it as v2 does. */
export function templateBody(input: TemplateInput): Mapped<Record<string, unknown>> {
  if (input.startScript) return { ok: false, detail: NO_SCRIPT }
  const { containerRegistryAuthId, ...patch } = flatPatch(input)
  const registry = containerRegistryAuthId ? { containerRegistryAuthId } : {}
  const { name = '', imageName = '' } = patch
  const created = templateCreate({ ...patch, ...registry, ...flagsOf(input), name, imageName })
  const args = input.dockerArgs ? { args: input.dockerArgs } : {}
  return { ok: true, body: { ...created, ...args, ...startsOf(input) } }
}

/** A change of one in v2. `mounts`: those of the template now, if `needsMount`. */
export function templateEdit(input: TemplateInput, mounts: Template['mounts']): Mapped<Record<string, unknown>> {
  if (input.startScript) return { ok: false, detail: NO_SCRIPT }
  const patch = templatePatch({ ...flatPatch(input), ...flagsOf(input) }, mounts)
  return { ok: true, body: { ...patch, ...(typeof input.dockerArgs === 'string' && { args: input.dockerArgs }), ...startsOf(input) } }
}

function flagsOf({ isPublic, isServerless, category }: TemplateInput) {
  return {
    ...(typeof isPublic === 'boolean' && { isPublic }),
    ...(typeof isServerless === 'boolean' && { isServerless }),
    // Which words there are the check of v2 says.
    ...(category && { category: category as 'CPU' | 'NVIDIA' | 'AMD' }),
  }
}

function startsOf({ startSsh, startJupyter }: TemplateInput) {
  return { ...(typeof startSsh === 'boolean' && { startSsh }), ...(typeof startJupyter === 'boolean' && { startJupyter }) }
}

/** A template as GraphQL shows it (GQL-13). Only the list of public ones knows whose they are. */
export function flatTemplate(template: Template, isRunpod?: boolean) {
  const { persistent } = template.mounts
  return {
    id: template.id,
    name: template.name,
    imageName: template.image,
    dockerArgs: template.args,
    env: envPairs(template.env),
    ports: template.ports.join(','),
    portsConfig: template.ports.map((port) => ({ name: '', port })),
    containerDiskInGb: template.disk,
    volumeInGb: persistent?.size ?? 0,
    volumeMountPath: persistent?.path ?? '',
    containerRegistryAuthId: template.registry,
    isServerless: template.serverless,
    isPublic: template.public,
    isRunpod,
    category: template.category,
    startSsh: template.startSsh,
    startJupyter: template.startJupyter,
    startScript: '',
    readme: '',
    advancedStart: template.args !== '',
  }
}
export type FlatTemplate = ReturnType<typeof flatTemplate>
