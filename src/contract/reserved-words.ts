/**
 * First path segments under `/v2` that belong to REST (CFG-2, GEN-5); any other segment is an endpoint id of the job API. An endpoint id is
 * never one of these words, because its queue would be unreachable.
 */
export const RESERVED_WORDS = [
  'account',
  'billing',
  'catalog',
  'clusters',
  'events',
  'global-volumes',
  'network-volumes',
  'openapi.json',
  'organizations',
  'pods',
  'registries',
  'sandboxes',
  'serverless',
  'spend',
  'tags',
  'templates',
  'user',
  'webhooks',
] as const

const RESERVED: ReadonlySet<string> = new Set(RESERVED_WORDS)

/** Whether `/v2/<word>` belongs to REST (CFG-2). */
export function isReservedWord(word: string): boolean {
  return RESERVED.has(word)
}
