import { LongNote } from '../../../durable-objects/host/long-note.ts'
import { describe, env, expect, it, runInDurableObject } from '../../support/harness.ts'
import { FakeHost } from '../../support/hosts/fake-host.ts'
import { hostStub } from '../../support/runner/stubs.ts'

const KEY = 'a test'

describe('[NET-62] the private networks in the message to a host', () => {
  it('may have more members than one row of its object holds; a shorter list leaves nothing of a longer one', async () => {
    const host = await FakeHost.join()
    const seen = await runInDurableObject(hostStub(env, host.id), (object, state) => {
      const { store } = object as unknown as { store: ConstructorParameters<typeof LongNote>[0] }
      const note = new LongNote(store, KEY)
      const rows = () => state.storage.sql.exec('SELECT key FROM meta WHERE key LIKE ?', `${KEY}%`).toArray().length
      const found: [boolean, number][] = []
      for (const chars of [0, 1, 5_000_001, 500_000, 1_000_000, 0]) {
        const text = 'x'.repeat(chars)
        note.write(text)
        found.push([note.read() === (chars === 0 ? null : text), rows()])
      }
      return found
    })
    host.leave()
    expect(seen).toEqual([0, 1, 11, 1, 2, 0].map((rows) => [true, rows]))
  })
})
