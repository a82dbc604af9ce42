/** Images with this prefix are programs of the agent itself (HOST-5). */
export const BUILTIN_PREFIX = 'builtin/'
/** The built-in programs of every agent of this version; the plane refuses other names before it sends a workload to a host. */
export const BUILTIN_NAMES = ['echo', 'idle', 'probe'] as const
export type BuiltinName = (typeof BUILTIN_NAMES)[number]
