import { isBuiltin, refuseBuiltin } from '../../../src/domain/resources/builtin-image.ts'
import { BUILTIN_NAMES, BUILTIN_PREFIX } from '../../../src/host-protocol/builtin-images.ts'
import { describe, expect, it } from '../../support/unit.ts'

const KNOWN = BUILTIN_NAMES.map((name) => BUILTIN_PREFIX + name)

describe('[REST-32] a built-in image', () => {
  it.each(KNOWN)('%s runs, but without mounts', (image) => {
    expect(isBuiltin(image)).toBe(true)
    expect(refuseBuiltin(image, false)).toBeNull()
    expect(refuseBuiltin(image, true)?.detail).toBe(`image ${image} takes no mounts: built-in images run outside any container`)
  })

  it('is one of the existing ones', () => {
    expect(refuseBuiltin('builtin/none', false)?.detail).toBe(`image builtin/none is no built-in image; there are ${KNOWN.join(', ')}`)
  })

  it('is no image of a registry, which may have mounts', () => {
    expect(isBuiltin('docker.io/library/nginx')).toBe(false)
    expect(refuseBuiltin('docker.io/library/nginx', true)).toBeNull()
  })
})
