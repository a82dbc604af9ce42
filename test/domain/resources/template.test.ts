import type { CreateTemplateRequest, UpdateTemplateRequest } from '../../../src/contract/resources/templates.ts'
import type { TemplateConfig } from '../../../src/domain/resources/record.ts'
import { createTemplate, patchTemplate, withoutCredential } from '../../../src/domain/resources/template.ts'
import { describe, expect, it } from '../../support/unit.ts'

const IDS = { id: 't', teamId: 'team' }

function create(changes: Partial<CreateTemplateRequest> = {}): TemplateConfig {
  const result = createTemplate({ name: 'n', image: 'i', ...changes }, IDS)
  if (!result.ok) throw new Error(result.problem.detail)
  return result.template
}

function patch(template: TemplateConfig, body: UpdateTemplateRequest): TemplateConfig {
  const result = patchTemplate(template, body)
  if (!result.ok) throw new Error(result.problem.detail)
  return result.template
}

describe('create', () => {
  it('[TPL-2] fills the defaults', () => {
    expect(create()).toEqual({
      ...IDS,
      name: 'n',
      container: { image: 'i', args: '', diskGb: 10, env: {}, ports: [], registry: null },
      persistent: null,
      serverless: false,
      isPublic: false,
      category: 'NVIDIA',
      startSsh: true,
      startJupyter: true,
      allowedCudaVersions: [],
    })
  })

  it('[TPL-4] takes a registry as id or as an object; empty and null are none', () => {
    const registries = ['r', { id: 'r' }, '', { id: '' }, null]
    expect(registries.map((registry) => create({ registry }).container.registry)).toEqual(['r', 'r', null, null, null])
  })

  it('[CON-3] refuses two commands', () => {
    const result = createTemplate({ name: 'n', image: 'i', args: 'a', cmd: ['b'] }, IDS)
    expect(result).toMatchObject({ ok: false, problem: { key: 'badRequest' } })
  })
})

describe('update', () => {
  const FULL = create({
    env: { A: '1' },
    ports: ['22/tcp'],
    registry: 'r',
    mounts: { persistent: { size: 10, path: '/w' } },
    cmd: ['a'],
    entrypoint: ['b'],
    startSsh: false,
    public: true,
  })

  it('[STRICT-3] an empty object changes nothing', () => expect(patch(FULL, {})).toEqual(FULL))

  it('[STRICT-3][RES-7] empty values clear, mounts too', () => {
    const cleared = patch(FULL, { env: {}, ports: [], registry: null, mounts: {}, args: '' })
    expect(cleared).toEqual({
      ...FULL,
      container: { ...FULL.container, args: '', env: {}, ports: [], registry: null },
      persistent: null,
    })
  })

  it('[CON-4] clearing one part of the command keeps the other', () => {
    expect(patch(FULL, { cmd: [] }).container.args).toBe('{"entrypoint":["b"]}')
  })

  it('[REST-5] an empty image is refused', () => {
    expect(patchTemplate(FULL, { image: '' })).toEqual({ ok: false, problem: { key: 'badRequest', detail: 'image cannot be empty' } })
  })

  it('[TPL-3] other accounts see it without its credential, which stays stored', () => {
    expect(withoutCredential(FULL).container).toEqual({ ...FULL.container, registry: null })
    expect(FULL.container.registry).toBe('r')
  })
})
