import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { redact as redactForSupport } from '../../src/cli/tools/redact.ts'
import { KEY_KINDS } from '../../src/contract/key-kinds.ts'
import { formatApiKey, formatOperatorKey } from '../../src/domain/key-text.ts'
import { redact as redactOfAgent, redactOutput } from '../../src/host-agent/redact.ts'
import { newInvitationToken, newJoinToken } from '../../src/platform/ids.ts'
import { redact as redactOfPlane } from '../../src/platform/log.ts'
import { describe, expect, it } from '../support/unit.ts'

const BYTES = new Uint8Array(32).fill(200)
/** One of each kind, as it is made; those of workloads are a keyed digest. */
const DIGEST = `${'aB3-_'.repeat(8)}xyz`
const MADE: Record<keyof typeof KEY_KINDS, string> = {
  user: formatApiKey('abcdefghij', BYTES),
  worker: `${KEY_KINDS.worker}_${DIGEST}`,
  pod: `${KEY_KINDS.pod}_7h9k2m4n6p_${DIGEST}`,
  operator: formatOperatorKey(BYTES),
  joinToken: newJoinToken(),
  invitation: newInvitationToken(),
}
const REDACTIONS: Record<string, (text: string) => string> = {
  'log of the plane': redactOfPlane,
  'log of the agent': redactOfAgent,
  'output of a workload': (text) => redactOutput(text, []),
  'bundle for support': (text) => redactForSupport(text, []),
}

describe('kinds of keys', () => {
  it.for(Object.entries(REDACTIONS))('the %s shows no key', ([, redact]) => {
    for (const [kind, key] of Object.entries(MADE)) {
      const secret = key.slice(key.indexOf('_') + 1)
      expect(redact(`before ${key} after`), kind).not.toContain(secret.slice(-12))
      expect(redact(`before ${key} after`), kind).toMatch(/^before .*after$/)
    }
  })

  it('are in the table: no other prefix is written in the source', () => {
    const prefixes: string[] = Object.values(KEY_KINDS)
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
    const named = sources.flatMap((name) =>
      [...readFileSync(join('src', name), 'utf8').matchAll(/\b(pp[a-z]?)_(?=[$<{(\\])/g)].map(([, prefix]) => prefix),
    )
    expect(named.filter((prefix) => prefix !== undefined && !prefixes.includes(prefix))).toEqual([])
  })

  it('are removed by means of the table wherever text is redacted', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
    const redacting = files.filter((name) => /\[redacted/.test(readFileSync(join('src', name), 'utf8')))
    expect(redacting.length).toBeGreaterThan(2)
    expect(redacting.filter((name) => !/keyPattern\(/.test(readFileSync(join('src', name), 'utf8')))).toEqual([])
  })
})
