import { changeSentence } from '../../../src/domain/audit/sentence.ts'
import { describe, expect, it } from '../../support/unit.ts'

const pod = { kind: 'pod', id: 'p1' }
const said = (action: string, resource = pod, before = {}, after = {}) => changeSentence({ actor: 'KEY', action, resource, before, after })

describe('changeSentence', () => {
  it('[AUD-22] is a sentence for every kind of action', () => {
    expect(said('pods.create')).toBe('An API key created pod p1')
    expect(said('pods.stop')).toBe('An API key stopped pod p1')
    expect(said('quotas.set', { kind: 'quota', id: 'gpus' })).toBe('An API key set quota gpus')
    expect(said('pods.ssh')).toBe('An API key opened an SSH connection to pod p1')
    expect(said('members.change-role', { kind: 'member', id: 'u' })).toBe('An API key changed the role of member u')
    expect(said('things.tidy-up', { kind: 'network-volume', id: 'v' })).toBe('An API key tidied up network volume v')
    expect(changeSentence({ actor: 'PLATFORM', action: 'pods.host-lost', resource: pod, before: null, after: null })).toBe(
      'The platform found the host of pod p1 lost',
    )
  })

  it('[AUD-22] names what an update changed, and no value of it', () => {
    expect(said('pods.update', pod, { env: 1 }, { env: 2, name: 'x' })).toBe('An API key updated pod p1: env, name')
    const many = Object.fromEntries([...'abcdefg'].map((name) => [name, 1]))
    expect(said('pods.update', pod, {}, many)).toBe('An API key updated pod p1: a, b, c, d, e and 2 more')
  })
})
