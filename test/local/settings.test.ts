import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { describe, test } from 'vitest'
import { PROJECT_ROOT } from '../../src/local/paths.ts'
import { WORKER_VARS } from '../../src/local/settings.ts'

/** Settings that are secrets: `npm start` makes them, and a deployment uploads them, so they are no variables. */
const SECRETS = ['KEY_PEPPER', 'OPERATOR_KEY', 'SSH_PROXY_KEY', 'TOKEN_SECRET', 'TOKEN_SECRET_PREVIOUS']
/** A secret of another program, which `npm start` takes from its environment too. */
const FOREIGN_SECRETS = ['OIDC_CLIENT_SECRET']

const read = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8')

describe('settings', () => {
  const { vars } = parse(read('wrangler.toml')) as { vars: Record<string, string> }

  test('npm start takes every variable of wrangler.toml from its environment', ({ expect }) => {
    expect(WORKER_VARS.toSorted()).toEqual([...Object.keys(vars), ...FOREIGN_SECRETS].toSorted())
  })

  test('every setting that the Worker reads is a variable or a secret', ({ expect }) => {
    const names = [...read('src/env.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+)\??: string$/gm)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(20)
    expect(names.filter((name) => !Object.hasOwn(vars, name) && !SECRETS.includes(name))).toEqual([])
  })

  test('docs/deploy.md lists every variable', ({ expect }) => {
    const text = read('docs/deploy.md')
    expect(Object.keys(vars).filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  })
})
