export const BUILTIN_PREFIX = 'builtin/'
export const BUILTIN_NAMES = ['echo', 'idle', 'probe'] as const
export type BuiltinName = (typeof BUILTIN_NAMES)[number]
