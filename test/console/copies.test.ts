import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/client/operations/operations.ts'
import { copyAs } from '../../src/console/parts/copy/call-texts.ts'

const CONSOLE = join(import.meta.dirname, '../../src/console')
const sources = globSync('**/*.{ts,tsx}', { cwd: CONSOLE }).map((file) => readFileSync(join(CONSOLE, file), 'utf8'))

/** Operations by which the console changes something, as opposed to reads. */
const done = Object.entries(OPERATIONS).filter(
  ([name, { method }]) => method !== 'GET' && sources.some((text) => new RegExp(`\\b\\w+\\.${name}\\(`).test(text)),
)

/** Every call that a user may copy or plan: the literals of the paths, with `*` in place of each inserted value. */
const paths = sources
  .flatMap((text) => Array.from(text.matchAll(/(["'`])(\/(?:v2|admin)\/.*?)\1/g), ([, , path = '']) => path))
  .map((path) => path.replace(/\?.*$/, '').replace(/\$\{[^}]*\}/g, '*'))

/** Whether an address matches this template: a name in braces and a star each match one path segment. */
function fits(path: string, template: string): boolean {
  const parts = path.split('/')
  const named = template.split('/')
  return parts.length === named.length && named.every((name, at) => name.startsWith('{') || parts[at] === '*' || parts[at] === name)
}

describe('[UI-75] copy as', () => {
  it('has every operation by which the console changes something', () => {
    expect(done.length).toBeGreaterThan(40)
    expect(done.filter(([, { path }]) => !paths.some((known) => fits(known, path))).map(([name]) => name)).toEqual([])
  })

  it('writes several calls as one text, with one import for Python', () => {
    const call = (id: string) => ({ method: 'DELETE' as const, path: `/v2/pods/${id}`, command: `pods rm ${id}` })
    const [podplane, curl, python] = copyAs([call('a'), call('b')], 'https://plane.example.com').map(({ text }) => text)
    expect(podplane).toBe('podplane pods rm a\npodplane pods rm b')
    expect(curl?.match(/curl -sS -X DELETE/g)).toHaveLength(2)
    expect(python?.match(/^import/gm)).toHaveLength(1)
    expect(python?.match(/method="DELETE"/g)).toHaveLength(2)
  })
})
