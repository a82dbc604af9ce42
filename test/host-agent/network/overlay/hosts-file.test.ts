import { describe, expect, test } from 'vitest'
import { withNames } from '../../../../src/host-agent/network/overlay/hosts-file.ts'

const ENGINE = '127.0.0.1\tlocalhost\n172.18.0.2\tnode-0\n'
const MEMBERS = [
  { address: '10.64.1.2', names: ['node-0'] },
  { address: '10.64.1.3', names: ['node-1', 'p2.podplane.internal'] },
]
const BLOCK = '# podplane: private networks\n10.64.1.2\tnode-0\n10.64.1.3\tnode-1\tp2.podplane.internal\n# podplane: end\n'

describe('names of members in a container', () => {
  test('[NET-44] are the first lines, and the name of a member has no other address', () => {
    expect(withNames(ENGINE, MEMBERS)).toBe(`${BLOCK}127.0.0.1\tlocalhost\n`)
  })

  test('[NET-44] are replaced as a whole when the members change, and lines that the container has added stay', () => {
    const own = `${withNames(ENGINE, MEMBERS)}10.9.9.9\tmine\n`
    expect(withNames(own, MEMBERS)).toBe(own)
    expect(withNames(own, MEMBERS.slice(0, 1))).toBe(
      '# podplane: private networks\n10.64.1.2\tnode-0\n# podplane: end\n127.0.0.1\tlocalhost\n10.9.9.9\tmine\n',
    )
    expect(withNames(own, [])).toBe('127.0.0.1\tlocalhost\n10.9.9.9\tmine\n')
  })

  test('[NET-44] a block whose end marker was removed is written anew', () => {
    const broken = withNames(ENGINE, MEMBERS).replace('# podplane: end\n', '')
    expect(withNames(broken, MEMBERS).startsWith(BLOCK)).toBe(true)
  })
})
