import { createApp } from '../../../src/app.ts'
import { createExecutionContext, env, ORIGIN, type Reply } from '../harness.ts'

const app = createApp()
/** A plane whose operator serves v1. */
const SERVING = { ...env, V1_ADAPTER: '1' }

export const V1_IMAGE = 'acme/idle:1'
/** Kinds of v1, with the paths of v2 that hold the same things. */
export const V1_KINDS: Readonly<Record<string, string>> = {
  pods: '/v2/pods/',
  endpoints: '/v2/serverless/',
  templates: '/v2/templates/',
  networkvolumes: '/v2/network-volumes/',
  containerregistryauth: '/v2/registries/',
}
export const V1_BODIES: Readonly<Record<string, object>> = {
  '/pods': { computeType: 'CPU', imageName: V1_IMAGE },
  '/endpoints': { templateId: 'nosuchtemplate', gpuTypeIds: ['NVIDIA L4'] },
  '/templates': { name: 't', imageName: V1_IMAGE },
  '/networkvolumes': { name: 'v', size: 10, dataCenterId: 'EU-RO-1' },
  '/containerregistryauth': { name: 'r', username: 'u', password: 'p' },
}
/** The body of a route's call; undefined: none. */
export const v1BodyOf = (method: string, path: string): object | undefined =>
  path.endsWith('/update') || method === 'PATCH' ? { name: 'n2' } : method === 'POST' ? V1_BODIES[path] : undefined

/** Calls to v1 of a plane that serves it, with a key or none. */
export function v1(key: string | null) {
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> => {
    const request = new Request(`${ORIGIN}/v1${path}`, {
      method,
      // A content type is always sent, as Go clients of v1 do.
      headers: { ...(key !== null && { Authorization: `Bearer ${key}` }), 'Content-Type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const response = await app.fetch(request, SERVING, createExecutionContext())
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
  }
  return {
    call,
    get: (path: string) => call('GET', path),
    post: (path: string, body?: unknown, headers?: Record<string, string>) => call('POST', path, body, headers),
    patch: (path: string, body: unknown) => call('PATCH', path, body),
    delete: (path: string) => call('DELETE', path),
  }
}
