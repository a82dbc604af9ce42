import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { UpdateSshKeysRequest } from '../../../src/contract/accounts/ssh-keys.ts'
import { CreateEndpointRequest } from '../../../src/contract/endpoints/endpoints.ts'
import { LINES_TEXT, PLAIN_TEXT } from '../../../src/contract/fields.ts'
import { isImageReference } from '../../../src/contract/image-reference.ts'
import { REGISTRY_HOST } from '../../../src/contract/registry-host.ts'
import { refuseWebhookUrl } from '../../../src/domain/webhook/url.ts'
import { describe, expect, it } from '../../support/unit.ts'

/** Reverses text, writes to a terminal, is a C1 control character, and is a character without a glyph. */
const UNSHOWN = ['\u202e', '\u001b', '\u0085', '\u200b', '\u2066', '\ufeff']
const NOWHERE = { hosts: new Set<string>(), ranges: [] }

/** Members of requests that may hold such text, by the end of their path, with the reason. */
const EXCEPTIONS: readonly { member: RegExp; why: string; refuses?: (text: string) => boolean }[] = [
  { member: /\.(args|cmd\[\]|entrypoint\[\]|env\{\})$/, why: 'what a program is started with is its data, byte for byte' },
  { member: /\.(value|password)$/, why: 'a secret is data, and never shown' },
  { member: /\.s3Config\.\w+$/, why: 'handed to the worker as it is, and never shown' },
  { member: /\.(expiresAt|stopAfter|terminateAfter|from|to)$/, why: 'read as a time', refuses: (text) => Number.isNaN(Date.parse(text)) },
  {
    member: /\.excludedTypes\[\]$/,
    why: 'the document has the pattern of the published structure, beside the plane’s own',
    refuses: (text) => !CreateEndpointRequest.shape.gpu.safeParse({ pools: ['ADA_24'], excludedTypes: [text] }).success,
  },
  {
    member: /\/ssh-keys\.keys\[\]$/,
    why: 'the document has the pattern of the published structure, beside the plane’s own',
    refuses: (text) => !UpdateSshKeysRequest.safeParse({ keys: [`ssh-rsa a ${text}`] }).success,
  },
  { member: /\.image$/, why: 'an image reference', refuses: (text) => !isImageReference(text) },
  { member: /POST \/v2\/registries\.host$/, why: 'the host of a registry', refuses: (text) => !REGISTRY_HOST.test(text) },
  { member: /\/run(sync)?\.webhook$/, why: 'a URL', refuses: (text) => refuseWebhookUrl(`https://a.example/${text}`, NOWHERE) !== null },
  { member: /\.(token|cursor|planId|key|link|device_code|userCode)$/, why: 'compared with what was handed out, and not stored' },
  { member: /\/requests\/(cancel|retry)\.ids\[\]$/, why: 'compared with ids of jobs, and not stored' },
  { member: /PATCH \S+\.templateId$/, why: 'refused whatever it is' },
]

interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  pattern?: string
  properties?: Record<string, Schema>
  propertyNames?: Schema
  items?: Schema
  additionalProperties?: Schema | boolean
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
}
type Operation = { requestBody?: { content: Record<string, { schema: Schema }> } }
type Document = { paths: Record<string, Record<string, Operation>> }

/** Every string that a request of a document may hold: its path, and the patterns that it must match. */
function textsOf(name: string): { member: string; patterns: string[] }[] {
  const document = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../docs', name), 'utf8')) as Document
  const found = new Map<string, string[]>()
  const walk = (given: Schema, path: string, above: readonly Schema[]) => {
    let schema = given
    while (schema.$ref !== undefined) {
      schema = schema.$ref
        .slice(2)
        .split('/')
        .reduce((part, key) => (part as Record<string, unknown>)[key], document as unknown) as Schema
    }
    if (above.includes(schema)) return
    const inside = [...above, schema]
    if ([schema.type].flat().includes('string') && schema.enum === undefined && schema.const === undefined) {
      found.set(
        path,
        [schema, ...(schema.allOf ?? [])].flatMap(({ pattern }) => pattern ?? []),
      )
    }
    for (const one of [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])])
      if (one.type !== undefined || one.$ref !== undefined || one.properties !== undefined) walk(one, path, inside)
    for (const [key, member] of Object.entries(schema.properties ?? {})) walk(member, `${path}.${key}`, inside)
    if (schema.items !== undefined) walk(schema.items, `${path}[]`, inside)
    if (schema.propertyNames !== undefined) walk({ type: 'string', ...schema.propertyNames }, `${path}{name}`, inside)
    if (typeof schema.additionalProperties === 'object') walk(schema.additionalProperties, `${path}{}`, inside)
  }
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      for (const { schema } of Object.values(requestBody?.content ?? {})) walk(schema, `${method.toUpperCase()} ${path}`, [])
    }
  }
  return [...found].map(([member, patterns]) => ({ member, patterns }))
}

const TEXTS = ['openapi-v2.json', 'openapi-admin-v1.json', 'openapi-console.json'].flatMap(textsOf)
const takes = (patterns: readonly string[], text: string) => patterns.every((pattern) => new RegExp(pattern, 'u').test(text))

describe('[S18] [EDG-20] texts of requests', () => {
  it('refuse characters that control terminals or reverse text, or are in the list with their reason', () => {
    expect(TEXTS.length).toBeGreaterThan(150)
    const open = TEXTS.filter(({ patterns }) =>
      // The third has the form of an SSH key with a comment.
      UNSHOWN.some((character) => [character, `a${character}b`, `ssh-rsa a ${character}`].some((text) => takes(patterns, text))),
    )
    expect(open.map(({ member }) => member).filter((member) => !EXCEPTIONS.some((one) => one.member.test(member)))).toEqual([])
  })

  it('have no reason for a missing member, and strings with a form are refused by that form', () => {
    for (const { member, why, refuses } of EXCEPTIONS) {
      expect([why, TEXTS.some((text) => member.test(text.member))]).toEqual([why, true])
      for (const character of UNSHOWN)
        if (refuses !== undefined) expect([why, character, refuses(`a${character}b`)]).toEqual([why, character, true])
    }
  })

  it('may be in any language, and multi-line ones may have tabs and line breaks', () => {
    for (const text of ['Модель', 'نموذج', '模型', '👩‍🚀 pod', ''])
      expect([PLAIN_TEXT.test(text), LINES_TEXT.test(text)]).toEqual([true, true])
    expect([PLAIN_TEXT.test('a\tb'), LINES_TEXT.test('# a\r\n\tb\n')]).toEqual([false, true])
    for (const character of UNSHOWN) expect([PLAIN_TEXT.test(character), LINES_TEXT.test(character)]).toEqual([false, false])
  })
})
