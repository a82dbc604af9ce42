import { api, createAccount, createEndpoint, describe, endpointBody, expect, IMAGE_REFUSAL, it } from '../../../support/harness.ts'

const gpu = (members: object) => ({ gpu: { pools: ['ADA_24'], ...members } })

/** [title, changes to a good create body, the one expected entry of `errors`] */
const UNPROCESSABLE: [string, Record<string, unknown>, string][] = [
  ['[ERR-4] a missing name', { name: undefined }, "$: missing property 'name'"],
  ['[STRICT-1] an unknown member', { bogus: 1 }, "$: additional properties 'bogus' not allowed"],
  ['[STRICT-1] an unknown member of gpu', gpu({ x: 1 }), "$.gpu: additional properties 'x' not allowed"],
  ['[STRICT-1] an unknown member of workers', { workers: { y: 1 } }, "$.workers: additional properties 'y' not allowed"],
  [
    '[STRICT-1] an unknown member of scaling',
    { scaling: { type: 'QUEUE_DELAY', queueDelay: 4, z: 1 } },
    "$.scaling: additional properties 'z' not allowed",
  ],
  ['[STRICT-2] null', { name: null }, '$.name: got null, want string'],
  ['[STRICT-2] null env', { env: null }, '$.env: got null, want object'],
  ['[CON-6] a number in env', { env: { A: 1 } }, '$.env.A: got number, want string'],
  ['[CON-6][ERR-22] a UDP port', { ports: ['53/udp'] }, '$.ports[0]: does not match pattern: want a port such as 8888/http or 22/tcp'],
  ['[CON-6] disk 0', { disk: 0 }, '$.disk: minimum: got 0, want 1'],
  ['[CON-6] half a disk', { disk: 1.5 }, '$.disk: got number, want integer'],
  ['[END-4] no pools', { gpu: {} }, "$.gpu: missing property 'pools'"],
  ['[END-4] empty pools', { gpu: { pools: [] } }, '$.gpu.pools: minItems: got 0, want 1'],
  [
    '[END-4] an exclusion with a hyphen',
    gpu({ excludedTypes: [' -NVIDIA L4'] }),
    '$.gpu.excludedTypes[0]: does not match pattern: want a GPU type without a leading hyphen',
  ],
  ['[END-4] an exclusion twice', gpu({ excludedTypes: ['a', 'a'] }), '$.gpu.excludedTypes: items must be unique'],
  ['[END-4] count 0', gpu({ count: 0 }), '$.gpu.count: minimum: got 0, want 1'],
  [
    '[END-4] a CUDA version without minor',
    gpu({ minCudaVersion: '12' }),
    '$.gpu.minCudaVersion: does not match pattern: want a version such as 12.8',
  ],
  [
    '[END-4] an empty CUDA floor on create',
    gpu({ minCudaVersion: '' }),
    '$.gpu.minCudaVersion: does not match pattern: want a version such as 12.8',
  ],
  [
    '[END-4] CUDA with cpu',
    { gpu: undefined, cpu: [{ id: 'cpu3c', vcpuCount: 2, minCudaVersion: '12.1' }] },
    "$.cpu[0]: additional properties 'minCudaVersion' not allowed",
  ],
  ['[END-4] no cpu', { gpu: undefined, cpu: [] }, '$.cpu: minItems: got 0, want 1'],
  ['[END-4] a cpu without size', { gpu: undefined, cpu: [{ id: 'cpu3c' }] }, "$.cpu[0]: missing property 'vcpuCount'"],
  [
    '[END-4] a cpu twice',
    {
      gpu: undefined,
      cpu: [
        { id: 'cpu3c', vcpuCount: 2 },
        { id: 'cpu3c', vcpuCount: 2 },
      ],
    },
    '$.cpu: items must be unique',
  ],
  [
    '[END-5] an unknown scaling type',
    { scaling: { type: 'OTHER' } },
    "$.scaling.type: value must be one of 'QUEUE_DELAY', 'REQUEST_COUNT'",
  ],
  ['[END-5] a scaling without type', { scaling: { queueDelay: 4 } }, "$.scaling: missing property 'type'"],
  ['[END-5] a short delay', { scaling: { type: 'QUEUE_DELAY', queueDelay: 0.4 } }, '$.scaling.queueDelay: minimum: got 0.4, want 0.5'],
  ['[END-5] requestCount 0', { scaling: { type: 'REQUEST_COUNT', requestCount: 0 } }, '$.scaling.requestCount: minimum: got 0, want 1'],
  ['[END-6] a negative bound', { workers: { min: -1 } }, '$.workers.min: minimum: got -1, want 0'],
  ['[END-6] more than 1000 workers', { workers: { max: 1001 } }, '$.workers.max: maximum: got 1001, want 1000'],
  ['[END-6] idleTimeout 0', { workers: { idleTimeout: 0 } }, '$.workers.idleTimeout: minimum: got 0, want 1'],
  ['[END-6] idleTimeout above an hour', { workers: { idleTimeout: 3601 } }, '$.workers.idleTimeout: maximum: got 3601, want 3600'],
  ['[END-7] another flashboot', { flashboot: 'ON' }, "$.flashboot: value must be one of 'OFF', 'FLASHBOOT', 'PRIORITY_FLASHBOOT'"],
  ['[END-7] another type', { type: 'STREAM' }, "$.type: value must be one of 'QUEUE', 'LOAD_BALANCER'"],
  ['[TMO-2][REST-3] a short timeout', { timeout: 4999 }, '$.timeout: minimum: got 4999, want 5000'],
  [
    '[GEN-6] a control character in the name',
    { name: 'a\u0007' },
    '$.name: does not match pattern: want text without control characters and marks of direction',
  ],
  ['[GEN-6] [CON-20] a line break in the image', { image: 'a\nb' }, IMAGE_REFUSAL],
  ['[CON-20] an image with a scheme', { image: 'https://docker.io/library/nginx:latest' }, IMAGE_REFUSAL],
  [
    '[GEN-6] delete in a volume id',
    { networkVolumes: ['\u007f'] },
    '$.networkVolumes[0]: does not match pattern: want text without control characters and marks of direction',
  ],
  ['[GEN-6][REST-1] NUL in an env value', { env: { A: 'a\u0000' } }, '$.env.A: does not match pattern: want text without NUL characters'],
  [
    '[GEN-6] an env name with a digit first',
    { env: { '1A': 'a' } },
    "$.env: property name '1A' does not match pattern: want letters, digits, _, . and -, with a letter or _ first",
  ],
  ['an empty name', { name: '' }, '$.name: minLength: got 0, want 1'],
  ['an empty data center', { dataCenterIds: [''] }, '$.dataCenterIds[0]: minLength: got 0, want 1'],
  ['[END-31] another cloud', { cloud: 'ANY' }, "$.cloud: value must be one of 'SECURE', 'COMMUNITY', 'ALL'"],
]

describe('422', () => {
  it.each(UNPROCESSABLE)('%s', async (_title, changes, error) => {
    const { key } = await createAccount()
    const reply = await api(key).post('/v2/serverless', endpointBody(changes))
    expect(reply.body).toEqual({ title: 'Unprocessable Entity', status: 422, detail: 'Request validation failed.', errors: [error] })
    expect(reply.status).toBe(422)
    expect(reply.headers.get('content-type')).toBe('application/problem+json')
  })

  it('[ERR-4] a body that is no object', async () => {
    const { key } = await createAccount()
    for (const [body, found] of [
      ['"x"', 'string'],
      ['[]', 'array'],
      ['null', 'null'],
      ['1', 'number'],
    ] as const) {
      expect((await api(key).post('/v2/serverless', body)).body.errors).toEqual([`$: got ${found}, want object`])
    }
  })

  it('[ERR-4] every failure is listed', async () => {
    const { key } = await createAccount()
    const reply = await api(key).post('/v2/serverless', { name: '', gpu: { x: 1 }, disk: 0 })
    expect(reply.body.errors.sort()).toEqual([
      '$.disk: minimum: got 0, want 1',
      "$.gpu: additional properties 'x' not allowed",
      "$.gpu: missing property 'pools'",
      '$.name: minLength: got 0, want 1',
    ])
  })

  it('[STRICT-1][REST-1] __proto__ is refused wherever it stands', async () => {
    const { key } = await createAccount()
    const good = JSON.stringify(endpointBody())
    for (const [member, location] of [
      ['"__proto__":{}', '$'],
      ['"env":{"__proto__":"x"}', '$.env'],
      ['"env":{"\\u005f_proto__":"x"}', '$.env'],
    ]) {
      const reply = await api(key).post('/v2/serverless', `{${member},${good.slice(1)}`)
      expect(reply.body.errors).toEqual([`${location}: additional properties '__proto__' not allowed`])
    }
  })

  it('[ERR-4, PAG-2] a number of the query is named by its value, not by its length', async () => {
    const { key } = await createAccount()
    for (const [limit, error] of [
      ['0', 'minimum: got 0, want 1'],
      ['-5', 'minimum: got -5, want 1'],
      ['1001', 'maximum: got 1001, want 1000'],
      ['x', 'got string, want number'],
      ['', 'got string, want number'],
      ['%20', 'got string, want number'],
      ['0x10', 'got string, want number'],
      ['1e2', 'got string, want number'],
      ['1.5', 'got string, want number'],
    ]) {
      expect((await api(key).get(`/v2/serverless?limit=${limit}`)).body.errors).toEqual([`$.limit: ${error}`])
    }
  })

  it('[END-11] a PATCH is checked like a create', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key)
    for (const [body, error] of [
      [{ bogus: 1 }, "$: additional properties 'bogus' not allowed"],
      [{ gpu: { minCudaVersion: '12' } }, '$.gpu.minCudaVersion: does not match pattern: want a version such as 12.8, or nothing'],
      [{ name: '' }, '$.name: minLength: got 0, want 1'],
      [{ workers: null }, '$.workers: got null, want object'],
    ] as const) {
      expect(await api(key).patch(`/v2/serverless/${id}`, body)).toMatchObject({ status: 422, body: { errors: [error] } })
    }
    expect((await api(key).patch(`/v2/serverless/${id}`, { gpu: { minCudaVersion: '' } })).status).toBe(200)
  })
})

describe('400', () => {
  it.each([
    ['{', 'line 1, column 2: unexpected end'],
    ['{"name":}', 'line 1, column 9: unexpected "}"'],
    ['{\n  "name": "a",\n}', 'line 3, column 1: unexpected "}"'],
  ])('[ERR-2] [ERR-20] %j has the place where it stops being JSON', async (body, place) => {
    const { key } = await createAccount()
    expect(await api(key).post('/v2/serverless', body)).toMatchObject({
      status: 400,
      body: { title: 'Bad Request', status: 400, detail: `the request body is not valid JSON: ${place}` },
    })
  })

  it('[REST-10] a body that is missing or empty', async () => {
    const { key } = await createAccount()
    const id = await createEndpoint(key)
    const problem = { title: 'Bad Request', status: 400, detail: 'the request has no body: send a JSON object' }
    for (const [method, path] of [
      ['post', '/v2/serverless'],
      ['patch', `/v2/serverless/${id}`],
      ['put', '/v2/account/ssh-keys'],
    ] as const) {
      expect((await api(key)[method](path)).body, method).toEqual(problem)
      expect((await api(key)[method](path, '')).body, method).toEqual(problem)
    }
  })

  it('[ERR-3][END-6][REST-3] min above max fits the schema and is 400', async () => {
    const { key } = await createAccount()
    expect(await api(key).post('/v2/serverless', endpointBody({ workers: { min: 2, max: 1 } }))).toMatchObject({
      status: 400,
      body: { detail: 'workers.min 2 is above workers.max 1' },
    })
  })

  it.each(['x', 'a b', 'XX-9', '__proto__'])('[POD-9] [REST-32] data center %j, which is unknown', async (id) => {
    const { key } = await createAccount()
    const refused = { status: 400, body: { detail: `dataCenterIds: data center ${id} not found` } }
    expect(await api(key).post('/v2/serverless', endpointBody({ dataCenterIds: ['EU-RO-1', id] }))).toMatchObject(refused)
    const endpoint = await createEndpoint(key, { dataCenterIds: ['EU-RO-1'] })
    expect(await api(key).patch(`/v2/serverless/${endpoint}`, { dataCenterIds: [id], name: 'new' })).toMatchObject(refused)
    expect((await api(key).get(`/v2/serverless/${endpoint}`)).body).toMatchObject({ name: 'echo', dataCenterIds: ['EU-RO-1'] })
  })

  it('[END-8] a template is 404', async () => {
    const { key } = await createAccount()
    expect(await api(key).post('/v2/serverless', endpointBody({ templateId: 'abc' }))).toMatchObject({
      status: 404,
      body: { detail: 'template not found' },
    })
  })
})

describe('CON-1', () => {
  it('[CON-2] cmd and entrypoint are stored as compact JSON', async () => {
    const { key } = await createAccount()
    const reply = await api(key).post('/v2/serverless', endpointBody({ cmd: ['b'], entrypoint: ['a'] }))
    expect(reply.body).toMatchObject({ args: '{"entrypoint":["a"],"cmd":["b"]}', cmd: ['b'], entrypoint: ['a'] })
  })
})
