import { afterAll, beforeAll, describe, expect, IMAGE_REFUSAL, it, send } from '../../../support/harness.ts'
import { GPU, gpus } from '../../../support/hosts/gpus.ts'
import { cpuPodBody, PODS, type PodScene, podBody, podScene } from '../../../support/pods/pod-scene.ts'

const gpu = (members: object) => podBody({ gpu: { id: GPU, ...members } })
const cpu = (members: object) => cpuPodBody({ cpu: { id: 'cpu3c', vcpuCount: 2, ...members } })

/** [title, body, the one expected entry of `errors`] */
const UNPROCESSABLE: [string, unknown, string][] = [
  ['[POD-3] no name', podBody({ name: undefined }), "$: missing property 'name'"],
  ['[POD-3] an empty name', podBody({ name: '' }), '$.name: minLength: got 0, want 1'],
  ['[STRICT-1] an unknown member', podBody({ bogus: 1 }), "$: additional properties 'bogus' not allowed"],
  ['[STRICT-1] an unknown member of gpu', gpu({ x: 1 }), "$.gpu: additional properties 'x' not allowed"],
  ['[STRICT-1] granted totals of gpu', gpu({ memory: 64 }), "$.gpu: additional properties 'memory' not allowed"],
  ['[STRICT-1] an unknown member of cpu', cpu({ x: 1 }), "$.cpu: additional properties 'x' not allowed"],
  ['[POD-8] CUDA under cpu', cpu({ minCudaVersion: '12.1' }), "$.cpu: additional properties 'minCudaVersion' not allowed"],
  ['[STRICT-2] null as a name', podBody({ name: null }), '$.name: got null, want string'],
  ['[STRICT-2] null as mounts', podBody({ mounts: null }), '$.mounts: got null, want object'],
  ['[STRICT-2] null as a template', podBody({ templateId: null }), '$.templateId: got null, want string'],
  ['[POD-7] no GPU type', podBody({ gpu: {} }), "$.gpu: missing property 'id'"],
  ['[POD-7] count 0', gpu({ count: 0 }), '$.gpu.count: minimum: got 0, want 1'],
  ['[POD-7] half a GPU', gpu({ count: 1.5 }), '$.gpu.count: got number, want integer'],
  [
    '[POD-7] a CUDA floor without minor',
    gpu({ minCudaVersion: '12' }),
    '$.gpu.minCudaVersion: does not match pattern: want a version such as 12.8',
  ],
  [
    '[POD-7] a CUDA version with patch',
    gpu({ allowedCudaVersions: ['12.1.1'] }),
    '$.gpu.allowedCudaVersions[0]: does not match pattern: want a version such as 12.8',
  ],
  ['[POD-7] minRamPerGpu 0', gpu({ minRamPerGpu: 0 }), '$.gpu.minRamPerGpu: minimum: got 0, want 1'],
  ['[POD-7] minVcpuCountPerGpu 0', gpu({ minVcpuCountPerGpu: 0 }), '$.gpu.minVcpuCountPerGpu: minimum: got 0, want 1'],
  ['[POD-8] one vCPU', cpu({ vcpuCount: 1 }), '$.cpu.vcpuCount: minimum: got 1, want 2'],
  ['[POD-8] no size', cpuPodBody({ cpu: { id: 'cpu3c' } }), "$.cpu: missing property 'vcpuCount'"],
  ['[POD-3] another cloud', podBody({ cloud: 'ANY' }), "$.cloud: value must be one of 'SECURE', 'COMMUNITY'"],
  ['[POD-3] a text as startSsh', podBody({ startSsh: 'yes' }), '$.startSsh: got string, want boolean'],
  ['[POD-3] an empty template', podBody({ templateId: '' }), '$.templateId: minLength: got 0, want 1'],
  ['[POD-3] an empty data center', podBody({ dataCenterIds: [''] }), '$.dataCenterIds[0]: minLength: got 0, want 1'],
  [
    '[POD-46] 101 data centers',
    podBody({ dataCenterIds: Array.from({ length: 101 }, () => 'EU-RO-1') }),
    '$.dataCenterIds: maxItems: got 101, want 100',
  ],
  [
    '[POD-46] 65 CUDA versions',
    gpu({ allowedCudaVersions: Array.from({ length: 65 }, (_, n) => `12.${n}`) }),
    '$.gpu.allowedCudaVersions: maxItems: got 65, want 64',
  ],
  [
    '[POD-46] a CUDA version of 17 digits',
    gpu({ minCudaVersion: '1.234567890123456' }),
    '$.gpu.minCudaVersion: maxLength: got 17, want 16',
  ],
  ['[POD-48] another policy', podBody({ onHostLoss: 'MOVE' }), "$.onHostLoss: value must be one of 'WAIT', 'REPLACE'"],
  ['[CON-6] disk 0', podBody({ disk: 0 }), '$.disk: minimum: got 0, want 1'],
  ['[CON-6] a UDP port', podBody({ ports: ['53/udp'] }), '$.ports[0]: does not match pattern: want a port such as 8888/http or 22/tcp'],
  ['[CON-6] a bare port', podBody({ ports: ['22'] }), '$.ports[0]: does not match pattern: want a port such as 8888/http or 22/tcp'],
  ['[CON-6] a number in env', podBody({ env: { A: 1 } }), '$.env.A: got number, want string'],
  ['[GEN-6] NUL in an env value', podBody({ env: { A: 'a\u0000' } }), '$.env.A: does not match pattern: want text without NUL characters'],
  [
    '[GEN-6] an env name with =',
    podBody({ env: { 'A=B': 'c' } }),
    "$.env: property name 'A=B' does not match pattern: want letters, digits, _, . and -, with a letter or _ first",
  ],
  ['[GEN-6] NUL in a word of cmd', podBody({ cmd: ['a', '\u0000'] }), '$.cmd[1]: does not match pattern: want text without NUL characters'],
  [
    '[GEN-6] a control character in the name',
    podBody({ name: 'a\u001b[2J' }),
    '$.name: does not match pattern: want text without control characters and marks of direction',
  ],
  ['[GEN-6] [CON-20] a line break in the image', podBody({ image: 'a\nb' }), IMAGE_REFUSAL],
  ['[CON-20] an image with a scheme', podBody({ image: 'https://docker.io/library/nginx:latest' }), IMAGE_REFUSAL],
  [
    '[GEN-6] delete in the GPU type',
    gpu({ id: '\u007f' }),
    '$.gpu.id: does not match pattern: want text without control characters and marks of direction',
  ],
  [
    '[GEN-6] a control character in the registry',
    podBody({ registry: 'a\u0001' }),
    '$.registry: does not match pattern: want text without control characters and marks of direction',
  ],
  [
    '[GEN-6] a control character in a mount path',
    podBody({ mounts: { persistent: { size: 10, path: '/a\u0000b' } } }),
    '$.mounts.persistent.path: does not match pattern: want an absolute path such as /workspace',
  ],
  ['[CON-20] an image of 521 characters', podBody({ image: 'a'.repeat(521) }), '$.image: maxLength: got 521, want 520'],
  ['[CON-20] an image name of 256 characters', podBody({ image: 'a'.repeat(256) }), IMAGE_REFUSAL],
  [
    '[POD-46] a path of 4097 characters',
    podBody({ mounts: { persistent: { size: 10, path: `/${'a'.repeat(4096)}` } } }),
    '$.mounts.persistent.path: maxLength: got 4097, want 4096',
  ],
  ['[ERR-4] a body that is no object', [], '$: got array, want object'],
]

/** [title, body, detail] */
const REFUSED: [string, Record<string, unknown>, string][] = [
  ['[POD-4] neither gpu nor cpu', podBody({ gpu: undefined }), 'exactly one of gpu or cpu must be set'],
  ['[POD-4] both', podBody({ cpu: { id: 'cpu3c', vcpuCount: 2 } }), 'exactly one of gpu or cpu must be set'],
  ['[POD-5] no image', podBody({ image: undefined }), 'image is required unless templateId is set'],
  ['[POD-5] an empty image', podBody({ image: '' }), 'image is required unless templateId is set'],
  [
    '[POD-7] a set of CUDA versions with a floor',
    gpu({ allowedCudaVersions: ['12.1'], minCudaVersion: '12.0' }),
    'gpu.allowedCudaVersions and gpu.minCudaVersion exclude each other',
  ],
  ['[POD-9] an unknown GPU type', gpu({ id: 'NVIDIA L5' }), 'invalid GPU type id "NVIDIA L5"'],
  ['[POD-9] a GPU type named as a member of objects', gpu({ id: '__proto__' }), 'invalid GPU type id "__proto__"'],
  ['[POD-9] more GPUs than one pod has', gpu({ count: 9 }), `gpu.count 9 is above 8, the most of ${GPU} in one pod`],
  [
    '[POD-9] a type that is not sold in the cloud',
    podBody({ gpu: { id: 'NVIDIA H200' }, cloud: 'COMMUNITY' }),
    'gpu.id NVIDIA H200 is not sold in cloud COMMUNITY',
  ],
  ['[POD-9] an unknown flavor', cpu({ id: 'cpu9z' }), 'invalid CPU flavor id "cpu9z"'],
  ['[POD-8] three vCPUs', cpu({ vcpuCount: 3 }), 'vcpuCount 3 is not valid for cpu3c'],
  ['[POD-8] 64 vCPUs', cpu({ vcpuCount: 64 }), 'vcpuCount 64 is not valid for cpu3c'],
  ['[POD-8] another memory', cpu({ memory: 5 }), 'memory 5 is not valid for cpu3c: 2 vCPUs have 4 GB'],
  ['[POD-8] too much disk for two vCPUs', cpuPodBody({ disk: 21 }), 'disk 21 is above 20 GB, the most for 2 vCPUs'],
  ['[POD-9] CPU in the community cloud', cpuPodBody({ cloud: 'COMMUNITY' }), 'cpu.id cpu3c is not sold in cloud COMMUNITY'],
  ['[POD-9] an unknown data center', podBody({ dataCenterIds: ['EU-RO-1', 'XX-9'] }), 'dataCenterIds: data center XX-9 not found'],
  ['[POD-9] a data center of one letter', podBody({ dataCenterIds: ['x'] }), 'dataCenterIds: data center x not found'],
  [
    '[REST-32] a built-in image that is none',
    podBody({ image: 'builtin/nothing' }),
    'image builtin/nothing is no built-in image; there are builtin/echo, builtin/idle, builtin/probe',
  ],
  [
    '[REST-32] a built-in image with a mount',
    podBody({ image: 'builtin/idle', mounts: { persistent: { size: 10, path: '/a' } } }),
    'image builtin/idle takes no mounts: built-in images run outside any container',
  ],
  [
    '[CON-3] contradicting commands',
    podBody({ args: 'a b', cmd: ['c'] }),
    'args and cmd or entrypoint describe different commands; send one form',
  ],
  ['[CON-7] an unknown registry', podBody({ registry: 'noregistry' }), 'container registry auth noregistry not found'],
  ['[POD-45] port 0', podBody({ ports: ['22/tcp', '0/tcp'] }), 'ports[1]: 0/tcp is not a port of a container'],
  ['[POD-45] port 65536', podBody({ ports: ['65536/tcp'] }), 'ports[0]: 65536/tcp is not a port of a container'],
  ['[POD-45] 65 ports', podBody({ ports: Array.from({ length: 65 }, (_, i) => `${i + 1}/tcp`) }), 'ports has 65 items, the most is 64'],
  [
    '[MNT-5] a mount in place of everything',
    podBody({ mounts: { persistent: { size: 10, path: '//' } } }),
    'mounts.persistent: nothing can be mounted at //',
  ],
  [
    '[POD-48] REPLACE with a persistent mount',
    podBody({ onHostLoss: 'REPLACE', mounts: { persistent: { size: 10, path: '/a' } } }),
    'onHostLoss REPLACE and mounts.persistent exclude each other: a persistent mount cannot leave its host',
  ],
]

describe('bad create bodies', () => {
  let scene: PodScene
  beforeAll(async () => {
    scene = await podScene(gpus(16))
  })
  afterAll(() => scene.leave())

  it.each(UNPROCESSABLE)('%s: 422', async (_title, body, error) => {
    const reply = await scene.call.post(PODS, body)
    expect(reply).toMatchObject({ status: 422, body: { title: 'Unprocessable Entity', detail: 'Request validation failed.' } })
    expect(reply.body.errors).toEqual([error])
  })

  it.each(REFUSED)('%s: 400', async (_title, body, detail) => {
    expect(await scene.call.post(PODS, body)).toMatchObject({ status: 400, body: { title: 'Bad Request', status: 400, detail } })
  })

  it('[STRICT-1] __proto__ is an unknown member in every place', async () => {
    const post = async (text: string) => (await scene.call.post(PODS, text)).body.errors
    const body = (member: string) => `{"name":"p","image":"i","gpu":{"id":"${GPU}"},${member}}`
    expect(await post(body('"__proto__":{}'))).toEqual(["$: additional properties '__proto__' not allowed"])
    expect(await post(body('"env":{"__proto__":"x"}'))).toEqual(["$.env: additional properties '__proto__' not allowed"])
    expect(await post(body('"mounts":{"\\u005f_proto__":1}'))).toEqual(["$.mounts: additional properties '__proto__' not allowed"])
  })

  it('[RATE-6] an env of 100 kB is 413, decided before the key is checked', async () => {
    const reply = await scene.call.post(PODS, podBody({ env: { A: 'a'.repeat(102_400) } }))
    expect(reply).toMatchObject({ status: 413, body: { detail: 'request body exceeds 102400 bytes' } })
    const body = JSON.stringify(podBody({ env: { A: 'a'.repeat(102_400) } }))
    expect((await send(PODS, { method: 'POST', body })).status).toBe(413)
  })

  it('[GEN-6] env may hold tabs and line breaks; [CON-1] no text reaches a shell: arguments stay separate', async () => {
    const env = { KEY: '-----BEGIN\n\tx\r\n-----END', QUOTES: `'"$(rm -rf /)\``, EMPTY: '' }
    const pod = await scene.create({ env, args: `sh -c 'echo "$HOME; rm -rf /"'`, name: '"; DROP TABLE pods; --' })
    expect(pod).toMatchObject({ env, cmd: ['sh', '-c', 'echo "$HOME; rm -rf /"'], entrypoint: [], name: '"; DROP TABLE pods; --' })
    const workload = await scene.host.waitFor(({ id }) => id === `${pod.id}-1`)
    expect(workload).toMatchObject({ env, cmd: pod.cmd, entrypoint: [] })
  })

  it('[CON-1] [CON-2] [CON-5] commands are stored in one form and returned in both', async () => {
    const read = async (members: Record<string, unknown>) => {
      const { args, cmd, entrypoint } = await scene.create(members)
      return { args, cmd, entrypoint }
    }
    expect(await read({ args: 'a "b c"' })).toEqual({ args: 'a "b c"', cmd: ['a', 'b c'], entrypoint: [] })
    expect(await read({ cmd: ['a'] })).toEqual({ args: '{"cmd":["a"]}', cmd: ['a'], entrypoint: [] })
    expect(await read({ cmd: ['a'], entrypoint: ['e'] })).toEqual({
      args: '{"entrypoint":["e"],"cmd":["a"]}',
      cmd: ['a'],
      entrypoint: ['e'],
    })
    expect(await read({ args: '{"entrypoint":["e"]}', entrypoint: ['e'], cmd: [] })).toMatchObject({ args: '{"entrypoint":["e"]}' })
  }, 600_000)

  it('[ERR-6] the schema comes before existence, existence before everything else', async () => {
    expect((await scene.call.patch(`${PODS}/nosuchpod`, { name: '' })).status).toBe(422)
    expect((await scene.call.patch(`${PODS}/nosuchpod`, { image: '' })).status).toBe(404)
    expect((await scene.call.patch(`${PODS}/nosuchpod`, { templateId: 'x' }, { 'If-Match': '"9"' })).body.detail).toBe('pod not found')
  })
})
