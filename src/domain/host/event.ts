/**
 * What an endpoint is told about a machine on which it has workers. `sinceMs`: the last beat, on the plane's clock; `waitMaxMs`: the most that a
 * job waits for it.
 */
export type HostEvent = { kind: 'silent' | 'offline'; sinceMs: number; waitMaxMs: number } | { kind: 'heard' | 'lost' | 'draining' }
