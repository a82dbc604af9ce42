import { join } from 'node:path'
import { readTextFile } from '../../node/text-file.ts'

const ROOT = '/sys/fs/cgroup'
/** Maximum number of threads to read; in a larger container they are a sufficient sample. */
const THREADS_MAX = 256

/**
 * Time since its start in which the programs of a container were ready to run and did not run, nanoseconds: from the CPU pressure of its
 * control group, or, where the kernel has none (cgroup version 1), the sum over its live threads. Undefined where neither can be read.
 */
export function readCpuWaitNanos(pid: number, root = ROOT): number | undefined {
  const text = readTextFile(`/proc/${pid}/cgroup`)
  if (text === undefined) return undefined
  const groups = parseGroups(text)
  return pressureOf(root, groups) ?? waitingOf(root, groups)
}

/** Control group paths of a process by controller; that of version 2 has an empty name. */
export function parseGroups(text: string): Map<string, string> {
  const lines = text.split('\n').flatMap((line) => {
    const [, names, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    // The root group covers the whole machine, not one container.
    return names === undefined || path === undefined || path === '/' ? [] : names.split(',').map((name) => [name, path] as const)
  })
  return new Map(lines)
}

function pressureOf(root: string, groups: ReadonlyMap<string, string>): number | undefined {
  const path = groups.get('')
  const text = path === undefined ? undefined : readTextFile(join(root, path, 'cpu.pressure'))
  const micros = /^some .*\btotal=(\d+)/m.exec(text ?? '')?.[1]
  return micros === undefined ? undefined : Number(micros) * 1_000
}

function waitingOf(root: string, groups: ReadonlyMap<string, string>): number | undefined {
  const own = ['cpuacct', 'cpu', 'pids'].flatMap((name) => {
    const path = groups.get(name)
    return path === undefined ? [] : [join(root, name, path, 'tasks')]
  })
  const unified = groups.get('')
  const lists = [...own, ...(unified === undefined ? [] : [join(root, unified, 'cgroup.threads')])]
  const threads = lists
    .map(readTextFile)
    .find((text) => text !== undefined)
    ?.trim()
    .split('\n')
    .slice(0, THREADS_MAX)
  return threads?.reduce((sum, thread) => sum + Number(readTextFile(`/proc/${thread}/schedstat`)?.split(' ')[1] ?? 0), 0)
}
