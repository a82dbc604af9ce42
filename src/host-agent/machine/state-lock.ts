import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { errorText, hasCode, OperatorError } from '../../node/fail.ts'
import { identifyProcess, isAlive } from '../../node/process-identity.ts'

const Owner = z.object({ pid: z.number().int(), startTime: z.string() })

/**
 * Takes the state directory for this process, or throws naming the agent that has it. Two agents on one directory would
 * answer for the same host and stop each other's workloads. A lock whose owner is dead is taken over.
 */
export function lockStateDir(stateDir: string): () => void {
  const path = join(stateDir, 'agent.lock')
  const own = JSON.stringify(identifyProcess(process.pid) ?? { pid: process.pid, startTime: 'unknown' })
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      writeFileSync(path, own, { flag: 'wx', mode: 0o600 })
      return () => unlinkSync(path)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw new OperatorError(`--state-dir ${stateDir} cannot be used: ${errorText(error)}`)
      refuseLiveOwner(path, stateDir)
      unlinkSync(path)
    }
  }
  throw new OperatorError(`--state-dir ${stateDir} was locked by another agent just now; start this one again`)
}

function refuseLiveOwner(path: string, stateDir: string): void {
  const owner = Owner.safeParse(parse(readFileSync(path, 'utf8')))
  if (!owner.success || !isAlive(owner.data)) return
  throw new OperatorError(
    `--state-dir ${stateDir} is in use by another agent (process ${owner.data.pid}); stop that one or give this one its own --state-dir`,
  )
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
