/** Images of this name are programs of the agent itself (HOST-5). */
export const BUILTIN_PREFIX = 'builtin/'
/** What every agent of this version has; the plane refuses others before a host is asked. */
export const BUILTIN_NAMES = ['echo', 'idle', 'probe'] as const
export type BuiltinName = (typeof BUILTIN_NAMES)[number]
