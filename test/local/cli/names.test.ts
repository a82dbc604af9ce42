import { afterEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, type Routes, ToyPlane } from './terminal.ts'

const LAST = { nextCursor: null, hasNextPage: false }
const [A, B, C] = ['a1b2c3d4e5f6g7', 'b1b2c3d4e5f6g7', 'c1b2c3d4e5f6g7']
const pod = (id: string, name: string) => ({ id, name, status: 'RUNNING', statusReason: null, ports: [], cost: 1 })
const PODS = [pod(A, 'box'), pod(B, 'twin'), pod(C, 'twin')]
const POD_ROUTES: Routes = {
  'GET /v2/pods': { body: { pods: PODS, pagination: LAST } },
  [`GET /v2/pods/${A}`]: { body: PODS[0] },
  [`DELETE /v2/pods/${A}`]: { status: 204 },
  [`DELETE /v2/pods/${B}`]: { status: 204 },
}

let plane: ToyPlane | undefined
const at = async (routes: Routes) => (plane = await ToyPlane.open(routes))
const asked = () => plane?.asked.map(({ method, url }) => `${method} ${url.split('?')[0]}`)
afterEach(async () => {
  await plane?.close()
  plane = undefined
})

describe('names in place of ids', () => {
  it('[CMD-17] an id costs no further request', async () => {
    const toy = await at(POD_ROUTES)
    expect(await podplane(['pods', 'get', A, '-q'], { plane: toy })).toEqual({ code: 0, stdout: `${A}\n`, stderr: '' })
    expect(asked()).toEqual([`GET /v2/pods/${A}`])
  })

  it('[CMD-17] an unambiguous name stands for its resource, among several arguments too', async () => {
    const toy = await at(POD_ROUTES)
    const { code, stdout } = await podplane(['pods', 'delete', 'box', B, '--yes'], { plane: toy })
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${A}\n${B}\n` })
    expect(asked()).toEqual(['GET /v2/pods', `DELETE /v2/pods/${A}`, `DELETE /v2/pods/${B}`])
  })

  it('[CMD-17] an ambiguous name is exit code 2 with the ids, and nothing is done', async () => {
    const toy = await at(POD_ROUTES)
    expect(await podplane(['pods', 'delete', 'twin', '--yes'], { plane: toy })).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: several resources have the name twin\n  use one of these ids: ${B}, ${C}\n`,
    })
    expect(asked()).toEqual(['GET /v2/pods'])
  })

  it('[CMD-17] an unknown name is exit code 4 with the nearest names, or with the command that lists them', async () => {
    const toy = await at(POD_ROUTES)
    expect(await podplane(['pods', 'get', 'bxo'], { plane: toy })).toEqual({
      code: 4,
      stdout: '',
      stderr: `error: there is no pod bxo\n  similar names: box (${A})\n`,
    })
    expect((await podplane(['pods', 'get', 'something-else'], { plane: toy })).stderr).toBe(
      'error: there is no pod something-else\n  podplane pods list shows the existing ones\n',
    )
  })

  it('[CMD-17] a prompt has the name as typed beside the id', async () => {
    const toy = await at(POD_ROUTES)
    expect((await podplane(['pods', 'delete', 'box'], { plane: toy })).stderr).toContain(`Delete pod box (${A})? `)
    expect((await podplane(['pods', 'delete', A], { plane: toy })).stderr).toContain(`Delete pod ${A}? `)
  })

  it('[CMD-17] an id takes precedence over a name; a name with the form of an id is found where there is no such id', async () => {
    const toy = await at({
      'GET /v2/pods': { body: { pods: [pod(A, B), pod(B, 'box')], pagination: LAST } },
      [`GET /v2/pods/${A}`]: { body: pod(A, 'n0tebooknumber') },
      [`GET /v2/pods/${B}`]: { body: pod(B, 'box') },
    })
    expect((await podplane(['pods', 'get', B, '-q'], { plane: toy })).stdout).toBe(`${B}\n`)
    await toy.close()
    const other = await at({
      'GET /v2/pods': { body: { pods: [pod(A, 'n0tebooknumber')], pagination: LAST } },
      [`GET /v2/pods/${A}`]: { body: pod(A, 'n0tebooknumber') },
    })
    expect(await podplane(['pods', 'get', 'n0tebooknumber', '-q'], { plane: other })).toEqual({ code: 0, stdout: `${A}\n`, stderr: '' })
  })

  it('[CMD-17] nothing is done twice: a 404 after a change is reported as it is', async () => {
    const toy = await at({ ...POD_ROUTES, 'GET /v2/pods': { body: { pods: [pod(A, 'n0tebooknumber')], pagination: LAST } } })
    const { code, stdout } = await podplane(['pods', 'delete', B, 'n0tebooknumber', '--yes'], { plane: toy })
    expect({ code, stdout }).toEqual({ code: 4, stdout: `${B}\n` })
    expect(asked()).toEqual([`DELETE /v2/pods/${B}`, 'DELETE /v2/pods/n0tebooknumber'])
  })

  it('[CMD-17] with a key that may not list, the argument is used as an id', async () => {
    const toy = await at({
      'GET /v2/serverless': { status: 403, body: { title: 'Forbidden', status: 403, detail: 'the key lacks serverless:read' } },
      'POST /v2/chat/run': { body: { id: 'j1', status: 'IN_QUEUE' } },
    })
    expect((await podplane(['run', 'chat', '{}', '-q'], { plane: toy })).stdout).toBe('j1\n')
  })

  it('[CMD-17] every kind of resource has names: in arguments, in flags, and where a pod or an endpoint is possible', async () => {
    const one = { id: A, name: 'x', image: 'i', workers: { min: 0, max: 1 } }
    const toy = await at({
      'GET /v2/serverless': { body: { endpoints: [{ ...one, id: B, name: 'chat' }], pagination: LAST } },
      'GET /v2/pods': { body: { pods: [], pagination: LAST } },
      'GET /v2/templates': { body: { templates: [one], pagination: LAST } },
      'GET /v2/clusters': { body: { clusters: [one] } },
      'GET /v2/network-volumes': { body: { networkVolumes: [one] } },
      'GET /v2/global-volumes': { body: { globalVolumes: [one] } },
      'GET /v2/registries': { body: { registries: [one] } },
      'GET /v2/account/secrets': { body: { secrets: [one] } },
      [`GET /v2/templates/${A}`]: { body: one },
      [`GET /v2/clusters/${A}`]: { body: one },
      [`GET /v2/network-volumes/${A}`]: { body: one },
      [`GET /v2/global-volumes/${A}`]: { body: one },
      [`GET /v2/registries/${A}`]: { body: one },
      [`GET /v2/account/secrets/${A}`]: { body: one },
      [`GET /v2/serverless/${B}/workers`]: { body: { workers: [] } },
      'POST /v2/pods': ({ body }) => ({ status: 201, body: { ...pod(C, 'new'), body } }),
    })
    for (const noun of ['template', 'cluster', 'volume', 'global-volume', 'registry', 'secret'])
      expect({ noun, ran: await podplane([noun, 'get', 'x', '-q'], { plane: toy }) }).toEqual({
        noun,
        ran: { code: 0, stdout: `${A}\n`, stderr: '' },
      })
    const create = ['pods', 'create', '--image', 'i', '--cpu', 'cpu3c', '--template', 'x', '--volume', 'x:/data', '--json', 'body']
    expect(JSON.parse((await podplane(create, { plane: toy })).stdout)).toMatchObject({
      body: { templateId: A, mounts: { network: [{ volumeId: A, path: '/data' }] } },
    })
    expect((await podplane(['logs', 'chat'], { plane: toy })).code).toBe(0)
    expect(asked()).toContain(`GET /v2/serverless/${B}/workers`)
  })

  it('[CMD-17] machines have names too', async () => {
    const toy = await at({
      'GET /admin/v1/hosts': { body: { hosts: [{ id: A, name: 'gpu-1', status: 'ONLINE' }] } },
      [`GET /admin/v1/hosts/${A}`]: { body: { id: A, name: 'gpu-1', status: 'ONLINE' } },
    })
    const env = { PODPLANE_OPERATOR_KEY: 'ppo_key' }
    expect((await podplane(['hosts', 'get', 'gpu-1', '--json', 'id'], { plane: toy, env })).stdout).toContain(A)
    expect(await podplane(['hosts', 'get', 'gpu-2'], { plane: toy, env })).toEqual({
      code: 4,
      stdout: '',
      stderr: `error: there is no host gpu-2\n  similar names: gpu-1 (${A})\n`,
    })
  })
})
