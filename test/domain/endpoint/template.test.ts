import type { CreateEndpointRequest } from '../../../src/contract/endpoints/endpoints.ts'
import { SEED_CATALOG } from '../../../src/domain/catalog/seed.ts'
import { createEndpointConfig } from '../../../src/domain/endpoint/config.ts'
import { fillCreate, fillUpdate } from '../../../src/domain/endpoint/template.ts'
import type { TemplateConfig } from '../../../src/domain/resources/record.ts'
import { createTemplate } from '../../../src/domain/resources/template.ts'
import { describe, expect, it } from '../../support/unit.ts'

const RESULT = createTemplate(
  {
    name: 'from template',
    image: 'i',
    entrypoint: ['e'],
    cmd: ['c'],
    disk: 33,
    env: { A: '1', B: '1' },
    ports: ['22/tcp'],
    registry: 'r',
    mounts: { persistent: { size: 10, path: '/w' } },
    serverless: true,
    allowedCudaVersions: ['12.8'],
  },
  { id: 't', teamId: 'team' },
)
if (!RESULT.ok) throw new Error('no template')
const TEMPLATE: TemplateConfig = RESULT.template
const GPU = { pools: ['ADA_24'] }

function created(body: CreateEndpointRequest) {
  const result = createEndpointConfig(SEED_CATALOG, fillCreate({ templateId: 't', ...body }, TEMPLATE), { id: 'e', teamId: 'team' }, 0)
  return result.ok ? result.config : result.problem.detail
}

describe('create', () => {
  it('[END-2][END-8] takes members that the body leaves out from the template, and remembers the template', () => {
    expect(created({ gpu: GPU })).toMatchObject({
      name: 'from template',
      templateId: 't',
      container: {
        image: 'i',
        args: '{"entrypoint":["e"],"cmd":["c"]}',
        diskGb: 33,
        env: { A: '1', B: '1' },
        ports: ['22/tcp'],
        registry: 'r',
      },
    })
  })

  it('[END-8] the body wins, env key by key', () => {
    const body = { name: 'n', image: 'j', disk: 5, env: { B: '2', C: '2' }, ports: [], registry: null, args: 'x', gpu: GPU }
    expect(created(body)).toMatchObject({
      name: 'n',
      container: { image: 'j', args: 'x', diskGb: 5, env: { A: '1', B: '2', C: '2' }, ports: [], registry: null },
    })
  })

  it('[END-8][CON-4] one part of the command replaces its own part', () => {
    expect(created({ gpu: GPU, cmd: [] })).toMatchObject({ container: { args: '{"entrypoint":["e"]}' } })
  })

  it('[CON-3] two commands are refused', () => {
    expect(created({ gpu: GPU, args: 'a', cmd: ['b'] })).toMatch(/describe different commands/)
  })

  it('[END-8] the CUDA set seeds a GPU create that names no CUDA member', () => {
    expect(created({ gpu: GPU })).toMatchObject({ compute: { allowedCudaVersions: ['12.8'] } })
    expect(created({ gpu: { ...GPU, allowedCudaVersions: [] } })).toMatchObject({ compute: { allowedCudaVersions: [] } })
    expect(created({ gpu: { ...GPU, minCudaVersion: '12.1' } })).toMatchObject({
      compute: { allowedCudaVersions: [], minCudaVersion: '12.1' },
    })
    expect(fillCreate({ cpu: [{ id: 'cpu3c', vcpuCount: 4 }] }, TEMPLATE)).not.toHaveProperty('gpu')
  })
})

describe('update', () => {
  it('[END-11][POD-13] container fields alone; the merged env is the whole env', () => {
    expect(fillUpdate({ templateId: 't', env: { B: '2' }, workers: { max: 1 } }, TEMPLATE)).toEqual({
      templateId: 't',
      args: '{"entrypoint":["e"],"cmd":["c"]}',
      cmd: undefined,
      entrypoint: undefined,
      image: 'i',
      disk: 33,
      env: { A: '1', B: '2' },
      ports: ['22/tcp'],
      registry: 'r',
      workers: { max: 1 },
    })
  })
})
