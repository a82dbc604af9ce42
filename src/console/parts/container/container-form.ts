import { readEnv, readNumber, readPorts, writeEnv } from './text-lists.ts'

/** What runs in a pod, as one types it. */
export interface ContainerText {
  image: string
  args: string
  env: string
  ports: string
  disk: string
  registry: string
}

/** The members of a request that describe a container. */
export interface ContainerBody {
  image?: string
  args?: string
  env?: Record<string, string>
  ports?: string[]
  disk?: number
  registry?: string | null
}

interface ContainerView {
  image: string
  args: string
  env: Record<string, string>
  ports: string[]
  disk: number
  registry: string | null
}

export const EMPTY_CONTAINER: ContainerText = { image: '', args: '', env: '', ports: '', disk: '', registry: '' }

export function containerText({ image, args, env, ports, disk, registry }: ContainerView): ContainerText {
  return { image, args, env: writeEnv(env), ports: ports.join(', '), disk: String(disk), registry: registry ?? '' }
}

/** What could not be read, by member. */
export function containerProblems({ env }: ContainerText): Partial<Record<keyof ContainerText, string>> {
  const read = readEnv(env)
  return read.ok ? {} : { env: read.problem }
}

/** For a create: what is empty is left to the template, or to the plane. */
export function containerBody(text: ContainerText): ContainerBody {
  return pick(text, EMPTY_CONTAINER)
}

/** For a change: what differs from what was there. */
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
