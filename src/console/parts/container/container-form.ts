import { readEnv, readNumber, readPorts, writeEnv } from './text-lists.ts'

/** Container fields of a form, as text. */
export interface ContainerText {
  image: string
  args: string
  env: string
  ports: string
  disk: string
  registry: string
}

/** Fields of a request that describe a container; the disk is in GB. */
export interface ContainerBody {
  image?: string
  args?: string
  env?: Record<string, string>
  ports?: string[]
  disk?: number
  registry?: string | null
}

/** Container of a resource as the plane returns it; the disk is in GB. */
interface ContainerView {
  image: string
  args: string
  env: Record<string, string>
  ports: string[]
  disk: number
  registry: string | null
}

export const EMPTY_CONTAINER: ContainerText = { image: '', args: '', env: '', ports: '', disk: '', registry: '' }

/** Returns the container of a resource as form text. */
export function containerText({ image, args, env, ports, disk, registry }: ContainerView): ContainerText {
  return { image, args, env: writeEnv(env), ports: ports.join(', '), disk: String(disk), registry: registry ?? '' }
}

/** Parse errors by field. */
export function containerProblems({ env }: ContainerText): Partial<Record<keyof ContainerText, string>> {
  const read = readEnv(env)
  return read.ok ? {} : { env: read.problem }
}

/** Fields for a create request; the template or the plane fills empty ones. */
export function containerBody(text: ContainerText): ContainerBody {
  return pick(text, EMPTY_CONTAINER)
}

/** Fields for an update request: those that differ. */
export function containerChanges(text: ContainerText, before: ContainerText): ContainerBody {
  return pick(text, before)
}

function pick(text: ContainerText, before: ContainerText): ContainerBody {
  const env = readEnv(text.env)
  const disk = readNumber(text.disk)
  return {
    ...(text.image.trim() !== before.image && { image: text.image.trim() }),
    ...(text.args !== before.args && { args: text.args }),
    ...(text.env !== before.env && env.ok && { env: env.value }),
    ...(text.ports !== before.ports && { ports: readPorts(text.ports) }),
    ...(text.disk !== before.disk && disk !== undefined && { disk }),
    ...(text.registry !== before.registry && { registry: text.registry === '' ? null : text.registry }),
  }
}
