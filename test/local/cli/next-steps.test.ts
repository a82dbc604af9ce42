import { afterEach, describe, expect, it } from '../../support/unit.ts'
import { podplane, type Routes, ToyPlane } from './terminal.ts'

// The messages for a new user of the program: the error and the next step.

const problem = (status: number, detail: string, errors?: string[]) => ({
  status,
  body: { title: 'Refused', status, detail, ...(errors && { errors }) },
})
const NOT_FOUND = problem(404, 'resource not found')
const INVALID = problem(422, 'Request validation failed.', ["$: missing property 'size'"])
const NO_GPU = problem(400, 'invalid GPU type id "x": $.gpu.id: GET /v2/catalog/gpus lists all')

const NO_ROOM = problem(
  400,
  'There are no longer any instances available with the requested specifications. Please refresh and try again: needs 8 free NVIDIA L4',
)

const ROUTES: Routes = {
  'POST /v2/serverless': NO_ROOM,
  'POST /v2/account/keys/nosuch/rotate': NOT_FOUND,
  'POST /v2/webhooks/deliveries/nosuch/redeliver': NOT_FOUND,
  'POST /v2/spend/stops/nosuch/undo': NOT_FOUND,
  'DELETE /admin/v1/join-tokens/nosuch': NOT_FOUND,
  'GET /admin/v1/users': { body: { users: [] } },
  'GET /admin/v1/hosts': problem(401, 'invalid bearer token'),
  'GET /v2/pods': problem(401, 'invalid bearer token'),
  'POST /v2/network-volumes': INVALID,
  'POST /v2/pods': NO_GPU,
}

/** Command line, exit code, and the whole output. */
const SAID: readonly (readonly [line: string[], code: number, said: string])[] = [
  [['keys', 'rotate', 'nosuch'], 4, 'error: resource not found: nosuch (request req_1)\n  podplane keys list shows the existing ones\n'],
  [
    ['webhooks', 'redeliver', 'nosuch'],
    4,
    'error: resource not found: nosuch (request req_1)\n  podplane webhooks list shows the existing ones\n',
  ],
  [['spend', 'undo', 'nosuch'], 4, 'error: resource not found: nosuch (request req_1)\n'],
  [
    ['join-tokens', 'revoke', 'nosuch'],
    4,
    'error: resource not found: nosuch (request req_1)\n  podplane join-tokens list shows the existing ones\n',
  ],
  [['users', 'quota', 'ada@example.com'], 4, 'error: no user has the address ada@example.com\n  podplane users list shows all users\n'],
  [
    ['hosts', 'list'],
    3,
    'error: invalid bearer token (request req_1)\n  PODPLANE_OPERATOR_KEY is not the key of an operator of this plane\n',
  ],
  [
    ['pods', 'list'],
    3,
    'error: invalid bearer token (request req_1)\n  the key is unknown to this plane, expired or revoked: podplane auth status shows the key in use, podplane auth login gets a new one\n',
  ],
  [
    ['volumes', 'create', 'data'],
    5,
    "error: Request validation failed: $: missing property 'size' (request req_1)\n  see podplane volumes create --help\n",
  ],
  [
    ['pods', 'create', '--image', 'i', '--gpu', 'x'],
    5,
    'error: invalid GPU type id "x": $.gpu.id: GET /v2/catalog/gpus lists all (request req_1)\n  podplane gpus list shows the valid values\n',
  ],
  [['endpoints', 'create', '--image', 'i', '--cpu', 'cpu3c'], 5, 'error: No machine has room: needs 8 free NVIDIA L4 (request req_1)\n'],
  [
    ['pods', 'create', '--image', 'i'],
    2,
    'error: a pod needs --gpu or --cpu\n  podplane gpus list and podplane cpus list show the types\n',
  ],
  [['pods', 'create', '--cpu', 'cpu3c'], 2, 'error: a pod needs --image or --template\n  podplane templates list shows your templates\n'],
  [['help', 'nosuch'], 2, "error: unknown command 'nosuch'\n  see podplane help --help\n"],
  [['help', 'pods', 'nosuch'], 2, "error: unknown command 'pods nosuch'\n  see podplane help --help\n"],
]

let toy: ToyPlane | undefined
afterEach(async () => {
  await toy?.close()
  toy = undefined
})

describe('messages for a new user', () => {
  it.each(SAID.map(([line, code, said]) => ({ name: line.join(' '), line, code, said })))(
    '[CMD-52] podplane $name',
    async ({ line, code, said }) => {
      toy = await ToyPlane.open(ROUTES)
      const ran = await podplane(line, { plane: toy, env: { PODPLANE_OPERATOR_KEY: 'ppo_key' } })
      expect(ran).toEqual({ code, stdout: '', stderr: said })
    },
  )

  it('[CMD-52] names the plane that does not answer', async () => {
    const closed = await ToyPlane.open({})
    const { url } = closed
    await closed.close()
    const { code, stderr } = await podplane(['pods', 'list'], { plane: { url } })
    expect(code).toBe(8)
    expect(stderr).toMatch(`error: ${url} does not answer: `)
    expect(stderr).toContain('\n  is the plane running? podplane doctor checks the connection\n')
  })

  it('[CMD-52] names the places where it searched for a plane', async () => {
    const { code, stderr } = await podplane(['pods', 'list'], { env: { PODPLANE_DATA: '/nowhere' } })
    expect(code).toBe(8)
    expect(stderr).toMatch('error: no plane is configured, and none runs on PODPLANE_DATA=/nowhere\n  start one with npm start')
  })
})
