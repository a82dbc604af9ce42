import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { lockFile } from '../../node/exclusive-file.ts'
import { errorText, hasCode, OperatorError } from '../../node/fail.ts'
import { parseJson } from '../../node/json-file.ts'
import { identifyProcess, isAlive } from '../../node/process-identity.ts'

const Owner = z.object({ pid: z.number().int(), startTime: z.string() })

/**
 * Locks the state directory for this process and returns the function that unlocks it. Throws an `OperatorError` that names the agent that
 * holds the lock: two agents on one directory would act as the same host and stop each other's workloads. The lock of a dead process is
 * taken over. A kernel lock also works between containers, where the pid of the owner is meaningless (HOST-180).
 */
export function lockStateDir(stateDir: string): () => void {
  const path = join(stateDir, 'agent.lock')
  const own = JSON.stringify(identifyProcess(process.pid) ?? { pid: process.pid, startTime: 'unknown' })
  const held = lockAcrossContainers(stateDir)
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      writeFileSync(path, own, { flag: 'wx', mode: 0o600 })
      return () => {
        unlinkSync(path)
        held.release()
      }
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw new OperatorError(`--state-dir ${stateDir} cannot be used: ${errorText(error)}`)
      refuseLiveOwner(path, stateDir)
      unlinkSync(path)
    }
  }
  throw new OperatorError(`--state-dir ${stateDir} was just locked by another agent; start this agent again`)
}

function lockAcrossContainers(stateDir: string): { release(): void } {
  // First, because this error names the process of an owner that is visible here.
  const path = join(stateDir, 'agent.lock')
  if (existsSync(path)) refuseLiveOwner(path, stateDir)
  const held = takeLock(join(stateDir, 'agent-owner.lock'), stateDir)
  if (held !== undefined) return held
  throw inUse(stateDir, 'its process belongs to another container')
}

function takeLock(path: string, stateDir: string): { release(): void } | undefined {
  try {
    return lockFile(path)
  } catch (error) {
    throw new OperatorError(`--state-dir ${stateDir} cannot be used: ${errorText(error)}`)
  }
}

function inUse(stateDir: string, by: string): OperatorError {
  return new OperatorError(
    `--state-dir ${stateDir} is in use by another agent (${by}); stop that agent or use another --state-dir for this one`,
  )
}

function refuseLiveOwner(path: string, stateDir: string): void {
  const owner = Owner.safeParse(parseJson(readFileSync(path, 'utf8')))
  if (!owner.success || !isAlive(owner.data)) return
  throw inUse(stateDir, `process ${owner.data.pid}`)
}
