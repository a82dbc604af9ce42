/** Which store the statements of a file are for; those of other files are for the store that ran them. */
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

/** The store of a site, by its file; undefined of a file that several stores share. */
export function storeOfFile(site: string): string | undefined {
  return STORES.find(([file]) => file.test(site))?.[1]
}
