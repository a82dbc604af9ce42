import type { TemplateCategory } from '../../contract/enums.ts'
import type { Template } from '../../contract/resources/templates.ts'
import { needsMount, templateCreate, templatePatch } from '../flat/templates.ts'
import type { Mapped } from '../flat/terms.ts'
import type { TemplateNotes } from '../resources/record.ts'
import { type ContainerInput, flatPatch } from './pod-inputs.ts'
import { argsOfStart, type Start, startOfArgs } from './start-script.ts'
import { envPairs, itemsOf } from './values.ts'

/** The input of a new or changed template. */
export interface TemplateInput extends ContainerInput {
  id?: string | null
  isServerless?: boolean | null
  isPublic?: boolean | null
  startSsh?: boolean | null
  startJupyter?: boolean | null
  startScript?: string | null
  category?: string | null
  readme?: string | null
  advancedStart?: boolean | null
  portsConfig?: readonly ({ name?: string | null; port?: string | null } | null)[] | null
}

/** The fields of a template that a change may depend on. */
type Current = Pick<Template, 'mounts' | 'args' | 'ports'>
const NEW: Current = { mounts: {}, args: '', ports: [] }

/** Whether the result of a change depends on the template's current fields. */
export function needsCurrent(input: TemplateInput): boolean {
  const { volumeInGb, volumeMountPath, startScript, dockerArgs, portsConfig } = input
  const sized = { ...(typeof volumeInGb === 'number' && { volumeInGb }), ...(volumeMountPath && { volumeMountPath }) }
  return needsMount(sized) || typeof startScript === 'string' || typeof dockerArgs === 'string' || Boolean(portsConfig)
}

/** The v2 body of a new template, with its notes (GQL-22). The caller checks it as v2 does. */
export function templateBody(input: TemplateInput): Mapped<Record<string, unknown>> {
  const command = commandOf(input, NEW)
  if (!command.ok) return command
  const { containerRegistryAuthId, ...patch } = flatPatch(withPorts(input, NEW))
  const registry = containerRegistryAuthId ? { containerRegistryAuthId } : {}
  const { name = '', imageName = '' } = patch
  const created = templateCreate({ ...patch, ...registry, ...flagsOf(input), name, imageName })
  const args = command.body.args ? command.body : {}
  return { ok: true, body: { ...created, ...args, ...startsOf(input), ...notesOf(input, NEW) } }
}

/** The v2 body of a change, with its notes. `current`: the template's current fields, if `needsCurrent`. */
export function templateEdit(input: TemplateInput, current: Current = NEW): Mapped<Record<string, unknown>> {
  const command = commandOf(input, current)
  if (!command.ok) return command
  const patch = templatePatch({ ...flatPatch(withPorts(input, current)), ...flagsOf(input) }, current.mounts)
  return { ok: true, body: { ...patch, ...command.body, ...startsOf(input), ...notesOf(input, current) } }
}

/** GQL-43: of script and arguments, the part that is left out stays. */
function commandOf({ dockerArgs, startScript }: TemplateInput, current: Current): Mapped<{ args?: string }> {
  if (typeof dockerArgs !== 'string' && typeof startScript !== 'string') return { ok: true, body: {} }
  const before: Start = startOfArgs(current.args)
  const args = argsOfStart({ dockerArgs: dockerArgs ?? before.dockerArgs, startScript: startScript ?? before.startScript })
  return args.ok ? { ok: true, body: { args: args.body } } : args
}

/** GQL-42: `portsConfig` sets the ports if `ports` is left out. */
function withPorts(input: TemplateInput, current: Current): TemplateInput {
  return typeof input.ports === 'string' || !input.portsConfig ? input : { ...input, ports: portsOf(input, current).join(',') }
}

function notesOf(input: TemplateInput, current: Current): TemplateNotes {
  const { readme, advancedStart, portsConfig } = input
  const ports = portsOf(input, current)
  const named = (portsConfig ?? []).flatMap((one) => (one?.port && one.name ? [[fullPort(one.port, ports), one.name]] : []))
  return {
    ...(typeof readme === 'string' && { readme }),
    ...(typeof advancedStart === 'boolean' && { advancedStart }),
    ...(portsConfig && { portNames: Object.fromEntries(named) }),
  }
}

function portsOf({ ports, portsConfig }: TemplateInput, current: Current): string[] {
  if (typeof ports === 'string') return itemsOf(ports)
  return (portsConfig ?? []).flatMap((one) => (one?.port ? [fullPort(one.port, current.ports)] : []))
}

/** `8888` means the existing port of that number, of any protocol, otherwise `8888/http`. */
function fullPort(port: string, ports: readonly string[]): string {
  if (port.includes('/')) return port
  return ports.find((one) => one.startsWith(`${port}/`)) ?? `${port}/http`
}

function flagsOf({ isPublic, isServerless, category }: TemplateInput) {
  return {
    ...(typeof isPublic === 'boolean' && { isPublic }),
    ...(typeof isServerless === 'boolean' && { isServerless }),
    // The check of v2 refuses unknown categories.
    ...(category && { category: category as TemplateCategory }),
  }
}

function startsOf({ startSsh, startJupyter }: TemplateInput) {
  return { ...(typeof startSsh === 'boolean' && { startSsh }), ...(typeof startJupyter === 'boolean' && { startJupyter }) }
}

/** A template as GraphQL shows it (GQL-13). Only the list of public templates has `isRunpod`, because only it knows the owners. */
export function flatTemplate(template: Template, notes: TemplateNotes = {}, isRunpod?: boolean) {
  const { persistent } = template.mounts
  return {
    id: template.id,
    name: template.name,
    imageName: template.image,
    ...startOfArgs(template.args),
    env: envPairs(template.env),
    ports: template.ports.join(','),
    portsConfig: template.ports.map((port) => ({ name: notes.portNames?.[port] ?? '', port })),
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
    readme: notes.readme ?? '',
    advancedStart: notes.advancedStart ?? template.args !== '',
  }
}
export type FlatTemplate = ReturnType<typeof flatTemplate>
