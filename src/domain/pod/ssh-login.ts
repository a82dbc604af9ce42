const USER = /^([a-z0-9]{1,64})-([0-9a-f]{8})$/
const KEY = /^([^\s]+) ([A-Za-z0-9+/=]+)/

/** Parses the user name of an SSH proxy client; null when it is not of the form that pods have (NET-2). */
export function parseSshUser(user: string): { podId: string; suffix: string } | null {
  const [, podId, suffix] = USER.exec(user) ?? []
  return podId === undefined || suffix === undefined ? null : { podId, suffix }
}

/** Type and content of a public key, without leading options and trailing comment; null when the line holds no key (ACC-1). */
export function bareKey(line: string): string | null {
  const [, type, content] = KEY.exec(line.trim()) ?? []
  return type === undefined || content === undefined ? null : `${type} ${content}`
}
