import { readFileSync } from 'node:fs'

/** A line of the kernel's list of mounts. */
export interface MountLine {
  point: string
  /** The directory of its file system that is mounted. */
  root: string
  options: readonly string[]
  type: string
  /** Options of the file system itself. */
  systemOptions: readonly string[]
}

/** Returns the mounts that this process sees. */
export function readMounts(): MountLine[] {
  return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'))
}

/** Parses `/proc/self/mountinfo`; unreadable lines are left out. */
export function parseMounts(text: string): MountLine[] {
  return text.split('\n').flatMap((line) => {
    const [mount = '', system = ''] = line.split(' - ')
    const [, , , root, point, options = ''] = mount.split(' ')
    const [type = '', , systemOptions = ''] = system.split(' ')
    if (root === undefined || point === undefined) return []
    return [{ point: decode(point), root: decode(root), options: options.split(','), type, systemOptions: systemOptions.split(',') }]
  })
}

/** The mount that a path lies on: the one with the longest mount point, and of several at one point the last. */
export function findMount(mounts: readonly MountLine[], path: string): MountLine | undefined {
  const around = mounts.filter(({ point }) => point === '/' || path === point || path.startsWith(`${point}/`))
  return around.reduce<MountLine | undefined>(
    (best, next) => (best === undefined || next.point.length >= best.point.length ? next : best),
    undefined,
  )
}

/** Decodes three octal digits after a backslash, in which the kernel writes white space. */
function decode(word: string): string {
  return word.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
