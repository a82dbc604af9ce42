import type { PodMounts } from '../../../src/domain/pod/record.ts'
import { createMounts, mountsView, patchMounts, sameMountPaths } from '../../../src/domain/pod/request/mounts.ts'
import { describe, expect, it } from '../../support/unit.ts'

// Kinds, combinations and schema are covered cell by cell in test/worker/rest/pods/mount-matrix.test.ts.
const BOTH: PodMounts = { network: { volumeId: 'n', path: '/n' }, global: { volumeId: 'g', path: '/g' } }
const detail = (result: ReturnType<typeof createMounts>) => (result.ok ? 'ok' : result.problem.detail)

describe('paths of mounts', () => {
  it.each([
    ['/a', '/a'],
    ['/a', '/a/'],
    ['/a', '//a'],
    ['/a', '/./a'],
    ['/a', '/b/../a'],
    ['/a', '/../a'],
    ['/workspace-global', undefined],
  ])('[MNT-5] [MNT-10] %s and %s are one place', (network, global) => {
    const asked = { network: [{ volumeId: 'n', path: network }], global: [{ volumeId: 'g', ...(global && { path: global }) }] }
    expect(detail(createMounts(asked, false))).toMatch(/^mounts\.network and mounts\.global share the path/)
  })

  it.each([
    ['/a', '/ab'],
    ['/a', '/a/b'],
    ['/a', '/A'],
    ['/a', '/...'],
  ])('[MNT-5] %s and %s are two', (network, global) => {
    const asked = { network: [{ volumeId: 'n', path: network }], global: [{ volumeId: 'g', path: global }] }
    expect(detail(createMounts(asked, true))).toBe('ok')
  })

  it.each(['/', '//', '/.', '/a/..'])('[MNT-5] [MNT-10] nothing is mounted at %s', (path) => {
    expect(detail(createMounts({ persistent: { size: 10, path } }, false))).toBe(`mounts.persistent: nothing can be mounted at ${path}`)
  })

  it('[MNT-5] a PATCH may not move one mount onto another', () => {
    expect(detail(patchMounts(BOTH, { network: [{ volumeId: 'n', path: '/g/' }] }))).toMatch(/share the path/)
    expect(patchMounts(BOTH, { network: [{ volumeId: 'n', path: '/g' }], global: [{ volumeId: 'g', path: '/n' }] })).toMatchObject({
      ok: true,
    })
  })
})

describe('PATCH', () => {
  it('[MNT-4] keeps omitted mounts; a global mount without path keeps its own', () => {
    expect(patchMounts(BOTH, {})).toEqual({ ok: true, mounts: BOTH })
    expect(patchMounts(BOTH, { global: [{ volumeId: 'g' }] })).toEqual({ ok: true, mounts: BOTH })
  })

  it.each(['network', 'global'] as const)('[MNT-4] the volume of a %s mount stays the one it is', (kind) => {
    const asked = { [kind]: [{ volumeId: 'another', path: '/x' }] }
    expect(detail(patchMounts(BOTH, asked))).toBe(`mounts.${kind}[0].volumeId cannot change: volumes are fixed at create`)
  })

  it('[MNT-4] a persistent mount may stay or grow, not shrink', () => {
    const current = { persistent: { sizeGb: 20, path: '/a' } }
    expect(detail(patchMounts(current, { persistent: { size: 19, path: '/a' } }))).toBe(
      'mounts.persistent.size 19 is below 20: it can only grow',
    )
    expect(detail(patchMounts(current, { persistent: { size: 20, path: '/a' } }))).toBe('ok')
    expect(patchMounts(current, { persistent: { size: 21, path: '/b' } })).toEqual({
      ok: true,
      mounts: { persistent: { sizeGb: 21, path: '/b' } },
    })
  })

  it('[POD-13] another path needs a new container, another size does not', () => {
    const current = { persistent: { sizeGb: 20, path: '/a' } }
    expect(sameMountPaths(current, { persistent: { sizeGb: 21, path: '/a' } })).toBe(true)
    expect(sameMountPaths(current, { persistent: { sizeGb: 20, path: '/b' } })).toBe(false)
    expect(sameMountPaths(BOTH, { ...BOTH, global: { volumeId: 'g', path: '/x' } })).toBe(false)
  })

  it('[MNT-1] reads back the mounted kinds and no others', () => {
    expect(mountsView({})).toEqual({})
    expect(mountsView(BOTH)).toEqual({ network: [{ volumeId: 'n', path: '/n' }], global: [{ volumeId: 'g', path: '/g' }] })
  })
})
