import { globSync, readFileSync } from 'node:fs'
import type { z } from 'zod'
import { changed, unchanged } from '../support/changed-defaults.ts'
import { afterEach, describe, expect, it } from '../support/unit.ts'

// When this fails: a default is written twice. Its one place is src/contract/defaults.ts (docs/adding-things.md, "A default value").

/** The default that a request schema documents. */
function documented({ shape }: z.ZodObject, member: string): unknown {
  const field: unknown = shape[member]
  // Not `instanceof`: the schema comes from another instance of the module.
  return (field as z.ZodType).meta()?.default
}

afterEach(unchanged)

describe('[DOC-10] a changed default', () => {
  it('is in the documents', async () => {
    const { CreatePodRequest } = await changed(() => import('../../src/contract/pods/pods.ts'))
    expect(['cloud', 'onHostLoss', 'globalNetworking'].map((member) => documented(CreatePodRequest, member))).toEqual([
      'COMMUNITY',
      'REPLACE',
      true,
    ])
    const { CreateTemplateRequest } = await changed(() => import('../../src/contract/resources/templates.ts'))
    expect(documented(CreateTemplateRequest, 'startJupyter')).toBe(false)
    const { CreateJoinTokenRequest } = await changed(() => import('../../src/contract/hosts/hosts.ts'))
    expect(documented(CreateJoinTokenRequest, 'cloud')).toBe('COMMUNITY')
  })
})

describe('[DOC-10] a default', () => {
  it('is no literal in the contract or in the help of the command line', () => {
    const own = new Set(['src/contract/defaults.ts', 'src/contract/query-values.ts'])
    const written = globSync(['src/contract/**/*.ts', 'src/cli/commands/**/*.ts'])
      .filter((file) => !own.has(file))
      .flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/\bdefault: (?:'\w+'|\d\w*|true|false|\w+\))/g)].map(([text]) => `${file}: ${text}`),
      )
    expect(written).toEqual([])
  })
})
