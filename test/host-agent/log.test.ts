import { describe, test } from 'vitest'
import { createLog } from '../../src/host-agent/log.ts'
import { redact } from '../../src/host-agent/redact.ts'

describe('logs', () => {
  test('are JSON lines without credentials', ({ expect }) => {
    const lines: string[] = []
    const log = createLog('info', (line) => lines.push(line))
    log.debug('not this')
    log.info('sent Authorization: Bearer abc.def', { key: 'ppw_abcdefgh', jwt: 'eyJhbGciOiJFZERTQSJ9.eyJhIjoxfQ.c2ln' })
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'info', msg: 'sent Authorization: [redacted]', key: '[redacted]', jwt: '[redacted]' },
    ])
    expect(redact('pp_ shows pods')).toBe('pp_ shows pods')
  })
})
