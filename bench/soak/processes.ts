import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Reading } from './readings.ts'

/** Reads memory, open files, sockets and threads of a process; undefined if it has ended. */
export function readProcess(name: string, pid: number): Reading[] | undefined {
  let status: string
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return undefined
  }
  // A process that has ended, and whose end was not yet taken note of, has no memory.
  if (!status.includes('VmRSS')) return undefined
  const links = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => linkOf(`/proc/${pid}/fd/${fd}`))
  const sockets = links.filter((link) => link.startsWith('socket:')).length
  return [
    { group: 'memory', of: name, value: numberIn(status, 'VmRSS') * 1024 },
    { group: 'open files', of: name, value: links.length - sockets },
    { group: 'sockets', of: name, value: sockets },
    { group: 'threads', of: name, value: numberIn(status, 'Threads') },
  ]
}

function numberIn(status: string, field: string): number {
  const found = status.match(new RegExp(`^${field}:\\s*(\\d+)`, 'm'))
  if (!found) throw new Error(`/proc has no ${field}`)
  return Number(found[1])
}

/** The target of a descriptor; none if it was closed meanwhile. */
function linkOf(path: string): string[] {
  try {
    return [readlinkSync(path)]
  } catch {
    return []
  }
}
