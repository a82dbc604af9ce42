import { badRequest, type Refusal } from '../../contract/problems.ts'
import type { EndpointConfig } from './record.ts'

const DEFAULT_PORT = 80
const DEFAULT_HEALTH_PATH = '/ping'
const HEALTH_PATH = /^\/[!-~]{0,1023}$/

/** The ports and health path of a load-balancing endpoint's workers (END-10). */
export interface Serving {
  port: number
  healthPort: number
  healthPath: string
}

/** Reads the container's variables. `PORT_HEALTH` is `PORT` by default (LB-7). */
export function servingOf({ container: { env } }: Pick<EndpointConfig, 'container'>): Serving {
  const port = readPort(env.PORT, DEFAULT_PORT)
  return { port, healthPort: readPort(env.PORT_HEALTH, port), healthPath: env.HEALTH_CHECK_PATH || DEFAULT_HEALTH_PATH }
}

/** Refuses invalid variables of a load-balancing endpoint. */
export function refuseServing({ type, container: { env } }: Pick<EndpointConfig, 'type' | 'container'>): Refusal | null {
  if (type !== 'LOAD_BALANCER') return null
  for (const name of ['PORT', 'PORT_HEALTH'] as const) {
    const given = env[name]
    if (given && readPort(given, 0) === 0) return badRequest(`env.${name} '${given}' is not a port; give a number from 1 to 65535`)
  }
  const path = env.HEALTH_CHECK_PATH
  if (path && !HEALTH_PATH.test(path)) return badRequest('env.HEALTH_CHECK_PATH is not a path; begin it with / and leave out spaces')
  return null
}

function readPort(text: string | undefined, otherwise: number): number {
  const port = text && /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : otherwise
}
