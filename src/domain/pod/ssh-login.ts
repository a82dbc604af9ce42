const USER = /^([a-z0-9]{1,64})-([0-9a-f]{8})$/
const KEY = /^([^\s]+) ([A-Za-z0-9+/=]+)/

/** The name that a client of the SSH proxy says; null for none that any pod has (NET-2). */
export function parseSshUser(user: string): { podId: string; suffix: string } | null {
  const [, podId, suffix] = USER.exec(user) ?? []
  return podId === undefined || suffix === undefined ? null : { podId, suffix }
}

/** Type and content of a public key, without options in front of it and a comment behind; null for none (ACC-1). */
export function bareKey(line: string): string | null {
  const [, type, content] = KEY.exec(line.trim()) ?? []
  return type === undefined || content === undefined ? null : `${type} ${content}`
}
