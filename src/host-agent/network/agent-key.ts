import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { readJsonFile, writeJsonFile } from '../../node/json-file.ts'
import { agentKey } from './names.ts'

/** The key of the agent whose state lies here: what its things are called in an engine that others may use too. */
export function loadAgentKey(stateDir: string): string {
  const path = join(stateDir, 'network.json')
  const known = z.object({ id: z.string().min(1) }).safeParse(readJsonFile(path)).data
  const id = known?.id ?? randomUUID()
  if (known === undefined) writeJsonFile(path, { id })
  return agentKey(id)
}
