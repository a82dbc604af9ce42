/**
 * First path segments under `/v2` that belong to REST (CFG-2, GEN-5); anything else there is an endpoint id of the job API.
 * An endpoint id is never one of these, or its queue could not be reached.
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

/** Says whether `/v2/<word>` is REST's (CFG-2). */
export function isReservedWord(word: string): boolean {
  return RESERVED.has(word)
}
