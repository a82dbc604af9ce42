import { describe, expect, it } from 'vitest'
import { bounded, changedMembers, hiddenVariables, MAX_STATE_BYTES } from '../../../src/domain/audit/change.ts'

const digest = (name: string, text: string) => `digest of ${name}, ${text.length}`
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length

describe('the contents of a row of the audit log', () => {
  it('[AUD-3] are the name and a digest of a variable', () => {
    const hidden = hiddenVariables({ TOKEN: 'hunter2', EMPTY: '' }, (name, value) => `${name}:${value.length}`)
    expect(hidden).toEqual({ 'env.TOKEN': 'TOKEN:7', 'env.EMPTY': 'EMPTY:0' })
  })

  it('[AUD-4] are the members that an update changed', () => {
    const before = { name: 'a', mounts: { path: '/x', size: 1 }, ports: ['80/http'], 'env.OLD': 'd1', 'env.SAME': 'd2' }
    const after = { name: 'b', mounts: { size: 1, path: '/x' }, ports: ['80/http'], 'env.NEW': 'd3', 'env.SAME': 'd2' }
    expect(changedMembers(before, after)).toEqual({
      before: { name: 'a', 'env.OLD': 'd1' },
      after: { name: 'b', 'env.NEW': 'd3' },
    })
  })

  it('[AUD-4] are a whole state that fits, to the byte', () => {
    const fits = { args: 'x'.repeat(MAX_STATE_BYTES - bytesOf({ args: '' })) }
    expect(bytesOf(fits)).toBe(MAX_STATE_BYTES)
    expect(bounded(fits, digest)).toBe(fits)
    expect(bounded(null, digest)).toBeNull()
    const tooLarge = { args: `${fits.args}x` }
    const bytes = bytesOf(tooLarge.args)
    expect(bounded(tooLarge, digest)).toEqual({ args: { bytes, digest: digest('args', JSON.stringify(tooLarge.args)) } })
  })

  it('[AUD-4] are a larger state without its largest members, as few as necessary', () => {
    const args = 'x'.repeat(MAX_STATE_BYTES)
    const image = 'y'.repeat(1_000)
    expect(bounded({ name: 'pod', image, args }, digest)).toEqual({
      name: 'pod',
      image,
      args: { bytes: bytesOf(args), digest: digest('args', JSON.stringify(args)) },
    })
  })

  it('[AUD-4] are the count of variables when more than fit', () => {
    const variables = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`env.V${n}`, 'hmac-sha256:0123456789abcdef']))
    const cut = bounded({ name: 'pod', ...variables }, digest)
    expect(cut).toEqual({
      name: 'pod',
      env: { variables: 2_000, bytes: bytesOf(variables), digest: digest('env', JSON.stringify(variables)) },
    })
    expect(bytesOf(cut)).toBeLessThan(MAX_STATE_BYTES)
  })
})
