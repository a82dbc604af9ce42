/**
 * An event of a host, sent to the endpoints that have workers on it. `sinceMs`: the last heartbeat, on the plane's clock; `waitMaxMs`: the
 * longest time that a job waits for the host.
 */
export type HostEvent = { kind: 'silent' | 'offline'; sinceMs: number; waitMaxMs: number } | { kind: 'heard' | 'lost' | 'draining' }
