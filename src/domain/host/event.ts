/** What an endpoint is told about a machine on which it has workers. `sinceMs`: the last beat, on the plane's clock. */
export type HostEvent = { kind: 'silent' | 'offline'; sinceMs: number } | { kind: 'lost' | 'draining' }
