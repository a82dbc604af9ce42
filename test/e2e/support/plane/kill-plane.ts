import { execFileSync } from 'node:child_process'
import type { TestPlane } from './plane.ts'

/** Kills the launcher and its runtimes at once. Resolves when the launcher has ended. */
export async function killPlane(plane: TestPlane): Promise<void> {
  const runtimes = runtimesOf(plane)
  const ended = plane.kill('SIGKILL')
  for (const pid of runtimes) process.kill(pid, 'SIGKILL')
  await ended
}

/** Process ids of a plane's runtimes; throws when there is none. */
export function runtimesOf(plane: Pick<TestPlane, 'pid'>): number[] {
  const runtimes = childrenOf(plane.pid, 'workerd')
  if (runtimes.length === 0) throw new Error('the plane runs no workerd')
  return runtimes
}

/** Process ids of the children of a process that run this program. */
function childrenOf(parent: number, program: string): number[] {
  const lines = execFileSync('ps', ['-o', 'pid=,comm=', '--ppid', String(parent)], { encoding: 'utf8' })
    .trim()
    .split('\n')
  return lines.map((line) => line.trim().split(/\s+/)).flatMap(([pid, name]) => (name === program ? [Number(pid)] : []))
}
