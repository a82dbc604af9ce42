import { describe, expect, it } from 'vitest'
import { quoted } from '../../src/client/shell.ts'
import { copyAs } from '../../src/console/parts/copy/call-texts.ts'
import { ago, bytes, count, duration, money, perHour } from '../../src/console/parts/format.ts'

describe('figures', () => {
  it('small amounts of money keep their significant digits', () => {
    expect([0, 0.0004, 0.34, 1, 1234.5].map(money)).toEqual(['$0.00', '$0.0004', '$0.34', '$1.00', '$1,234.50'])
    expect(perHour(0.0123)).toBe('$0.0123/h')
  })

  it('durations have at most two units', () => {
    const spans = [0, 999, 1_500, 5_000, 59_000, 60_000, 3_725_000, 86_400_000, 90_000_000]
    expect(spans.map(duration)).toEqual(['0 ms', '999 ms', '1.5 s', '5 s', '59 s', '1 min', '1 h 2 min', '1 d', '1 d 1 h'])
  })

  it('ages may be in the past or in the future', () => {
    const nowMs = Date.parse('2026-06-01T12:00:00Z')
    const times = ['2026-06-01T12:00:00Z', '2026-06-01T09:00:00Z', '2026-06-01T12:20:00Z', '2026-06-01T11:59:53.100Z']
    expect(times.map((at) => ago(at, nowMs))).toEqual(['now', '3 h ago', 'in 20 min', '6 s ago'])
  })

  it('bytes and counts', () => {
    expect([0, 999, 1_500, 250_000_000, 3e12].map(bytes)).toEqual(['0 B', '999 B', '1.5 KB', '250 MB', '3.0 TB'])
    expect([count(1, 'pod'), count(1_200, 'pod')]).toEqual(['1 pod', '1,200 pods'])
  })
})

describe('[UI-3] copy as', () => {
  it('quotes for a shell, and holds no key', () => {
    expect(quoted("it's")).toBe(`'it'\\''s'`)
    const texts = copyAs({ method: 'POST', path: '/v2/pods', body: { name: "it's" } }, 'https://plane.example.com')
    expect(texts).toEqual([
      { name: 'podplane', text: `podplane api POST '/v2/pods' --body '{"name":"it'\\''s"}'` },
      {
        name: 'curl',
        text: [
          `curl -sS -X POST 'https://plane.example.com/v2/pods' \\`,
          '  -H "Authorization: Bearer $PODPLANE_API_KEY" \\',
          "  -H 'Content-Type: application/json' \\",
          `  -d '{"name":"it'\\''s"}'`,
        ].join('\n'),
      },
      { name: 'Python', text: expect.stringContaining(String.raw`data=json.dumps(json.loads("{\"name\":\"it's\"}")).encode(),`) },
    ])
  })
})
