import { describe, expect, it } from 'vitest'
import { EventGap, takesComments } from '../../../src/domain/ingress/event-gap.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const silentAfter = (...parts: string[]) => {
  const gap = new EventGap()
  for (const part of parts) gap.take(bytes(part))
  return [gap.isSilent(), gap.isSilent()]
}

describe('a comment between events', () => {
  it('[S16] [SHR-32] is sent before the first event and after a whole one, when nothing came for a time', () => {
    expect(new EventGap().isSilent()).toBe(true)
    expect(['data: 1\n\n', 'data: 1\r\n\r\n', 'data: 1\r\r', ': x\n\n'].map((text) => silentAfter(text))).toEqual(
      Array.from({ length: 4 }, () => [false, true]),
    )
    expect(silentAfter('data: 1\n', '\n')).toEqual([false, true])
  })

  it('[SHR-32] never breaks an event or a line in two', () => {
    for (const text of ['data: 1', 'data: 1\n', 'data: 1\r\n', 'data: 1\r\n\r', 'data: 1\n\ndata']) {
      expect(silentAfter(text), JSON.stringify(text)).toEqual([false, false])
    }
  })

  it('[SHR-32] is sent only in plain event streams without an announced length', () => {
    const events = (...more: [string, string][]) => takesComments([['Content-Type', 'text/event-stream; charset=utf-8'], ...more])
    expect([events(), events(['content-encoding', 'identity'])]).toEqual([true, true])
    expect([events(['Content-Encoding', 'gzip']), events(['content-length', '9'])]).toEqual([false, false])
    expect([
      takesComments([['content-type', 'text/plain']]),
      takesComments([['content-type', 'text/event-streams']]),
      takesComments([]),
    ]).toEqual([false, false, false])
  })
})
