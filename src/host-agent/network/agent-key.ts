import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { readIrreplaceableFile, writeJsonFile } from '../../node/json-file.ts'
import { agentKey } from './names.ts'

const ADVICE = `it holds the name of this agent's networks in the container engine. Running containers stay in these networks. Restore the file, or \
remove it: the agent then creates networks with another name, and you must remove the previous ones by hand (docker network ls)`

/**
 * Loads the key of the agent with this state directory, or creates it. The names of the agent's objects contain it, because agents may
 * share an engine.
 */
export function loadAgentKey(stateDir: string): string {
  const path = join(stateDir, 'network.json')
  const known = readIrreplaceableFile(path, z.object({ id: z.string().min(1) }), ADVICE)
  const id = known?.id ?? randomUUID()
  if (known === undefined) writeJsonFile(path, { id })
  return agentKey(id)
}
