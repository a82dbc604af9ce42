/** The store to which the statements of a file belong; those of other files belong to the store that ran them. */
const STORES: readonly (readonly [RegExp, string])[] = [
  [/^src\/db\//, 'd1'],
  [/^\?/, 'd1'],
  [/^durable-objects\/endpoint\//, 'endpoint'],
  [/^durable-objects\/host[./]/, 'host'],
  [/^durable-objects\/pod-log\//, 'pod-log'],
  [/^durable-objects\/webhook\//, 'webhook-sender'],
  [/^durable-objects\/rate-limiter/, 'rate-limiter'],
  [/^durable-objects\/cluster\//, 'cluster'],
]

/** The store of a site, by its file; undefined for a file that several stores share. */
export function storeOfFile(site: string): string | undefined {
  return STORES.find(([file]) => file.test(site))?.[1]
}
